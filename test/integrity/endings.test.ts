/** However a program ends: it ends as it does bare, and the log holds all, or is plainly cut. */
import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { describe, it } from 'node:test';
import type { EndRecord } from '../../lib/log/event';
import { assertSame, assertWhole, runBare, runTraced } from './program';

const PROGRAM = 'endings.js';

/** Every ending in which JavaScript still runs at the end, and what `end` says of it. */
const WHOLE: Record<string, Pick<EndRecord, 'reason'> & { exitcode?: number }> = {
  natural: { reason: 'exit', exitcode: 0 },
  'exit-first-tick': { reason: 'exit', exitcode: 3 },
  'exit-in-timer': { reason: 'exit', exitcode: 4 },
  'exit-in-promise': { reason: 'exit', exitcode: 5 },
  'exit-in-exit-listener': { reason: 'exit', exitcode: 6 },
  'exit-code-in-exit-listener': { reason: 'exit', exitcode: 7 },
  'exit-code-in-last-exit-listener': { reason: 'exit', exitcode: 17 },
  'exit-code-in-exit-listener-after-exit': { reason: 'exit', exitcode: 18 },
  'work-in-exit-listener': { reason: 'exit', exitcode: 0 },
  'throw-in-exit-listener': { reason: 'error' },
  'throw-in-earlier-exit-listener': { reason: 'error' },
  'exit-in-a-hook': { reason: 'exit', exitcode: 8 },
  'exit-emitted-by-hand': { reason: 'exit', exitcode: 0 },
  'exit-emitted-by-hand-and-exit': { reason: 'exit', exitcode: 0 },
  'before-exit': { reason: 'exit', exitcode: 0 },
  throw: { reason: 'error', exitcode: 1 },
  'throw-and-exit-code-in-exit-listener': { reason: 'error', exitcode: 5 },
  'throw-at-once': { reason: 'error', exitcode: 1 },
  'throw-nothing': { reason: 'error', exitcode: 1 },
  'throw-a-trap': { reason: 'error', exitcode: 1 },
  'throw-a-function': { reason: 'error', exitcode: 1 },
  'throw-a-function-with-toString': { reason: 'error', exitcode: 1 },
  'throw-a-proxy-of-a-function': { reason: 'error', exitcode: 1 },
  'throw-a-revoked-proxy': { reason: 'error', exitcode: 1 },
  'throw-a-symbol': { reason: 'error', exitcode: 1 },
  'throw-without-prototype': { reason: 'error', exitcode: 1 },
  'throw-endless-getters': { reason: 'error', exitcode: 9 },
  'throw-endless-traps': { reason: 'error', exitcode: 9 },
  'throw-much-text': { reason: 'error', exitcode: 9 },
  'throw-a-long-number': { reason: 'error', exitcode: 9 },
  'throw-with-prepareStackTrace-that-throws': { reason: 'error', exitcode: 9 },
  'reject-aborted': { reason: 'error', exitcode: 1 },
  'throw-handled': { reason: 'exit', exitcode: 0 },
  'throw-handled-with-exit': { reason: 'error', exitcode: 9 },
  'throw-captured': { reason: 'exit', exitcode: 0 },
  reject: { reason: 'error', exitcode: 1 },
  'reject-handled': { reason: 'exit', exitcode: 0 },
  'SIGTERM-handled': { reason: 'exit', exitcode: 12 },
  'SIGINT-handled': { reason: 'exit', exitcode: 13 },
  'SIGHUP-handled': { reason: 'exit', exitcode: 0 },
};

/** Endings at which no JavaScript runs any more. */
const CUT = ['abort', 'kill', 'kill-SIGTERM', 'reallyExit', 'handler-throws', 'SIGTERM', 'SIGINT', 'SIGHUP'];

/** Sends the signal that the ending is named after, when the program is ready for it. */
function signal(ending: string): ((child: ChildProcess) => void) | undefined {
  const [name] = ending.split('-');
  if (!name.startsWith('SIG')) return undefined;
  return (child) => {
    child.stdout?.on('data', (text: string) => {
      if (text.includes('ready')) child.kill(name as NodeJS.Signals);
    });
  };
}

describe('endings', { concurrency: 2 }, () => {
  for (const [ending, expected] of Object.entries(WHOLE)) {
    it(`${ending}: ends as bare, and the log is whole`, async () => {
      const run = { args: [ending], drive: signal(ending) };
      const [bare, traced] = [await runBare(PROGRAM, run), await runTraced(PROGRAM, run)];
      assertSame(traced, bare);
      const end = assertWhole(traced.records);
      assert.deepEqual({ reason: end.reason, exitcode: end.exitcode }, { exitcode: undefined, ...expected });
    });
  }

  for (const ending of CUT) {
    it(`${ending}: ends as bare, and the log has whole lines and no end`, async () => {
      const run = { args: [ending], drive: signal(ending) };
      const [bare, traced] = [await runBare(PROGRAM, run), await runTraced(PROGRAM, run)];
      // Node prints addresses of its machine code when it aborts.
      const stderr = ending === 'abort' ? '' : undefined;
      assertSame({ ...traced, stderr: stderr ?? traced.stderr }, { ...bare, stderr: stderr ?? bare.stderr });
      assert.equal(traced.records[0].phase, 'start');
      assert.equal(traced.records.filter(({ phase }) => phase === 'end').length, 0);
    });
  }

  it('SIGTERM without a handler costs nothing that is older than flushInterval', async () => {
    const run = { args: ['SIGTERM-after-flushes'] };
    const traced = await runTraced(PROGRAM, run, { options: { flushInterval: 5 } });
    assert.equal(traced.signal, 'SIGTERM');
    const timers = traced.records.filter((record) => record.phase === 'init' && record.op === 'Timeout');
    assert.equal(timers.length, 100);
  });

  it('the end record tells the error with its frames', async () => {
    const { records } = await runTraced(PROGRAM, { args: ['throw'] });
    const { error } = assertWhole(records);
    assert.deepEqual(
      { name: error?.name, message: error?.message, code: error?.code },
      { name: 'TypeError', message: 'not caught', code: 'E_NOT_CAUGHT' },
    );
    assert.match(error?.stack[0] as string, /^[^:]*:.*endings\.js:\d+:\d+$/);
  });

  it('a main module that is never done ends as bare, with 13, and the log says so', async () => {
    const [bare, traced] = [await runBare('unsettled.mjs'), await runTraced('unsettled.mjs')];
    assert.equal(bare.code, 13);
    assertSame(traced, bare);
    const { reason, exitcode } = assertWhole(traced.records);
    assert.deepEqual({ reason, exitcode }, { reason: 'exit', exitcode: 13 });
  });

  it('the end record tells what Node aborts with, whose fields are getters', async () => {
    const { records } = await runTraced(PROGRAM, { args: ['reject-aborted'] });
    const { error } = assertWhole(records);
    assert.deepEqual([error?.name, error?.message], ['AbortError', 'This operation was aborted']);
  });

  it('process.exit at the edge of the stack: ends as bare, and the log has whole lines', async () => {
    // Not counted for the coverage: that makes each frame larger.
    const run = { args: ['exit-at-the-edge-of-the-stack'], covered: false };
    const [bare, traced] = [await runBare(PROGRAM, run), await runTraced(PROGRAM, run)];
    assertSame(traced, bare);
    assert.equal(traced.records[0].phase, 'start');
  });

  it('the end record tells what was thrown where it is no error', async () => {
    const { records } = await runTraced(PROGRAM, { args: ['throw-nothing'] });
    assert.deepEqual(assertWhole(records).error, { name: 'undefined', message: 'undefined', stack: [] });
  });

  it('work of exit listeners stands behind an end, and a further end behind that', async () => {
    const { records } = await runTraced(PROGRAM, { args: ['work-in-exit-listener'] });
    const first = records.findIndex(({ phase }) => phase === 'end');
    const late = records.slice(first).filter((record) => 'op' in record && record.op === 'LATE');
    assert.equal(late.length, 150);
    assert.equal(records.at(-1)?.phase, 'end');
  });

  it('without header there is no record but those of operations', async () => {
    const { records, stats } = await runTraced(
      PROGRAM,
      { args: ['natural'] },
      { options: { header: false } },
    );
    assert.equal(records.filter((record) => !('opid' in record)).length, 0);
    assert.equal(stats?.lost, 0);
    assert.equal(
      records.length,
      Object.values(stats?.events as object).reduce((a, b) => a + b),
    );
  });

  for (const [ending, end] of [
    ['worker-ends', { reason: 'exit', exitcode: 0 }],
    ['worker-exits', { reason: 'exit', exitcode: 14 }],
    ['worker-throws', { reason: 'error', exitcode: 1 }],
  ] as const) {
    it(`${ending}: main thread and worker end as bare, and both logs are whole`, async () => {
      const run = { args: [ending] };
      const [bare, traced] = [await runBare(PROGRAM, run), await runTraced(PROGRAM, run)];
      assertSame(traced, bare);
      assert.equal(traced.logs.size, 2);
      for (const [file, records] of traced.logs) {
        const { reason, exitcode } = assertWhole(records);
        const expected = file.endsWith('-0.ndjson') ? { reason: 'exit', exitcode: 0 } : end;
        assert.deepEqual({ reason, exitcode }, expected);
      }
    });
  }

  it('worker-terminated: ends as bare, its log has whole lines and no end', async () => {
    const run = { args: ['worker-terminated'] };
    const [bare, traced] = [await runBare(PROGRAM, run), await runTraced(PROGRAM, run)];
    assertSame(traced, bare);
    const phases = [...traced.logs.values()].map((records) => records.at(-1)?.phase);
    assert.equal(phases.filter((phase) => phase === 'end').length, 1);
  });
});
