/** What `start` and `end` records say. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Ending } from '../lib/trace/lifecycle/exit';
import { endFields, startFields } from '../lib/trace/lifecycle/header';
import type { ResolvedOptions } from '../lib/trace/options';

describe('header', () => {
  const counts = { init: 1, before: 2, after: 2, destroy: 0, resolve: 0 };
  const stats = { events: counts, bytes: 9, lost: 4, live: 1 };

  function endOf(ending: Ending | undefined): Record<string, unknown> {
    return JSON.parse(`{${endFields(ending, stats)}}`);
  }

  it('an end by close has neither exit code nor error', () => {
    const { active: _, ...end } = endOf(undefined);
    assert.deepEqual(end, { phase: 'end', counts, lost: 4, live: 1, reason: 'close' });
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

  it('an end counts what keeps the process alive by type, and not what is unref’d', () => {
    const before = (endOf(undefined)['active'] ?? {}) as Record<string, number>;
    const timers = [setTimeout(() => {}, 60_000), setTimeout(() => {}, 60_000), setTimeout(() => {}, 60_000)];
    timers[2].unref();
    const { active } = endOf(undefined) as { active: Record<string, number> };
    timers.forEach(clearTimeout);
    assert.equal(active['Timeout'] - (before['Timeout'] ?? 0), 2);
    const { Timeout: _, ...others } = active;
    const { Timeout: __, ...othersBefore } = before;
    assert.deepEqual(others, othersBefore);
  });

  it('no toJSON of the program is asked', () => {
    const proto = Object.prototype as { toJSON?: unknown };
    Object.defineProperty(proto, 'toJSON', { value: () => 'hijacked', configurable: true });
    try {
      assert.match(
        endFields(undefined, stats),
        /^"phase":"end","counts":\{"init":1,"before":2,"after":2,"destroy":0,"resolve":0\},"lost":4,"live":1,"reason":"close","active":\{[^{}]*\}$/,
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
