/** What `start` and `end` records say. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Ending } from '../lib/trace/exit';
import { endFields, startFields } from '../lib/trace/header';
import type { ResolvedOptions } from '../lib/trace/options';

describe('header', () => {
  const counts = { init: 1, before: 2, after: 2, destroy: 0, resolve: 0 };
  const stats = { events: counts, bytes: 9, lost: 4, live: 1 };

  function endOf(ending: Ending | undefined): Record<string, unknown> {
    return JSON.parse(`{${endFields(ending, stats)}}`);
  }

  function summaryOf(thrown: unknown): unknown {
    return endOf({ exitcode: 1, error: { thrown } })['error'];
  }

  it('an end by close has neither exit code nor error', () => {
    assert.deepEqual(endOf(undefined), { phase: 'end', counts, lost: 4, live: 1, reason: 'close' });
  });

  it('an end by exit has the exit code', () => {
    const { reason, exitcode, error } = endOf({ exitcode: 5, error: undefined });
    assert.deepEqual([reason, exitcode, error], ['exit', 5, undefined]);
  });

  it('an end by an error whose exit code does not stand yet leaves it out', () => {
    const end = endOf({ exitcode: undefined, error: { thrown: 'x' } });
    assert.equal(end['reason'], 'error');
    assert.ok(!('exitcode' in end));
  });

  it('an error is told by name, message, code and stack', () => {
    const error = Object.assign(new TypeError('no "such" file'), { code: 'ENOENT' });
    error.stack = 'TypeError: no "such" file\n    at read (/app/read.js:3:7)\n    at /app/main.js:1:1';
    assert.deepEqual(summaryOf(error), {
      name: 'TypeError',
      message: 'no "such" file',
      code: 'ENOENT',
      stack: ['read:/app/read.js:3:7', '<anonymous>:/app/main.js:1:1'],
    });
  });

  it('an error whose fields are no strings is told without them', () => {
    const error = { name: 1, message: null, code: 42, stack: {} };
    assert.deepEqual(summaryOf(error), { name: 'Error', message: '', stack: [] });
  });

  it('an error whose getters throw is told by what can be read', () => {
    const error = {
      name: 'Odd',
      get message(): string {
        throw new Error('not this');
      },
      get stack(): string {
        throw new Error('nor this');
      },
    };
    assert.deepEqual(summaryOf(error), { name: 'Odd', message: '', stack: [] });
  });

  it('a Proxy that throws whatever is asked is an Error without a message', () => {
    const trap = () => {
      throw new Error('trapped');
    };
    const proxy = new Proxy({}, { get: trap, has: trap, ownKeys: trap, getPrototypeOf: trap });
    assert.deepEqual(summaryOf(proxy), { name: 'Error', message: '', stack: [] });
  });

  const values: [unknown, string, string][] = [
    ['text', 'string', 'text'],
    [42, 'number', '42'],
    [10n, 'bigint', '10'],
    [false, 'boolean', 'false'],
    [undefined, 'undefined', 'undefined'],
    [null, 'object', 'null'],
    [Symbol('s'), 'symbol', 'Symbol(s)'],
  ];
  for (const [thrown, name, message] of values) {
    it(`${message}, thrown, is told by its type ${name} and its text`, () => {
      assert.deepEqual(summaryOf(thrown), { name, message, stack: [] });
    });
  }

  it('a message is cut after 4,096 characters', () => {
    const { message } = summaryOf(new Error('m'.repeat(5000))) as { message: string };
    assert.equal(message, 'm'.repeat(4096));
    const text = summaryOf('t'.repeat(5000)) as { message: string };
    assert.equal(text.message, 't'.repeat(4096));
  });

  it('no toJSON of the program is asked', () => {
    const proto = Object.prototype as { toJSON?: unknown };
    Object.defineProperty(proto, 'toJSON', { value: () => 'hijacked', configurable: true });
    try {
      assert.equal(
        endFields(undefined, stats),
        '"phase":"end","counts":{"init":1,"before":2,"after":2,"destroy":0,"resolve":0},"lost":4,"live":1,"reason":"close"',
      );
    } finally {
      delete proto.toJSON;
    }
  });

  it('a start tells options that JSON has no word for: all frames as true, patterns as text', () => {
    const options = {
      prefix: '"a":1',
      suffix: '',
      stacks: Number.POSITIVE_INFINITY,
      contexts: { depth: 1, breadth: 2, redact: [/pin/i, 'pan'] },
      include: [/^fs$/],
      exclude: [],
      send: true,
    } as unknown as ResolvedOptions;
    const start = JSON.parse(`{${startFields(options)}}`);
    assert.deepEqual(start.options, {
      send: true,
      stacks: true,
      contexts: { depth: 1, breadth: 2, redact: ['/pin/i', 'pan'] },
      include: ['/^fs$/'],
      exclude: [],
    });
    assert.deepEqual([start.phase, start.pid, start.node], ['start', process.pid, process.version]);
  });

  it('a start without limits says so', () => {
    const options = { stacks: 3, contexts: false, include: undefined, exclude: [/a/] };
    const start = JSON.parse(`{${startFields(options as unknown as ResolvedOptions)}}`);
    assert.deepEqual(start.options, { stacks: 3, contexts: false, include: null, exclude: ['/a/'] });
  });
});
