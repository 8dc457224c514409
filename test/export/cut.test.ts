/** What of a log is exported. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type ExportOptions, LogExport } from '../../lib/export';
import { event, init, run, textOf } from '../analyze/lines';

const LOG = [
  init(2, 'TCPSERVER', 0),
  event('before', 2, 'TCPSERVER', 1),
  init(3, 'TickObject', 2, { parentopid: 2 }),
  event('after', 2, 'TCPSERVER', 3),
  run(3, 'TickObject', 4, 5),
  init(4, 'Timeout', 6, { parentopid: 3 }),
  init(5, 'PROMISE', 7, { parentopid: 1 }),
  run(4, 'Timeout', 8, 9),
  run(2, 'TCPSERVER', 10, 11),
];

/** The opids of operations and of callbacks that are exported, and the number of arrows; the same in every format. */
async function kept(
  options: ExportOptions,
): Promise<{ operations: number[]; callbacks: number[]; flows: number }> {
  const counts = [];
  let events: { ph: string; args: { opid: number } }[] = [];
  for (const format of ['perfetto', 'speedscope', 'pprof', 'chrome'] as const) {
    const all = new LogExport(textOf(LOG), format, options);
    let text = '';
    for await (const chunk of all) {
      text += Buffer.from(chunk).toString();
    }
    if (format === 'chrome') {
      events = JSON.parse(text).traceEvents;
    }
    counts.push([all.report.operations, all.report.callbacks]);
  }
  const opids = (wanted: string) =>
    events
      .filter(({ ph }) => ph === wanted)
      .map(({ args }) => args.opid)
      .sort();
  const [operations, callbacks] = [opids('b'), opids('X')];
  assert.deepEqual(
    counts,
    counts.map(() => [operations.length, callbacks.length]),
  );
  return { operations, callbacks, flows: events.filter(({ ph }) => ph === 's').length };
}

describe('what is exported', () => {
  it('is all, without options', async () => {
    assert.deepEqual(await kept({}), { operations: [2, 3, 4, 5], callbacks: [2, 2, 3, 4], flows: 1 });
  });

  it('is what began from `from` on and before `until`', async () => {
    assert.deepEqual(await kept({ from: 2, until: 8 }), { operations: [3, 4, 5], callbacks: [3], flows: 0 });
  });

  it('takes times since the epoch as well', async () => {
    const options = { from: 1_764_486_000_002, until: 1_764_486_000_008 };
    assert.deepEqual(await kept(options), { operations: [3, 4, 5], callbacks: [3], flows: 0 });
  });

  it('is one operation and what it triggered, with `root`', async () => {
    assert.deepEqual(await kept({ root: 3 }), { operations: [3, 4], callbacks: [3, 4], flows: 0 });
    assert.deepEqual(await kept({ root: 2 }), { operations: [2, 3, 4], callbacks: [2, 2, 3, 4], flows: 1 });
  });

  it('is what `include` matches by op or area, and `exclude` does not', async () => {
    const options = { include: [/^timers$/, /^T/], exclude: [/^ticks$/] };
    assert.deepEqual(await kept(options), { operations: [2, 4], callbacks: [2, 2, 4], flows: 0 });
  });

  it('is nothing where nothing matches', async () => {
    assert.deepEqual(await kept({ include: [/^none$/] }), { operations: [], callbacks: [], flows: 0 });
  });
});
