/** Random lives of a tracer beside a plain listener: whatever comes, both have seen the same. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { compare } from '../conformance/compare';
import { trace } from '../conformance/harness';

const RUNS = Number(process.env['INTEGRITY_FUZZ'] ?? 12);
/** Several steps of each run are real work, or most lives would be over before there is anything to see. */
const STEPS = [
  ...[
    'enable',
    'disable',
    'flush',
    'flushSync',
    'reopen',
    'close',
    'throws',
    'throwsInside',
    'hook',
    'unhook',
  ],
  ...['storage', 'unstore', 'gc', 'timers', 'promises', 'resource', 'run', 'destroy', 'files'],
  ...['enable', 'timers', 'promises', 'resource', 'run', 'destroy', 'files'],
];

async function check(
  steps: string[],
  options: { promiseDestroy?: boolean; promises?: boolean },
  destroy = true,
): Promise<void> {
  process.env['FUZZ'] = JSON.stringify(steps);
  const runs = await trace('../integrity/fuzz.js', { options: { append: true, ...options }, destroy });
  for (const { watched, logs } of runs) {
    for (const log of logs) assert.deepEqual(compare(watched, log, { ...options, destroy }), []);
  }
}

describe('fuzz', () => {
  const lives = fc.array(fc.constantFrom(...STEPS), { minLength: 10, maxLength: 60 });

  for (const options of [{}, { promiseDestroy: false }, { promises: false }]) {
    const text = JSON.stringify(options);
    it(`${RUNS} random lives: the log equals what a plain listener sees, with ${text}`, async () => {
      await fc.assert(
        fc.asyncProperty(lives, (steps) => check(steps, options)),
        { numRuns: RUNS, endOnFailure: true },
      );
    });
  }

  it('with promiseDestroy: false and a listener without destroys', async () => {
    await fc.assert(
      fc.asyncProperty(lives, (steps) => check(steps, { promiseDestroy: false }, false)),
      { numRuns: RUNS, endOnFailure: true },
    );
  });
});
