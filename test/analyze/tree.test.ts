import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { analyzeTree, type TreeNode, type TreeOptions } from '../../lib/analyze';
import type { TracerError } from '../../lib/errors';
import { event, init, run, start, textOf } from './lines';

/** "op xCOUNT" with its children in brackets, and "~N" where N came again from below. */
function text(nodes: TreeNode[]): string {
  return nodes
    .map(
      ({ op, count, again, children }) =>
        `${op} x${count}${again > 0 ? `~${again}` : ''}${children.length > 0 ? ` (${text(children)})` : ''}`,
    )
    .join(', ');
}

const tree = async (lines: string[], options: Pick<TreeOptions, 'by'> = {}) =>
  analyzeTree(textOf(lines), options);
const path = async (lines: string[], op: number, options: Pick<TreeOptions, 'by'> = {}) =>
  analyzeTree(textOf(lines), { op, ...options });
const root = async (lines: string[], root: number, options: Pick<TreeOptions, 'by'> = {}) =>
  analyzeTree(textOf(lines), { root, ...options });
const child = (opid: number, op: string, parentopid: number, atMs = 0, execopid?: number) =>
  init(opid, op, atMs, { parentopid, execopid });

const LOG = [
  child(5, 'TCPSERVER', 1),
  child(6, 'TCP', 5, 10, 0),
  child(7, 'HTTPINCOMINGMESSAGE', 6, 10, 5),
  child(8, 'TCP', 5, 20, 0),
  child(9, 'HTTPINCOMINGMESSAGE', 8, 20, 5),
  child(10, 'FSREQCALLBACK', 7, 21, 9),
  run(10, 'FSREQCALLBACK', 30, 32),
  event('destroy', 7, 'HTTPINCOMINGMESSAGE', 40),
  child(11, 'Timeout', 7, 50),
];

describe('the tree', () => {
  it('names the first operation of each node, in the tree and under a root', async () => {
    const { roots } = await tree(LOG);
    const idsOf = (nodes: TreeNode[]): unknown[] =>
      nodes.map(({ opid, children }) => (children.length === 0 ? opid : [opid, idsOf(children)]));
    assert.deepEqual(idsOf(roots), [[5, [[6, [[7, [10, 11]]]]]]]);
    const [{ started }] = (await root(LOG, 8)).found;
    assert.deepEqual(idsOf(started), [9]);
  });

  it('shows who triggered what, with what is alike in one node, also under a parent that has ended', async () => {
    const report = await tree(LOG);
    assert.equal(
      text(report.roots),
      'TCPSERVER x1 (TCP x2 (HTTPINCOMINGMESSAGE x2 (FSREQCALLBACK x1, Timeout x1)))',
    );
    assert.equal(report.nodes, 5);
    const read = report.roots[0].children[0].children[0].children[0];
    assert.deepEqual(
      [read.wait, read.run],
      [
        { count: 1, total: 9, max: 9 },
        { count: 1, total: 2, max: 2 },
      ],
    );
  });

  it('shows by execution what each callback started', async () => {
    assert.equal(
      text((await tree(LOG, { by: 'execution' })).roots),
      'TCP x2, TCPSERVER x1 (HTTPINCOMINGMESSAGE x2 (FSREQCALLBACK x1, Timeout x1))',
    );
  });

  it('keeps a chain of any length and a cycle of groups in as many nodes as there are groups', async () => {
    const chain = Array.from({ length: 3000 }, (_, i) =>
      child(5 + i, i % 2 === 0 ? 'PROMISE' : 'TickObject', 4 + i),
    );
    const report = await tree(chain);
    assert.equal(text(report.roots), 'PROMISE x1500~1499 (TickObject x1500)');
  });

  it('separates operations of different call sites', async () => {
    const at = (line: number) => ({ parentopid: 1, stack: [`f:/app/a.js:${line}:1`] });
    const report = await tree([init(5, 'TCP', 0, at(1)), init(6, 'TCP', 0, at(2)), init(7, 'TCP', 0, at(1))]);
    assert.deepEqual(
      report.roots.map(({ site, count }) => [site!.line, count]),
      [
        [1, 2],
        [2, 1],
      ],
    );
  });

  it('bears triggers that are the operation itself, unknown, or later', async () => {
    assert.equal(
      text(
        (await tree([child(5, 'TCP', 5), child(6, 'UDP', 7), child(7, 'TTY', 6), child(8, 'PIPE', 999)]))
          .roots,
      ),
      'TCP x1, UDP x1 (TTY x1), PIPE x1',
    );
  });

  it('separates runs with the same ids', async () => {
    const lines = [
      start(0, { pid: 1 }),
      child(5, 'TCP', 1),
      start(0, { pid: 2 }),
      child(5, 'UDP', 1),
      child(6, 'Timeout', 5),
      start(0, { pid: 1 }),
      child(6, 'TTY', 5),
    ];
    assert.equal(text((await tree(lines)).roots), 'TCP x1 (TTY x1), UDP x1 (Timeout x1)');
    assert.deepEqual(
      (await path(lines, 6)).paths.map(({ run, steps }) => [run, steps.map(({ op }) => op)]),
      [
        [0, ['TCP', 'TTY']],
        [1, ['UDP', 'Timeout']],
      ],
    );
  });
});

describe('the path of one operation', () => {
  it('goes back to what started it all, through operations that have ended', async () => {
    const [{ run, steps }] = (await path(LOG, 11)).paths;
    assert.equal(run, 0);
    assert.deepEqual(
      steps.map(({ opid, op, wait }) => [opid, op, wait]),
      [
        [5, 'TCPSERVER', null],
        [6, 'TCP', null],
        [7, 'HTTPINCOMINGMESSAGE', null],
        [11, 'Timeout', null],
      ],
    );
    const [{ steps: read }] = (await path(LOG, 10, { by: 'execution' })).paths;
    assert.deepEqual(
      read.map(({ opid }) => opid),
      [5, 9, 10],
    );
    const { time, wait, run: ran } = read[2];
    assert.deepEqual([time, wait, ran], [1764486000021, 9, 2]);
  });

  it('is empty for an id that the log does not have, and ends where ids go in circles', async () => {
    assert.deepEqual((await path(LOG, 12)).paths, []);
    const circle = [child(5, 'TCP', 6), child(6, 'UDP', 5), child(7, 'TTY', 7)];
    assert.deepEqual(
      (await path(circle, 6)).paths[0].steps.map(({ opid }) => opid),
      [5, 6],
    );
    assert.deepEqual(
      (await path(circle, 7)).paths[0].steps.map(({ opid }) => opid),
      [7],
    );
  });

  it('holds with ids far apart and above 2^32', async () => {
    const far = 2 ** 40 + 5;
    assert.deepEqual(
      (
        await path([child(5, 'TCP', 1), child(far, 'UDP', 5), child(far + 9, 'TTY', far)], far + 9)
      ).paths[0].steps.map(({ opid }) => opid),
      [5, far, far + 9],
    );
  });

  it('lists of a very long path the steps near the operation, and the root', async () => {
    const chain = Array.from({ length: 20_000 }, (_, i) => child(5 + i, 'PROMISE', 4 + i));
    const [{ steps }] = (await path(chain, 20_004)).paths;
    assert.deepEqual(
      [steps.length, steps[0].opid, steps[1].opid, steps.at(-1)!.opid],
      [10_000, 5, 10_006, 20_004],
    );
  });
});

describe('all that one operation started', () => {
  it('splits its time into running, queueing behind others, and waiting', async () => {
    const report = await root(
      [
        child(5, 'TCPSERVER', 1),
        child(6, 'HTTPINCOMINGMESSAGE', 5, 100),
        child(7, 'Timeout', 1, 100),
        run(6, 'HTTPINCOMINGMESSAGE', 110, 112),
        child(8, 'FSREQCALLBACK', 6, 112),
        run(7, 'Timeout', 120, 150),
        event('before', 7, 'Timeout', 160),
        run(8, 'FSREQCALLBACK', 165, 168),
        event('after', 7, 'Timeout', 170),
        child(9, 'TickObject', 8, 170),
        run(9, 'TickObject', 171, 175),
        run(7, 'Timeout', 200, 900),
        event('destroy', 9, 'TickObject', 900),
      ],
      6,
    );
    const [{ root: request, operations, elapsed, ran, queued, waited, started }] = report.found;
    assert.deepEqual(
      [request.op, request.time, request.wait, request.run],
      ['HTTPINCOMINGMESSAGE', 1764486000100, 10, 2],
    );
    // From 100 to 175: 2 + 3 + 4 run; 30 + 10 - 3 others; the rest is rest.
    assert.deepEqual([operations, elapsed, ran, queued, waited], [2, 75, 9, 37, 29]);
    assert.equal(text(started), 'FSREQCALLBACK x1 (TickObject x1)');
  });

  it('counts only the rest of a callback that was running when it began', async () => {
    const report = await root(
      [
        child(7, 'Timeout', 1),
        event('before', 7, 'Timeout', 10),
        child(8, 'TCP', 7, 15),
        event('after', 7, 'Timeout', 20),
        run(8, 'TCP', 30, 31),
      ],
      8,
    );
    const [{ elapsed, ran, queued, waited }] = report.found;
    assert.deepEqual([elapsed, ran, queued, waited], [16, 1, 5, 10]);
  });

  it('follows triggers or executions, as asked', async () => {
    assert.equal((await root(LOG, 9)).found[0].operations, 0);
    assert.equal(text((await root(LOG, 9, { by: 'execution' })).found[0].started), 'FSREQCALLBACK x1');
  });

  it('takes a root whose own init is not in the log, as the main script', async () => {
    const [{ root: main, started }] = (await root(LOG, 1)).found;
    assert.deepEqual([main.op, main.opid], [null, 1]);
    assert.equal(
      text(started),
      'TCPSERVER x1 (TCP x2 (HTTPINCOMINGMESSAGE x2 (FSREQCALLBACK x1, Timeout x1)))',
    );
  });

  it('finds nothing for an id that nothing has to do with', async () => {
    assert.deepEqual((await root(LOG, 4711)).found, []);
  });
});

describe('wrong options of the tree', () => {
  it('are refused by name', async () => {
    const cases: [object, RegExp][] = [
      [{ by: 'time' }, /^by is time; expected 'trigger' or 'execution'/],
      [{ op: '7' }, /^op is 7; expected the opid/],
      [{ root: 1.5 }, /^root is 1.5; expected the opid/],
      [{ op: 1, root: 2 }, /^both op and root/],
    ];
    for (const [options, message] of cases) {
      await assert.rejects(analyzeTree(textOf(LOG), options), (error: TracerError) => {
        assert.equal(error.code, 'ERR_ASYNC_TRACER_OPTION');
        assert.match(error.message, message);
        return true;
      });
    }
  });
});
