import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { analyzeRoots, analyzeTree, type RootsOptions } from '../../lib/analyze';
import { MAX_ROOTS, NO_ROOT, RootTable } from '../../lib/analyze/roots/root-table';
import { event, init, run, textOf } from './lines';

const LISTEN = { stack: ['listen:node:net:1:1', 'serve:/app/server.js:3:5'] };

/** [op, opid, request, operations, elapsed, ran, queued, waited] of each root, the first one first. */
async function roots(lines: string[], options: RootsOptions = {}) {
  const report = await analyzeRoots(textOf(lines), { sort: 'start', top: 1000, ...options });
  return report.roots.map(({ op, opid, request, operations, elapsed, ran, queued, waited }) => [
    op,
    opid,
    request,
    operations,
    ...[elapsed, ran, queued, waited],
  ]);
}

describe('the roots of a log', () => {
  it('are the main script and the runs of a handle that start something, each with where its time went', async () => {
    const lines = [
      init(5, 'TCPSERVER', 0),
      init(6, 'Timeout', 0),
      event('before', 5, 'TCPSERVER', 10),
      init(7, 'FSREQCALLBACK', 11, { parentopid: 5 }),
      event('after', 5, 'TCPSERVER', 12),
      run(6, 'Timeout', 14, 17),
      run(7, 'FSREQCALLBACK', 20, 21),
      run(5, 'TCPSERVER', 30, 31),
      event('before', 5, 'TCPSERVER', 40),
      init(8, 'TickObject', 41, { parentopid: 5 }),
      event('after', 5, 'TCPSERVER', 42),
      run(8, 'TickObject', 42, 43),
    ];
    assert.deepEqual(await roots(lines), [
      [null, 1, null, 2, 17, 3, 2, 12],
      ['TCPSERVER', 5, 1, 1, 11, 3, 3, 5],
      ['TCPSERVER', 5, 2, 1, 3, 3, 0, 0],
    ]);
  });

  it('are each further firing of a timer, and what nothing in the log started', async () => {
    const firing = (opid: number, atMs: number) => [
      event('before', 6, 'Timeout', atMs),
      init(opid, 'TickObject', atMs + 1, { parentopid: 6 }),
      event('after', 6, 'Timeout', atMs + 2),
    ];
    const lines = [
      init(6, 'Timeout', 0),
      ...firing(7, 10),
      ...firing(8, 20),
      ...firing(9, 30),
      init(12, 'FSREQCALLBACK', 40, { parentopid: 11 }),
    ];
    assert.deepEqual(await roots(lines), [
      [null, 1, null, 2, 12, 2, 0, 10],
      ['Timeout', 6, 1, 1, 2, 2, 0, 0],
      ['Timeout', 6, 2, 1, 2, 2, 0, 0],
      ['FSREQCALLBACK', 12, null, 0, 0, 0, 0, 0],
    ]);
  });

  it('are the runs of a connection that was open before the trace, which have no op', async () => {
    const lines = [
      event('before', 4, undefined, 10),
      init(20, 'FSREQCALLBACK', 11, { parentopid: 4 }),
      event('after', 4, undefined, 12),
      run(4, undefined, 12, 13),
      run(20, 'FSREQCALLBACK', 20, 21),
      event('before', 4, undefined, 30),
      init(21, 'FSREQCALLBACK', 31, { parentopid: 4 }),
      event('after', 4, undefined, 32),
    ];
    assert.deepEqual(await roots(lines), [
      [null, 4, 1, 1, 11, 4, 0, 7],
      [null, 4, 2, 1, 2, 2, 0, 0],
    ]);
  });

  it('hold what a request writes to its socket, though the socket is its trigger', async () => {
    const lines = [
      init(5, 'TCPSERVER', 0),
      init(6, 'TCP', 1, { parentopid: 5, execopid: 0 }),
      init(7, 'HTTPINCOMINGMESSAGE', 1, { parentopid: 6, execopid: 0 }),
      event('before', 7, 'HTTPINCOMINGMESSAGE', 10),
      init(8, 'WRITE', 11, { parentopid: 6, execopid: 7 }),
      event('after', 7, 'HTTPINCOMINGMESSAGE', 12),
    ];
    assert.deepEqual((await roots(lines))[1], ['HTTPINCOMINGMESSAGE', 7, 1, 1, 2, 2, 0, 0]);
  });

  it('are listed in the order asked for, and counted by kind with percentiles', async () => {
    const lines = [init(5, 'TCPSERVER', 0, LISTEN)];
    for (let i = 0; i < 4; i++) {
      const at = 100 * (i + 1);
      lines.push(
        event('before', 5, 'TCPSERVER', at),
        init(10 + i, 'FSREQCALLBACK', at, { parentopid: 5 }),
        event('after', 5, 'TCPSERVER', at + 1 + i),
        run(10 + i, 'FSREQCALLBACK', at + 40 - 10 * i, at + 41 - 10 * i),
      );
    }
    const requests = async (sort: RootsOptions['sort']) =>
      (await analyzeRoots(textOf(lines), { sort, top: 2 })).roots.map(({ request }) => request);
    assert.deepEqual(await requests('time'), [1, 2]);
    assert.deepEqual(await requests('ran'), [4, 3]);
    assert.deepEqual(await requests('waited'), [1, 2]);
    const report = await analyzeRoots(textOf(lines), { top: 2 });
    assert.equal(report.count, 5);
    const [{ op, site, inherited, count, operations, elapsed, ran }] = report.kinds;
    assert.deepEqual(
      [op, site?.line, inherited, count, operations, elapsed.total, elapsed.max, ran.max],
      ['TCPSERVER', 3, false, 4, 4, 104, 41, 5],
    );
  });

  it('are counted only beyond a bound', () => {
    const table = new RootTable();
    for (let i = 0; i < MAX_ROOTS + 2; i++) {
      table.add(0, i, 1, 0, i, 0);
    }
    assert.deepEqual([table.add(0, 1, 1, 0, 1, 0), table.size - 1, table.folded], [NO_ROOT, MAX_ROOTS, 3]);
  });

  it('refuse an option out of range', async () => {
    for (const [options, message] of [
      [{ by: 'x' }, "by is x; expected 'trigger' or 'execution'"],
      [{ sort: 'x' }, "sort is x; expected 'time', 'ran', 'queued', 'waited', 'operations', 'start'"],
      [{ top: 0 }, 'top is 0; expected a whole number above 0'],
    ] as const) {
      await assert.rejects(analyzeRoots(textOf([]), options as RootsOptions), {
        code: 'ERR_ASYNC_TRACER_OPTION',
        message,
      });
    }
  });
});

describe('a connection that is kept', () => {
  const program = path.join(__dirname, '../../../test/fixtures/analyze/programs/keep-alive.js');
  const register = path.join(__dirname, '../../lib/register.js');
  let folder: string;
  before(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'async-tracer-roots-'));
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  for (const stacks of ['false', '3', 'true']) {
    it(`is cut into its requests, with stacks: ${stacks}`, async () => {
      const log = path.join(folder, `${stacks}.ndjson`);
      const { status, stderr } = spawnSync(process.execPath, ['-r', register, program], {
        encoding: 'utf8',
        env: {
          ...process.env,
          NODE_TEST_CONTEXT: undefined,
          ASYNC_TRACER_STACKS: stacks,
          ASYNC_TRACER_OUTPUT: log,
        },
      });
      assert.equal(status, 0, stderr);
      const report = await analyzeRoots(log, { top: 1_000_000 });
      const requests = report.roots.filter(({ op }) => op === 'HTTPINCOMINGMESSAGE');
      const numbers = new Map<number, number[]>();
      for (const { opid, request } of requests) {
        numbers.set(opid, [...(numbers.get(opid) ?? []), request!]);
      }
      const all = Array.from({ length: 155 }, (_, i) => i + 1);
      assert.deepEqual(
        [...numbers.values()].map((list) => list.sort((a, b) => a - b)),
        Array(10).fill(all),
      );
      for (const { elapsed, ran, queued, waited, operations } of requests) {
        assert.ok(Math.abs(elapsed - ran - queued - waited) < 0.01);
        assert.ok(operations > 0);
      }
      const [one] = requests.filter(({ request }) => request === 7);
      const { found } = await analyzeTree(log, { root: one.opid, request: 7 });
      const { time, elapsed, operations } = one;
      assert.deepEqual(
        found.map((part) => [part.root.time, part.elapsed, part.operations, part.request]),
        [[time, elapsed, operations, 7]],
      );
      const count = (nodes: (typeof found)[0]['started']): number =>
        nodes.reduce((sum, node) => sum + node.count + count(node.children), 0);
      assert.equal(count(found[0].started), operations);
      const whole = await analyzeTree(log, { root: one.opid });
      assert.equal(whole.found[0].requestCount, 155);
    });
  }
});
