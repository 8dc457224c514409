/** Surroundings that a program makes hostile after the tracer has begun: neither notices the other. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { EndRecord } from '../../lib/log/event';
import type { TracerOptions } from '../../lib/trace/options';
import type { TracerStats } from '../../lib/trace/tracer/tracer';
import { assertSame, assertWhole, countPhases, runBare, runTraced } from './program';

const PROGRAM = 'hostile.js';
const SCENARIOS = [
  'fake timers',
  'mocked fs',
  'patched Map, Set, WeakMap, RegExp and String',
  'patched Array, typed arrays, Number, Function and Promise',
  'patched Buffer and TextEncoder',
  'patched JSON, Math and Atomics',
  'mocked async_hooks',
  'patched console, process.stdout and process.emitWarning',
  'toJSON on every prototype',
  'polluted Object.prototype',
  'frozen intrinsics',
  'a tampered Error',
  'hooks that toggle themselves inside of hooks',
  'console.log inside of hooks',
  'domains',
  'an error in a domain',
  'a domain that is entered and left in hooks, and throws inside of others',
  'vm contexts',
  'chdir, title and umask',
  'setuid',
  'AsyncLocalStorage that comes and goes',
  'AsyncLocalStorage.snapshot and bind',
  'types of any character',
];

const OPTIONS: TracerOptions[] = [
  {},
  { stacks: 10, contexts: true, promiseDestroy: false, resolve: true },
  { promises: false, clock: 'coarse', exclude: ['NOSUCH*'] },
];

describe('hostile surroundings', { concurrency: 2 }, () => {
  for (const scenario of SCENARIOS) {
    for (const options of OPTIONS) {
      const text = JSON.stringify(options);
      it(`${scenario}, with ${text}: the program does the same, and the log is whole`, async (context) => {
        if (scenario === 'setuid' && process.getuid?.() !== 0) {
          context.skip('needs root');
          return;
        }
        const run = { args: [scenario], covered: false };
        const [bare, traced] = [
          await runBare(PROGRAM, run),
          await runTraced(PROGRAM, run, { options: { header: true, ...options } }),
        ];
        assertSame(traced, bare);
        assertWhole(traced.records);
      });
    }
  }

  it('the edge of the stack: a RangeError stays catchable, and what could not be recorded there is counted', async () => {
    const run = { args: ['the edge of the stack'], covered: false };
    const [bare, traced] = [await runBare(PROGRAM, run), await runTraced(PROGRAM, run)];
    assertSame(traced, bare);
    const end = traced.records.at(-1) as EndRecord;
    const lost = traced.records.reduce(
      (sum, record) => sum + (record.phase === 'lost' ? record.count : 0),
      0,
    );
    assert.deepEqual(countPhases(traced.records), end.counts);
    assert.equal(end.lost, lost);
  });

  it('the edge of the stack, met there first: the program goes on, no init is written twice, and what is lost is counted', async () => {
    const run = { args: ['the edge of the stack, met there first'], covered: false };
    const bare = await runBare(PROGRAM, run);
    // Without header, or the first chunk would have been handed on before.
    const traced = await runTraced(PROGRAM, run, { options: { header: false } });
    assertSame(traced, bare);
    const stats = traced.stats as TracerStats;
    const inits = traced.records.flatMap((record) => (record.phase === 'init' ? [record.opid] : []));
    assert.equal(new Set(inits).size, inits.length);
    const made = Object.values(stats.events).reduce((sum, count) => sum + count, 0);
    const written = Object.values(countPhases(traced.records)).reduce((sum, count) => sum + count, 0);
    assert.equal(made, written + stats.lost);
  });

  it('the edge of the stack, among timers: the program ends as it does without', async () => {
    const run = { args: ['the edge of the stack, among timers'], covered: false };
    const bare = await runBare(PROGRAM, run);
    // Node 20 has a timer too many in its count by then.
    assertSame(await runTraced(PROGRAM, run), bare);
  });

  it('with stacks and contexts the edge of the stack stays catchable, and nothing in the log is torn', async () => {
    const run = { args: ['the edge of the stack'], covered: false };
    const bare = await runBare(PROGRAM, run);
    assertSame(await runTraced(PROGRAM, run, { options: { stacks: 10, contexts: true } }), bare);
  });

  it('node --frozen-intrinsics: the program does the same, and the log is whole', async () => {
    const run = { args: ['vm contexts'], flags: ['--frozen-intrinsics'] };
    const [bare, traced] = [await runBare(PROGRAM, run), await runTraced(PROGRAM, run)];
    assertSame(traced, bare);
    assertWhole(traced.records);
  });
});
