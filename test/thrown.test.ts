/** What is said of a thrown value, whatever it is and without running any of it. */
import assert from 'node:assert/strict';
import Module from 'node:module';
import { describe, it } from 'node:test';
import { runInNewContext } from 'node:vm';
import type * as Thrown from '../lib/trace/lifecycle/error-summary';
import { summaryOf } from '../lib/trace/lifecycle/error-summary';
import { loadAnew } from './support/modules';

function trap(): never {
  throw new Error('trapped');
}

const TRAPS: ProxyHandler<object> = {
  get: trap,
  has: trap,
  ownKeys: trap,
  getPrototypeOf: trap,
  getOwnPropertyDescriptor: trap,
};

function revoked(target: object): object {
  const { proxy, revoke } = Proxy.revocable(target, {});
  revoke();
  return proxy;
}

describe('what was thrown', () => {
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

  it('a frame is told whole where a process without descriptors cannot load what reads it', (context) => {
    const { summaryOf } = loadAnew<typeof Thrown>('trace/lifecycle/error-summary', 'trace/stack/stack-text');
    context.mock.method(Module as unknown as { _load: () => unknown }, '_load', () => {
      throw new Error('EMFILE');
    });
    const error = { name: 'Error', message: '', stack: 'Error\n    at read (/app/read.js:3:7)' };
    assert.deepEqual(summaryOf(error).stack, ['read (/app/read.js%3A3%3A7):<anonymous>:0:0']);
  });

  it('an error of another realm is told in the same way', () => {
    const { stack, ...rest } = summaryOf(runInNewContext('new RangeError("far")', {}, 'far.js'));
    assert.deepEqual(rest, { name: 'RangeError', message: 'far' });
    assert.equal(stack[0], '<anonymous>:far.js:1:1');
  });

  it('what Node aborts with is told, though its fields are getters', () => {
    const { name, message } = summaryOf(AbortSignal.abort().reason);
    assert.deepEqual({ name, message }, { name: 'AbortError', message: 'This operation was aborted' });
  });

  it('an error of a class is told by the name that the class gives it, or by that of the class', () => {
    class Named extends Error {
      override name = 'ENamed';
    }
    assert.equal(summaryOf(new Named()).name, 'ENamed');
    class Failure {}
    assert.equal(summaryOf(new Failure()).name, 'Failure');
  });

  it('fields that are no strings are left out', () => {
    const thrown = { name: 1, message: null, code: 42, stack: {} };
    assert.deepEqual(summaryOf(thrown), { name: 'Object', message: '', stack: [] });
  });

  it('no getter is run', () => {
    const thrown = Object.defineProperties(
      { name: 'Odd' },
      { message: { get: trap }, code: { get: trap }, stack: { get: trap } },
    );
    assert.deepEqual(summaryOf(thrown), { name: 'Odd', message: '', stack: [] });
  });

  it('an error whose getters stand before its own fields is told by what is left', () => {
    const error = Object.defineProperty(new Error('hidden'), 'message', { get: trap });
    const { name, message } = summaryOf(error);
    assert.deepEqual({ name, message }, { name: 'Error', message: '' });
  });

  it('a stack that is not text yet is not made one where that would run something', () => {
    let asked = 0;
    const ask = (): string => {
      asked++;
      return 'asked';
    };
    class WithGetter extends Error {
      override get message(): string {
        return ask();
      }
    }
    const withObject = Object.assign(new Error('first'), { name: { toString: ask } });
    for (const error of [new WithGetter(), withObject]) {
      // What V8 does at the construction is the program's own affair.
      asked = 0;
      assert.deepEqual(summaryOf(error).stack, []);
      assert.equal(asked, 0);
    }
  });

  it('a prepareStackTrace that throws costs the frames', () => {
    const { prepareStackTrace } = Error;
    Error.prepareStackTrace = trap;
    try {
      assert.deepEqual(summaryOf(new Error('unformatted')), {
        name: 'Error',
        message: 'unformatted',
        stack: [],
      });
    } finally {
      Error.prepareStackTrace = prepareStackTrace;
    }
  });

  const odd: [title: string, thrown: unknown, name: string, message: string][] = [
    ['a Proxy', new Proxy({}, TRAPS), 'Proxy', ''],
    ['a Proxy of a function', new Proxy(trap, TRAPS as ProxyHandler<typeof trap>), 'function', '[Function]'],
    ['a revoked Proxy', revoked({}), 'Proxy', ''],
    ['a revoked Proxy of a function', revoked(trap), 'function', '[Function]'],
    ['an object with a Proxy for a prototype', Object.create(new Proxy({}, TRAPS)), 'Object', ''],
    [
      'an object without a prototype',
      Object.assign(Object.create(null), { message: 'bare' }),
      'Object',
      'bare',
    ],
    ['a function', function named() {}, 'function', '[Function: named]'],
    [
      'a function whose toString throws',
      Object.assign(() => {}, { toString: trap }),
      'function',
      '[Function]',
    ],
    ['an object whose toString throws', { toString: trap, [Symbol.toPrimitive]: trap }, 'Object', ''],
    ['a string', 'text', 'string', 'text'],
    ['a number', 42, 'number', '42'],
    ['a bigint', 10n, 'bigint', '10'],
    ['a bigint of a million digits', 10n ** 1_000_000n, 'bigint', '[more than 300 digits]'],
    ['false', false, 'boolean', 'false'],
    ['undefined', undefined, 'undefined', 'undefined'],
    ['null', null, 'object', 'null'],
    ['a symbol', Symbol('s'), 'symbol', 'Symbol(s)'],
  ];
  for (const [title, thrown, name, message] of odd) {
    it(`${title} is told as ${name} ${message}`, () => {
      assert.deepEqual(summaryOf(thrown), { name, message, stack: [] });
    });
  }

  it('texts are cut after 4,096 characters', () => {
    assert.equal(summaryOf(new Error('m'.repeat(5000))).message, 'm'.repeat(4096));
    assert.equal(summaryOf('t'.repeat(5000)).message, 't'.repeat(4096));
    const error = Object.assign(new Error(), { name: 'n'.repeat(5000), code: 'c'.repeat(5000) });
    const { name, code } = summaryOf(error);
    assert.deepEqual([name, code], ['n'.repeat(4096), 'c'.repeat(4096)]);
  });

  it('a long message does not cost the frames, and none of its lines is taken for one', () => {
    const message = `${'m'.repeat(10_000)}\n    at nowhere (/none.js:1:1)\n`;
    const [first] = summaryOf(new Error(message)).stack;
    assert.match(first, /thrown\.test\.js:\d+:\d+$/);
  });

  it('frames are told until they fill 8 KiB, each of them cut after 1,024 characters', () => {
    const error = new Error('deep');
    error.stack = `Error: deep${`\n    at f (/${'d'.repeat(2000)}.js:1:1)`.repeat(100)}`;
    const { stack } = summaryOf(error);
    assert.equal(stack.length, 8);
    assert.ok(stack.every((frame) => frame.length <= 1100));
  });
});
