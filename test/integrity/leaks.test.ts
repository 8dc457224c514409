/** Nothing of a tracer grows while it traces, and nothing is left of it once it is closed. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { inFolder, runBare } from './program';

function run(scenario: string): Promise<Record<string, never>> {
  return inFolder(async (folder) => {
    const { code, stdout, stderr } = await runBare('leaks.js', {
      args: [scenario, folder],
      flags: ['--expose-gc', '--expose-internals'],
    });
    assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
    return JSON.parse(stdout);
  });
}

/** 160,000 operations are traced between the two readings. Code that warms up is 0.15 MB, here and with five times as many. */
const GROWTH_MAX = 400_000;

describe('leaks of our own', { concurrency: 2 }, () => {
  for (const options of [
    {},
    { stacks: 10 },
    { contexts: true },
    { promiseDestroy: false },
    { promises: false },
    { clock: 'coarse' },
  ]) {
    const text = JSON.stringify(options);
    it(`the heap stays flat under load with ${text}`, async () => {
      const { grown, events } = await run(`growth ${text}`);
      assert.ok(events > 200_000, `${events} operations`);
      assert.ok(grown < GROWTH_MAX, `grown by ${grown} bytes`);
    });
  }

  for (const options of [
    {},
    { clock: 'coarse' },
    { stacks: 5 },
    { contexts: true },
    { stacks: 5, contexts: true, clock: 'coarse', promiseDestroy: false },
    { promises: false },
  ]) {
    const text = JSON.stringify(options);
    for (const end of ['close', 'dispose']) {
      it(`20 tracers leave no descriptor, listener, handle, hook, thread or realm after ${end}, with ${text}`, async () => {
        const { before, after } = await run(`remains ${JSON.stringify({ ...options, end })}`);
        assert.deepEqual(after, before);
      });
    }

    it(`20 tracers that are disabled leave no hook and no handle, with ${text}`, async () => {
      const { before, after } = await run(`remains ${JSON.stringify({ ...options, end: 'disable' })}`);
      assert.deepEqual(after, before);
    });

    it(`20 tracers are collected when they are closed and dropped, with ${text}`, async () => {
      assert.equal((await run(`collected ${text}`))['collected'], 20);
    });
  }
});
