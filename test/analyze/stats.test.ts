import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { analyzeStats, type StatsOptions } from '../../lib/analyze';
import type { LogSource } from '../../lib/analyze/read/source';
import type { TracerError } from '../../lib/errors';
import { end, event, init, lineOf, run, start, textOf } from './lines';

const stats = (lines: string[], options?: StatsOptions) => analyzeStats(textOf(lines), options);
const rowOf = (report: Awaited<ReturnType<typeof stats>>, op: string | null) =>
  report.ops.find((row) => row.op === op)!;

describe('stats', () => {
  it('counts the wait from init to the first before, and the run from before to after', async () => {
    const report = await stats([
      init(5, 'FSREQCALLBACK', 0),
      init(6, 'FSREQCALLBACK', 10),
      run(5, 'FSREQCALLBACK', 20, 23),
      run(6, 'FSREQCALLBACK', 40, 41),
      run(6, 'FSREQCALLBACK', 50, 55),
      event('destroy', 5, 'FSREQCALLBACK', 100),
    ]);
    assert.deepEqual(rowOf(report, 'FSREQCALLBACK'), {
      op: 'FSREQCALLBACK',
      area: 'fs',
      kind: 'request',
      site: null,
      inherited: false,
      count: 2,
      live: 1,
      wait: { count: 2, total: 50, p50: 20.224, p95: 29.952, p99: 29.952, max: 30 },
      run: { count: 3, total: 9, p50: 2.976, p95: 5, p99: 5, max: 5, share: 0.09 },
    });
    assert.equal(report.log.elapsed, 100);
    assert.deepEqual(report.areas, [
      { area: 'fs', count: 2, live: 1, run: { count: 3, total: 9, share: 0.09 } },
    ]);
    assert.deepEqual(report.findings, []);
  });

  it('has one row for all operations that it names alike, whatever Node.js did between the line and the operation', async () => {
    const own = 'sign:/app/a.js:3:5';
    const report = await stats([
      init(5, 'PROMISE', 0, { stack: [own] }),
      init(6, 'PROMISE', 0, { stack: ['promisified:node:internal/util:1:1', own] }),
      init(7, 'PROMISE', 0, { stack: ['other:/app/a.js:3:6'] }),
      init(8, 'FILEHANDLE', 0, { stack: ['openHandle:node:internal/fs/promises:1:1'] }),
      init(9, 'FILEHANDLE', 0),
      init(10, 'FILEHANDLE', 0, { parentopid: 5, stack: ['openHandle:node:internal/fs/promises:1:1'] }),
      run(5, 'PROMISE', 10, 11),
      run(6, 'PROMISE', 20, 22),
    ]);
    assert.deepEqual(
      report.ops.map(({ op, count, site, inherited, run: { count: ran, total } }) => [
        op,
        count,
        site?.column ?? null,
        inherited,
        ran,
        total,
      ]),
      [
        ['PROMISE', 2, 5, false, 2, 3],
        ['FILEHANDLE', 2, null, false, 0, 0],
        ['PROMISE', 1, 6, false, 0, 0],
        ['FILEHANDLE', 1, 5, true, 0, 0],
      ],
    );
  });

  it('takes shares of the time that was traced, where a window of time began after the header', async () => {
    const window = (autostart: boolean) => [
      start(0, { options: { autostart } }),
      run(5, undefined, 1000, 1400),
      end(1500, { counts: { init: 0, before: 1, after: 1, destroy: 0, resolve: 0 } }),
    ];
    const later = await stats(window(false));
    assert.deepEqual([later.log.elapsed, later.loop.share, later.ops[0].run.share], [500, 0.8, 0.8]);
    assert.equal((await stats(window(true))).log.elapsed, 1500);
    const [header] = window(false);
    const unopened = await stats([header]);
    assert.deepEqual(
      [unopened.log.elapsed, unopened.log.from, unopened.log.runs[0].from],
      [0, JSON.parse(header).time, JSON.parse(header).time],
    );
  });

  it('takes nested runs out of the run they are nested in, at any depth', async () => {
    const report = await stats([
      init(5, 'TCP', 0),
      init(6, 'HTTPINCOMINGMESSAGE', 0),
      init(7, 'mine', 0),
      event('before', 5, 'TCP', 10),
      event('before', 6, 'HTTPINCOMINGMESSAGE', 12),
      event('before', 7, 'mine', 13),
      event('after', 7, 'mine', 18),
      event('after', 6, 'HTTPINCOMINGMESSAGE', 20),
      event('before', 7, 'mine', 21),
      event('after', 7, 'mine', 22),
      event('after', 5, 'TCP', 30),
    ]);
    const total = (op: string) => rowOf(report, op).run.total;
    assert.deepEqual([total('TCP'), total('HTTPINCOMINGMESSAGE'), total('mine')], [11, 3, 6]);
    assert.equal(report.loop.busy, 20);
    assert.deepEqual(
      [
        report.loop.longest!.op,
        report.loop.longest!.duration,
        report.loop.longest!.self,
        report.loop.longest!.inside,
      ],
      ['TCP', 20, 11, null],
    );
  });

  it('pairs before and after by id: an operation that runs inside itself, or whose inner after is missing', async () => {
    const nested = await stats([
      init(5, 'mine', 0),
      event('before', 5, 'mine', 1),
      event('before', 5, 'mine', 2),
      event('after', 5, 'mine', 4),
      event('after', 5, 'mine', 10),
    ]);
    assert.deepEqual([rowOf(nested, 'mine').run.count, rowOf(nested, 'mine').run.total], [2, 9]);
    const missing = await stats([
      init(5, 'TCP', 0),
      init(6, 'TickObject', 0),
      event('before', 5, 'TCP', 1),
      event('before', 6, 'TickObject', 2),
      event('after', 5, 'TCP', 10),
      event('after', 6, 'TickObject', 12),
    ]);
    assert.deepEqual([rowOf(missing, 'TCP').run.total, rowOf(missing, 'TickObject').run.count], [9, 0]);
    assert.equal(missing.log.unpaired, 2);
  });

  it('bears doubled destroys, triggers of any id, unseen inits, a lone after, and runs after the destroy', async () => {
    const report = await stats([
      event('after', 1, undefined, 0),
      run(2, undefined, 1, 2),
      init(5, 'Timeout', 3, { parentopid: 5 }),
      init(6, 'Timeout', 3, { parentopid: 99, execopid: 6 }),
      event('destroy', 5, 'Timeout', 4),
      event('destroy', 5, undefined, 4),
      run(5, undefined, 5, 7),
    ]);
    assert.deepEqual([report.log.withoutInit, report.log.unpaired], [6, 1]);
    assert.deepEqual([rowOf(report, 'Timeout').count, rowOf(report, 'Timeout').live], [2, 1]);
    assert.deepEqual([rowOf(report, null).count, rowOf(report, null).run.total], [0, 3]);
    assert.equal(report.log.runCount, 1);
  });

  it('separates ids above 2^32 that are alike in their low bits', async () => {
    const [a, b] = [7, 2 ** 32 + 7];
    const report = await stats([
      init(a, 'TCP', 0),
      init(b, 'Timeout', 1),
      run(b, 'Timeout', 5, 6),
      event('destroy', b, 'Timeout', 7),
    ]);
    assert.deepEqual([rowOf(report, 'TCP').live, rowOf(report, 'TCP').run.count], [1, 0]);
    assert.deepEqual([rowOf(report, 'Timeout').live, rowOf(report, 'Timeout').wait.max], [0, 4]);
  });

  it('groups by call site, and puts what no user frame started under the site that triggered it', async () => {
    const listen = { stack: ['listen:node:net:1:1', 'serve:/app/server.js:12:5'] };
    const report = await stats([
      init(5, 'TCPSERVER', 0, listen),
      init(6, 'TCP', 1, { parentopid: 5, execopid: 0, stack: [] }),
      init(7, 'HTTPINCOMINGMESSAGE', 1, {
        parentopid: 6,
        execopid: 0,
        stack: ['onconnection:node:_http_server:1:1'],
      }),
      init(8, 'TCPSERVER', 2, { stack: ['listen:node:net:1:1', 'other:/app/other.js:1:1'] }),
    ]);
    assert.deepEqual(
      report.ops.map(({ op, site, inherited }) => [op, site && `${site.file}:${site.line}`, inherited]),
      [
        ['TCPSERVER', '/app/server.js:12', false],
        ['TCP', '/app/server.js:12', true],
        ['HTTPINCOMINGMESSAGE', '/app/server.js:12', true],
        ['TCPSERVER', '/app/other.js:1', false],
      ],
    );
  });

  it('separates runs in one file by their start records, and continues one whose anchor it knows', async () => {
    const report = await stats([
      start(0, { pid: 1 }),
      init(5, 'TCP', 0),
      start(100, { pid: 2 }),
      init(5, 'Timeout', 100),
      run(5, 'Timeout', 105, 106),
      end(110, { counts: { init: 1, before: 1, after: 1, destroy: 0, resolve: 0 }, exitcode: 3 }),
      start(0, { pid: 1 }),
      run(5, 'TCP', 150, 151),
      end(200),
    ]);
    assert.deepEqual([rowOf(report, 'TCP').wait.max, rowOf(report, 'Timeout').wait.max], [150, 5]);
    assert.deepEqual(
      report.log.runs.map(({ pid, elapsed, records, end, exitcode, complete }) => [
        pid,
        elapsed,
        records,
        end,
        exitcode,
        complete,
      ]),
      [
        [1, 200, 3, 'exit', 0, false],
        [2, 10, 3, 'exit', 3, true],
      ],
    );
    assert.equal(report.log.elapsed, 210);
  });

  it('separates runs without a start record by ids that begin anew, however few they are', async () => {
    const one = (atMs: number) => [
      init(5, 'TCP', atMs),
      init(9, 'Timeout', atMs),
      run(9, 'Timeout', atMs + 2, atMs + 3),
    ];
    const report = await stats([...one(0), ...one(1000), ...one(500)]);
    assert.equal(report.log.runCount, 3);
    assert.deepEqual(
      [rowOf(report, 'TCP').live, rowOf(report, 'Timeout').wait.count, rowOf(report, 'Timeout').wait.max],
      [3, 3, 2],
    );
    const below = await stats([
      ...Array.from({ length: 20 }, (_, i) => init(100 + i, 'TCP', i)),
      init(95, 'TCP', 30),
    ]);
    assert.equal(below.log.runCount, 2);
    const far = await stats([init(500, 'TCP', 0), init(900, 'TCP', 0), init(501, 'TCP', 10)]);
    assert.equal(far.log.runCount, 2);
  });

  it('takes an init that comes a little late for what it is', async () => {
    const report = await stats([
      init(5, 'TCP', 0),
      init(7, 'TCP', 0),
      init(6, 'Timeout', 1),
      run(6, 'Timeout', 3, 4),
    ]);
    assert.deepEqual([report.log.runCount, rowOf(report, 'Timeout').wait.max], [1, 2]);
  });

  it('reads files whose times go backwards, and never gives a negative duration', async () => {
    const report = await stats([init(5, 'Timeout', 100), run(5, 'Timeout', 50, 40)]);
    assert.deepEqual([rowOf(report, 'Timeout').wait.max, rowOf(report, 'Timeout').run.total], [0, 0]);
    assert.equal(report.log.elapsed, 60);
  });

  it('does not trust open callbacks across lost records', async () => {
    const lost = JSON.stringify({ phase: 'lost', count: 40, time: 1764486000010 });
    const report = await stats([
      init(5, 'TCP', 0),
      event('before', 5, 'TCP', 1),
      lost,
      event('after', 5, 'TCP', 900),
    ]);
    assert.deepEqual([rowOf(report, 'TCP').run.count, report.log.lost, report.log.unpaired], [0, 40, 2]);
    assert.deepEqual(
      report.findings.map(({ code }) => code),
      ['records-lost'],
    );
  });

  it('says nothing of live promises where the log has no destroys of any', async () => {
    const promises = [init(5, 'PROMISE', 0), init(6, 'PROMISE', 0)];
    assert.equal(rowOf(await stats(promises), 'PROMISE').live, null);
    assert.equal(rowOf(await stats([...promises, event('destroy', 5, 'PROMISE', 1)]), 'PROMISE').live, 1);
    const options = { promiseDestroy: true };
    assert.equal(rowOf(await stats([start(0, { options }), ...promises]), 'PROMISE').live, 2);
  });

  it('is empty for an empty log', async () => {
    const report = await stats([]);
    assert.deepEqual(
      [report.ops, report.areas, report.log.runs, report.log.from, report.loop.longest],
      [[], [], [], null, null],
    );
    assert.deepEqual(JSON.parse(JSON.stringify(report)), report);
  });

  it('gives a report that survives JSON', async () => {
    const report = await stats([
      start(0),
      init(5, 'TCP', 0),
      run(5, 'TCP', 1, 2),
      lineOf({ opid: 9, phase: 'before', us: 1764486000000005 }),
    ]);
    assert.deepEqual(JSON.parse(JSON.stringify(report)), report);
  });

  it('refuses a threshold that is no number above 0', async () => {
    for (const [name, value] of [
      ['heldMs', 0],
      ['starvedMs', -1],
      ['fanOut', Number.NaN],
      ['growth', '5'],
    ] as const) {
      await assert.rejects(analyzeStats(textOf([]) as LogSource, { [name]: value }), (error: TracerError) => {
        assert.equal(error.code, 'ERR_ASYNC_TRACER_OPTION');
        assert.match(error.message, new RegExp(`^${name} is ${value}; expected`));
        return true;
      });
    }
  });
});
