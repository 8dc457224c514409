/** Destinations that are slow, stop, fail, close or change behind the tracer's back: what is not in the log is counted. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import type { EndRecord, TraceRecord } from '../../lib/log/event';
import type { TracerStats } from '../../lib/trace/tracer/tracer';
import { validateLog } from '../support/validate';
import { countPhases, inFolder, runBare } from './program';

interface Result {
  stats: TracerStats;
  warnings: string[];
  records: TraceRecord[];
  [more: string]: unknown;
}

function run(scenario: string): Promise<Result> {
  return inFolder(async (folder) => {
    const { code, stderr } = await runBare('streams.js', {
      args: [scenario, folder],
      env: { NODE_NO_WARNINGS: '1' },
    });
    assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
    const log = path.join(folder, 'log.ndjson');
    return {
      ...JSON.parse(readFileSync(path.join(folder, 'result.json'), 'utf8')),
      records: existsSync(log) ? validateLog(readFileSync(log, 'utf8')) : [],
    };
  });
}

function total(counts: Record<string, number>): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}

/** Every record that was made is in the log once, and `end` says so. */
function assertComplete({ stats, warnings, records }: Result): void {
  assert.deepEqual(countPhases(records), stats.events);
  assert.equal(stats.lost, 0);
  assert.deepEqual(warnings, []);
  const end = records.at(-1) as EndRecord;
  assert.equal(end.phase, 'end');
  assert.deepEqual(end.counts, stats.events);
}

/** Some are missing: those are counted, by `stats` and one warning. */
function assertCounted({ stats, warnings, records }: Result, warning: RegExp): void {
  assert.ok(stats.lost > 0);
  assert.equal(total(countPhases(records)) + stats.lost, total(stats.events));
  assert.equal(warnings.length, 1);
  assert.match(warnings[0], warning);
}

function lostRecords(records: readonly TraceRecord[]): number {
  return records.reduce((sum, record) => sum + (record.phase === 'lost' ? record.count : 0), 0);
}

describe('destinations under stress', { concurrency: 2 }, () => {
  for (const scenario of [
    'a writable that is slow',
    'a writable that runs callbacks of the program',
    'a writable that closes the tracer',
    'a writable that flushes the tracer',
    'a writable that disables the tracer',
    'a writable that disposes of the tracer',
    'a writable that goes on while tracing is enabled anew',
    'a PassThrough',
    'a file stream, left open at exit',
    'a socket, with an exit in the midst',
    'flushSync in the midst writes nothing twice',
    'a SonicBoom, asynchronous, with an exit',
    'rotation by renaming',
    'rotation by copying and truncating',
    'reopen after chdir',
    'reopen that fails',
    'a descriptor that is closed before reopen',
  ]) {
    it(`${scenario}: every record once, and an end that counts them`, async () => {
      assertComplete(await run(scenario));
    });
  }

  it('a writable that disables the tracer: what its write adds is handed on without a further call', async () => {
    const { stats, counts } = await run('a writable that disables the tracer');
    assert.equal(counts, total(stats.events));
  });

  it('a writable that goes on while tracing is enabled anew: nothing that it does is taken for the program', async () => {
    const { records } = await run('a writable that goes on while tracing is enabled anew');
    const ops = records.flatMap((record) => ('opid' in record ? [record.op ?? 'unknown'] : []));
    assert.deepEqual([...new Set(ops)].sort(), ['LOAD', 'Timeout']);
  });

  it('a writable that stops: memory is bounded by maxBuffer, and all that is lost is counted', async () => {
    const result = await run('a writable that stops, beyond maxBuffer');
    assertCounted(result, /its reader does not keep up, and maxBuffer is reached/);
    assert.ok((result.held as number) <= 256 * 1024);
  });

  it('a writable that catches up: a lost record stands where records were dropped', async () => {
    const result = await run('a writable that catches up, beyond maxBuffer');
    assertCounted(result, /its reader does not keep up/);
    assert.ok((result.held as number) <= 256 * 1024);
    assert.equal(lostRecords(result.records), result.stats.lost);
    assert.equal((result.records.at(-1) as EndRecord).lost, result.stats.lost);
  });

  it('a writable that fails: tracing stops, and what did not arrive is counted', async () => {
    assertCounted(await run('a writable that fails'), /sink failed; tracing has stopped/);
  });

  it('a writable that throws: tracing stops, and what did not arrive is counted', async () => {
    assertCounted(await run('a writable that throws'), /no write here; tracing has stopped/);
  });

  it('a writable that is destroyed: what was not confirmed counts as lost', async () => {
    const { stats, records, warnings } = await run('a writable that is destroyed');
    assert.match(
      warnings.join(),
      /^async-tracer cannot write the log: the stream was [a-z]+; tracing has stopped\.$/,
    );
    assert.ok(total(countPhases(records)) + stats.lost >= total(stats.events));
  });

  it('a writable that the program breaks: its error ends the program, as it does bare', async () => {
    assert.equal((await run('a writable whose error the program caused')).uncaught, 'by the program');
  });

  it('a file stream that is not open yet at exit: what it could not take is counted', async () => {
    const { stats } = await run('a file stream, not yet open at exit');
    assert.equal(stats.lost, total(stats.events));
  });

  it("a file stream's bytesWritten counts what was written past its queue", async () => {
    const { stats, bytesWritten } = await run('a file stream, left open at exit');
    assert.equal(bytesWritten, stats.bytes);
  });

  it('a SonicBoom that drops: what it drops is counted', async () => {
    const result = await run('a SonicBoom that drops');
    assertCounted(result, /its reader does not keep up/);
    assert.equal(lostRecords(result.records), result.stats.lost);
  });

  it('a closed tracer leaves no listener on the stream', async () => {
    assert.deepEqual((await run('a writable that is slow')).listeners, [0, 0, 0]);
  });

  for (const scenario of [
    'a descriptor that is closed and given out again',
    'a descriptor that is closed before close',
    'a descriptor that is closed before reopen',
  ]) {
    it(`${scenario}: nothing of ours gets into the other file, and it stays open`, async () => {
      assert.equal((await run(scenario)).other, 'still open');
    });
  }

  it('a descriptor that is closed behind our back: one warning, and what is lost is counted', async () => {
    const result = await run('a descriptor that is closed and given out again');
    assertCounted(result, /descriptor \d+ was closed and now stands for another file; tracing has stopped/);
  });

  it('rotation leaves no descriptor open', async () => {
    assert.deepEqual((await run('rotation by renaming')).open, []);
  });

  it('a path is the same after the program has gone elsewhere', async () => {
    assert.deepEqual((await run('reopen after chdir')).below, []);
  });

  it('a reopen that fails says so, and the log goes on in the old file', async () => {
    assert.equal((await run('reopen that fails')).code, 'ERR_ASYNC_TRACER_DESTINATION');
  });
});
