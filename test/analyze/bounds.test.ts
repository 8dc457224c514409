/** A program can invent names without end. They must not fill the reader's memory: beyond its limit a table shares one entry. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { analyzeStats, analyzeTree } from '../../lib/analyze';
import { MAX_OPS, OpTable } from '../../lib/analyze/decode/op-table';
import { MAX_STACKS, Stack, StackTable } from '../../lib/analyze/decode/stack-table';
import { LiveStacks, MAX_LIVE_STACK_BYTES } from '../../lib/analyze/leaks/live-stacks';
import { CallbackStack } from '../../lib/analyze/model/callback-stack';
import { Run } from '../../lib/analyze/model/run';
import { MAX_SITES, SiteTable } from '../../lib/analyze/site/site-table';
import { ABOVE_ROOTS, Forest, MAX_TREE_NODES } from '../../lib/analyze/tree/forest';
import { asSource, init, run } from './lines';

function* each(count: number, line: (i: number) => string) {
  for (let i = 0; i < count; i++) yield `${line(i)}\n`;
}

describe('bounds', () => {
  it('ops beyond 16,384 share one, and every record counts', async () => {
    const count = MAX_OPS + 500;
    const report = await analyzeStats(asSource(each(count, (i) => init(5 + i, `made up ${i}`, i))));
    assert.equal(report.log.records, count);
    assert.equal(report.ops.length, MAX_OPS);
    const rest = report.ops.find(({ op }) => op === '(other ops)')!;
    assert.deepEqual([rest.count, rest.area], [501, null]);
    assert.equal(
      report.ops.reduce((sum, row) => sum + row.count, 0),
      count,
    );
  });

  it('an op of several areas is as many ops', () => {
    const ops = new OpTable();
    const [a, b] = [ops.intern('X', 'net'), ops.intern('X', 'fs')];
    assert.notEqual(a, b);
    assert.equal(ops.intern('X', 'net'), a);
    assert.deepEqual([ops.names[a], ops.areas[a], ops.names[b], ops.areas[b]], ['X', 'net', 'X', 'fs']);
  });

  it('call sites beyond 16,384 share one, and stacks are forgotten by the tens of thousands', () => {
    const stacks = new StackTable();
    const table = new SiteTable();
    const site = (i: number) => table.numberOf(stacks.at(stacks.intern([`f:/app/a.js:${i}:1`])));
    for (let i = 1; i < MAX_SITES; i++) assert.equal(site(i), i - 1);
    assert.equal(site(MAX_SITES), MAX_SITES - 1);
    assert.equal(site(MAX_SITES + 1), MAX_SITES - 1);
    assert.equal(table.sites[MAX_SITES - 1].frame, undefined);
    for (let i = MAX_SITES; i < MAX_STACKS + 10; i++) site(i);
    assert.equal(site(5), 4);
    assert.deepEqual(stacks.frames(stacks.intern(['g:/app/b.js:1:1'])), ['g:/app/b.js:1:1']);
    assert.equal(table.sites.length, MAX_SITES);
  });

  it('different stacks of live operations beyond 32 MiB are not kept, until others have ended', () => {
    const live = new LiveStacks();
    const run = new Run(0, undefined);
    const half = () => new Stack(Buffer.allocUnsafe(MAX_LIVE_STACK_BYTES / 2), 1);
    const stacks = [half(), half(), half()];
    for (const row of [0, 1, 2]) live.set(run, row, stacks[row]);
    live.set(run, 3, stacks[0]);
    const of = () => [0, 1, 2, 3].map((row) => live.get(run, row));
    assert.deepEqual(of(), [stacks[0], stacks[1], undefined, stacks[0]]);
    live.release(run, 0);
    live.set(run, 2, stacks[2]);
    assert.deepEqual(of(), [undefined, stacks[1], undefined, stacks[0]]);
    live.release(run, 3);
    live.set(run, 2, stacks[2]);
    assert.deepEqual(of(), [undefined, stacks[1], stacks[2], undefined]);
  });

  it('a tree of more than 50,000 nodes counts further operations at their parent', () => {
    const forest = new Forest();
    const parents = Array.from({ length: 1000 }, (_, group) => forest.add(ABOVE_ROOTS, group, group));
    for (let group = 1000; group <= 1050; group++)
      for (const parent of parents) forest.add(parent, group, group);
    assert.equal(forest.size, MAX_TREE_NODES);
    assert.equal(forest.folded, 52 * 1000 - MAX_TREE_NODES);
    assert.equal(forest.add(parents[0], 9999, 1), parents[0]);
  });

  it('a tree deeper than 100 puts what is deeper beside its parent', async () => {
    const report = await analyzeTree(
      asSource(each(150, (i) => init(5 + i, `level ${i}`, i, { parentopid: 4 + i }))),
    );
    let depth = 0;
    for (let nodes = report.roots; nodes.length > 0; nodes = nodes[0].children) depth++;
    assert.deepEqual([depth, report.nodes, report.folded], [100, 150, 0]);
  });

  it('callbacks nested without end are abandoned from the outermost on', () => {
    const callbacks = new CallbackStack();
    for (let i = 0; i < 10_005; i++) callbacks.open(i, 0, i);
    assert.deepEqual([callbacks.depth, callbacks.abandoned], [5005, 5000]);
    assert.deepEqual(
      [callbacks.close(4999, 1e6), callbacks.close(10_004, 1e6), callbacks.total],
      [false, true, 1e6 - 10_004],
    );
  });

  it('findings of one code beyond ten are summed up in the last', async () => {
    const lines = each(
      13,
      (i) =>
        `${init(5 + i, 'Timeout', 0, { stack: [`f:/app/a.js:${i + 1}:1`] })}\n${run(5 + i, 'Timeout', 100 * i, 100 * i + 60)}`,
    );
    const { findings } = await analyzeStats(asSource(lines));
    assert.equal(findings.length, 10);
    assert.match(findings[9].message, /The same holds for 3 more\.$/);
    assert.equal(findings[9].evidence['more'], 3);
    assert.equal(findings[8].evidence['more'], undefined);
  });
});
