/** The figures of the page are those of the answers, from one pass over the log. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { analyzeLeaks, analyzeSlow, analyzeStats, analyzeTree, type TreeNode } from '../../lib/analyze';
import { frameText } from '../../lib/analyze/site/frame';
import { collectReport } from '../../lib/report/collect';
import type { ReportData, TreeRow } from '../../lib/report/data';
import { event, init, run, start } from '../analyze/lines';

const LOG = path.join(__dirname, '../../../test/fixtures/cli/app.ndjson');

async function* stream(text: string): AsyncGenerator<string> {
  yield text;
}

function collect(text: string, heldMs?: number): Promise<ReportData> {
  return collectReport(stream(text), { names: ['log'], folder: '/srv/app', heldMs });
}

describe('the data of the page', () => {
  it('is what stats, slow, leaks and tree answer', async () => {
    const data = await collect(readFileSync(LOG, 'utf8'));
    const [stats, slow, leaks, tree] = await Promise.all([
      analyzeStats(LOG),
      analyzeSlow(LOG, { top: 200 }),
      analyzeLeaks(LOG),
      analyzeTree(LOG),
    ]);
    const groupOf = ({
      op,
      area,
      kind,
      site,
      inherited,
    }: Omit<TreeNode, 'children'> | (typeof stats.ops)[0]) => [
      op,
      area,
      kind,
      site === null ? null : frameText(site).replaceAll('/srv/app/', ''),
      inherited ? 1 : 0,
    ];
    const shown = (group: number) => {
      const [op, area, kind, site, inherited] = data.groups[group];
      return [op, area, kind, site < 0 ? null : data.sites[site], inherited];
    };
    assert.deepEqual(data.log, stats.log);
    assert.deepEqual(data.loop, stats.loop);
    assert.deepEqual(data.areas, stats.areas);
    assert.deepEqual(
      data.ops.map(([group, ...figures]) => [shown(group), ...figures]),
      stats.ops.map((row) => [
        groupOf(row),
        row.count,
        row.live,
        row.wait.count,
        row.wait.p50,
        row.wait.p95,
        row.wait.p99,
        row.wait.max,
        row.run.count,
        row.run.total,
        row.run.p50,
        row.run.p95,
        row.run.p99,
        row.run.max,
        row.run.share,
      ]),
    );
    const rows = (nodes: readonly TreeNode[]): unknown[] =>
      nodes.map((node) => [
        groupOf(node),
        node.opid,
        node.count,
        node.again,
        node.run.total,
        rows(node.children),
      ]);
    const shownRows = (list: readonly TreeRow[]): unknown[] =>
      list.map(([group, opid, count, again, , total, children]) => [
        shown(group),
        opid,
        count,
        again,
        total,
        shownRows(children),
      ]);
    assert.ok(tree.nodes > 5);
    assert.deepEqual(shownRows(data.tree.roots), rows(tree.roots));
    assert.deepEqual(
      data.leaks.map(({ verdict, count, oldest, opids }) => [verdict, count, oldest, opids]),
      leaks.rows.map(({ verdict, count, oldest, opids }) => [verdict, count, oldest, opids]),
    );
    assert.deepEqual(
      data.findings.map(({ code }) => code),
      [...stats.findings, ...leaks.findings.slice(1)].map(({ code }) => code),
    );
    assert.deepEqual(
      data.callbacks.map(([, opid, , time, duration]) => [opid, time, duration]),
      slow.callbacks.map(({ opid, time, duration }) => [opid, time, duration]),
    );
  });

  it('has in its timeline the time of all callbacks', async () => {
    const data = await collect(readFileSync(LOG, 'utf8'));
    const sum = data.timelines
      .flatMap(({ held, busy }) => [...held, ...busy])
      .reduce((total, value) => total + value, 0);
    // The longest one was open when the log ended. It has no run time, yet held the loop.
    const whole = data.loop.busy + data.loop.longest!.duration;
    assert.deepEqual([Number(sum.toFixed(1)), Number(whole.toFixed(1))], [113.9, 113.9]);
  });

  it('tells apart callbacks that held the loop, and counts what is alive by area', async () => {
    const data = await collect(
      [
        start(0),
        init(5, 'Timeout', 0),
        init(6, 'FSREQCALLBACK', 1),
        run(6, 'FSREQCALLBACK', 2, 4),
        event('destroy', 6, 'FSREQCALLBACK', 5),
        run(5, 'Timeout', 10, 40),
        event('destroy', 5, 'Timeout', 100),
      ].join('\n'),
      20,
    );
    const [{ held, busy, live, to, from, name }] = data.timelines;
    const sum = (values: readonly number[]) =>
      Number(values.reduce((total, value) => total + value, 0).toFixed(3));
    assert.deepEqual([sum(held), sum(busy), to - from, name], [30, 2, 100, 'pid 4242']);
    assert.deepEqual(
      live.map(({ area, counts }) => [area, Math.max(...counts), counts.at(-1)]),
      [
        ['timers', 1, 0],
        ['fs', 1, 0],
      ],
    );
  });

  it('shows a callback that holds the loop until the log ends', async () => {
    const data = await collect(
      [init(5, 'Timeout', 0), event('before', 5, 'Timeout', 10), init(6, 'TickObject', 100)].join('\n'),
    );
    assert.equal(Math.round(data.timelines[0].held.reduce((total, value) => total + value, 0)), 90);
  });

  it('shortens paths in the folder of the command', async () => {
    const stack = ['read:/srv/app/lib/a.js:3:5'];
    const data = await collect([init(5, 'Timeout', 0, { stack }), run(5, 'Timeout', 10, 12)].join('\n'));
    assert.deepEqual(data.sites, ['read (lib/a.js:3:5)']);
  });
});

describe('the requests of the page', () => {
  const HTTP = 'HTTPINCOMINGMESSAGE';
  const head = [init(2, 'TCPSERVER', 0), init(3, 'TCP', 1), init(4, HTTP, 1, { parentopid: 3, execopid: 2 })];

  it('are the messages of a connection, each with where its time went', async () => {
    const { requests, groups } = await collect(
      [
        ...head,
        event('before', 4, HTTP, 10),
        init(5, 'FSREQCALLBACK', 11, { parentopid: 4 }),
        event('after', 4, HTTP, 12),
        run(4, HTTP, 12, 13),
        run(9, 'TCP', 15, 18),
        event('before', 5, 'FSREQCALLBACK', 20),
        init(6, 'TickObject', 21, { parentopid: 5 }),
        event('after', 5, 'FSREQCALLBACK', 22),
        run(6, 'TickObject', 22, 24),
        event('before', 4, HTTP, 50),
        init(7, 'Timeout', 51, { parentopid: 4 }),
        event('after', 4, HTTP, 52),
        run(7, 'Timeout', 60, 61),
      ].join('\n'),
    );
    assert.deepEqual([requests.kind, requests.count, requests.max], ['http', 2, 14]);
    const [first, second] = requests.slowest;
    assert.deepEqual(
      [first.opid, first.elapsed, first.run, first.queued, first.wait, first.operations],
      [4, 14, 7, 3, 4, 2],
    );
    assert.deepEqual(
      first.parts.map(([group, ...times]) => [groups[group][0], ...times]),
      [
        [HTTP, 0, 0, 3, 3],
        ['FSREQCALLBACK', 1, 10, 12, 2],
        ['TickObject', 11, 12, 14, 2],
      ],
    );
    assert.deepEqual([second.elapsed, second.run, second.queued, second.wait], [11, 3, 0, 8]);
  });

  it('are what nothing in the log started, where there is no HTTP server', async () => {
    const { requests, groups } = await collect(
      [
        init(5, 'FSREQCALLBACK', 0),
        event('before', 5, 'FSREQCALLBACK', 3),
        init(6, 'TickObject', 4, { parentopid: 5 }),
        event('after', 5, 'FSREQCALLBACK', 5),
        run(6, 'TickObject', 5, 6),
        init(7, 'Timeout', 7),
      ].join('\n'),
    );
    assert.deepEqual(
      [
        requests.kind,
        requests.count,
        requests.slowest.map(({ group, elapsed }) => [groups[group][0], elapsed]),
      ],
      ['roots', 1, [['FSREQCALLBACK', 6]]],
    );
  });

  it('are at most 200, the slowest of all, with their parts', async () => {
    const lines = [...head];
    for (let i = 0; i < 9000; i++) {
      const at = 10 + i * 20;
      lines.push(
        event('before', 4, HTTP, at),
        init(10 + i, 'FSREQCALLBACK', at + 1, { parentopid: 4 }),
        event('after', 4, HTTP, at + 2),
        run(10 + i, 'FSREQCALLBACK', at + 3, at + 4 + (i % 45 === 0 ? 5 + i / 1000 : 0)),
      );
    }
    const { requests } = await collect(lines.join('\n'));
    assert.deepEqual([requests.count, requests.slowest.length], [9000, 200]);
    assert.deepEqual(
      requests.slowest.map(({ elapsed, parts }) => [elapsed, parts.length]),
      Array.from({ length: 200 }, (_, i) => [(9000 + 45 * (199 - i)) / 1000, 2]),
    );
  });
});
