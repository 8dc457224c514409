import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { analyzeSlow, analyzeStats, type StatsOptions } from '../../lib/analyze';
import { end, event, init, run, start, textOf } from './lines';

const findings = async (lines: string[], options?: StatsOptions) =>
  (await analyzeStats(textOf(lines), options)).findings;
const messages = async (lines: string[], options?: StatsOptions) =>
  (await findings(lines, options)).map(({ message }) => message);

const at = (line: number) => ({ stack: ['setTimeout:node:timers:1:1', `poll:/app/poll.js:${line}:5`] });

describe('large numbers', () => {
  it('have separators', async () => {
    const fanOut = [10, 20].flatMap((exec) => [
      init(exec * 1000, 'Timeout', exec),
      event('before', exec * 1000, 'Timeout', exec),
      ...Array.from({ length: 1200 + exec }, (_, i) =>
        init(exec * 1000 + 1 + i, 'TCP', exec, { parentopid: exec * 1000 }),
      ),
      event('after', exec * 1000, 'Timeout', exec),
    ]);
    assert.deepEqual(await messages(fanOut), [
      'One execution of operation 20000 started 1,220 operations of TCP at once, and 2 executions started 1,000 or more; a limit on how many are open at a time keeps memory and queues short.',
    ]);
  });
});

describe('records that were lost', () => {
  const lost = (count: number) => JSON.stringify({ phase: 'lost', count, time: 1_764_486_000_001 });
  const messageOf = async (overflow: string | undefined, count: number) => {
    const [{ code, message, evidence }] = await findings([start(0, { options: { overflow } }), lost(count)]);
    assert.deepEqual([code, evidence], ['records-lost', { lost: count, runs: [0] }]);
    return message;
  };

  it('name the possible reasons', async () => {
    assert.equal(
      await messageOf('drop', 2),
      "2 records are missing from the log, so counts may be too low. The log does not tell why: a slow destination drops them (raise maxBuffer, set overflow to 'block', or write to a file), a full disk or a reader that is gone refuses them.",
    );
    assert.match(await messageOf(undefined, 1), /^1 record is missing from the log.*does not tell why/);
  });

  it("are not laid to a slow destination where overflow is 'block'", async () => {
    assert.equal(
      await messageOf('block', 2),
      "2 records are missing from the log, so counts may be too low. With overflow 'block' none is dropped because its destination is slow; a full disk or a reader that is gone refuses them.",
    );
  });
});

describe('a callback that held the loop', () => {
  it('is found at 50 ms, with its site, and not below', async () => {
    assert.deepEqual(await messages([init(5, 'Timeout', 0, at(3)), run(5, 'Timeout', 10, 60)]), [
      'A callback of Timeout from poll (/app/poll.js:3:5) held the event loop for 50 ms.',
    ]);
    assert.deepEqual(await messages([init(5, 'Timeout', 0, at(3)), run(5, 'Timeout', 10, 59.999)]), []);
    assert.equal(
      (await messages([init(5, 'Timeout', 0), run(5, 'Timeout', 10, 20)], { heldMs: 10 })).length,
      1,
    );
  });

  it('is found once for a group, with the number, the sum and the longest', async () => {
    const [finding, ...rest] = await findings([
      init(5, 'Timeout', 0, at(3)),
      init(6, 'Timeout', 0, at(3)),
      run(5, 'Timeout', 10, 110),
      run(6, 'Timeout', 200, 500),
    ]);
    assert.deepEqual(rest, []);
    assert.equal(
      finding.message,
      'A callback of Timeout from poll (/app/poll.js:3:5) held the event loop for 300 ms; 2 callbacks of it took 50 ms or more, 400 ms together.',
    );
    const { count, total, max, longest } = finding.evidence as Record<string, never>;
    assert.deepEqual([count, total, max, longest['opid'], longest['duration']], [2, 400, 300, 6, 300]);
  });

  it('is the outermost, and the one inside which the time went is named', async () => {
    assert.deepEqual(
      await messages([
        init(5, 'TCP', 0),
        init(6, 'mine', 0, at(9)),
        event('before', 5, 'TCP', 10),
        run(6, 'mine', 12, 112),
        event('after', 5, 'TCP', 115),
      ]),
      [
        'A callback of TCP held the event loop for 105 ms, most of it inside mine from poll (/app/poll.js:9:5).',
      ],
    );
  });

  it('is found also where it had not ended, as when it calls process.exit', async () => {
    assert.deepEqual(await messages([init(5, 'Timeout', 0), event('before', 5, 'Timeout', 10), end(90)]), [
      'A callback of Timeout held the event loop for 80 ms and had not ended when the log did.',
    ]);
  });

  it('is counted once by slow, which lists the longest callbacks without those inside them', async () => {
    const lines = [init(5, 'TCP', 0), init(6, 'mine', 0), init(7, 'Timeout', 0)];
    lines.push(
      event('before', 5, 'TCP', 10),
      run(6, 'mine', 12, 112),
      event('after', 5, 'TCP', 115),
      run(7, 'Timeout', 120, 121),
    );
    const report = await analyzeSlow(textOf(lines));
    assert.deepEqual(
      report.callbacks.map(({ op, duration, self, inside }) => [op, duration, self, inside?.op]),
      [
        ['TCP', 105, 5, 'mine'],
        ['Timeout', 1, 1, undefined],
      ],
    );
    assert.deepEqual(
      report.held.map(({ op, count }) => [op, count]),
      [['TCP', 1]],
    );
  });
});

describe('a chain that starved the loop', () => {
  /** Each runs for 0.25 ms, straight after the last. */
  const chain = (count: number, op: string, from = 10) =>
    Array.from({ length: count }, (_, i) => [
      init(100 + i, op, from, at(7)),
      run(100 + i, op, from + i * 0.25, from + i * 0.25 + 0.25),
    ]).flat();

  it('is found for ticks and for promises, with the site of most of them', async () => {
    for (const op of ['TickObject', 'PROMISE']) {
      assert.deepEqual(await messages(chain(400, op)), [
        `400 callbacks of ticks and promises in a row, most of them of ${op} from poll (/app/poll.js:7:5), kept the event loop from turning for 100 ms.`,
      ]);
    }
  });

  it('is none below 50 ms, nor where the loop turned in between', async () => {
    assert.deepEqual(await messages(chain(199, 'TickObject')), []);
    const turned = [init(5, 'Timeout', 0), ...chain(150, 'TickObject'), run(5, 'Timeout', 47.5, 47.51)];
    turned.push(...chain(150, 'PROMISE', 47.6).map((line) => line.replaceAll('"opid":', '"opid":9')));
    assert.deepEqual(await messages(turned), []);
  });

  it('is none where the callbacks are far apart, nor in a log that leaves ops out', async () => {
    const idle = Array.from({ length: 400 }, (_, i) => [
      init(100 + i, 'PROMISE', i),
      run(100 + i, 'PROMISE', i, i + 0.01),
    ]).flat();
    assert.deepEqual(await messages(idle), []);
    assert.deepEqual(
      await messages([start(0, { options: { include: ['TickObject'] } }), ...chain(400, 'TickObject')]),
      [],
    );
  });
});

describe('a fan-out', () => {
  const burst = (count: number, op: string, from: number, exec: number, line: number) =>
    Array.from({ length: count }, (_, i) => init(from + i, op, 10, { parentopid: exec, ...at(line) }));

  it('is found at 1,000 operations from one execution, also of the main script', async () => {
    assert.deepEqual(await messages(burst(1000, 'FSREQCALLBACK', 100, 1, 4)), [
      'One execution of operation 1 started 1,000 operations of FSREQCALLBACK from poll (/app/poll.js:4:5) at once; a limit on how many are open at a time keeps memory and queues short.',
    ]);
    assert.deepEqual(await messages(burst(999, 'FSREQCALLBACK', 100, 1, 4)), []);
  });

  it('is none where several executions of one operation start as many, nor in native code', async () => {
    const lines = [init(5, 'Timeout', 0)];
    for (const turn of [0, 1]) {
      lines.push(
        event('before', 5, 'Timeout', 5 + turn),
        ...burst(600, 'TCP', 100 + turn * 600, 5, 4),
        event('after', 5, 'Timeout', 5.5 + turn),
      );
    }
    assert.deepEqual(await messages(lines), []);
    assert.deepEqual(await messages(burst(2000, 'TCP', 100, 0, 4)), []);
  });

  it('is found for the work, not for the promises and ticks that come with it', async () => {
    const lines = [
      ...burst(1000, 'PROMISE', 100, 1, 4),
      ...burst(1000, 'FSREQPROMISE', 2000, 1, 4),
      ...burst(1000, 'TickObject', 4000, 1, 5),
    ];
    const found = await findings(lines);
    assert.deepEqual(
      found.map(({ code, evidence }) => [code, evidence['op']]),
      [['fan-out', 'FSREQPROMISE']],
    );
  });
});

describe('growth', () => {
  /** Every 10 ms an operation, of which one in `every` is never ended. */
  const leaky = (op: string, every: number, count = 1000) =>
    Array.from({ length: count }, (_, i) => [
      init(100 + i, op, i * 10, at(2)),
      ...(i % every === 0
        ? []
        : [run(100 + i, op, i * 10 + 5, i * 10 + 6), event('destroy', 100 + i, op, i * 10 + 7)]),
    ]).flat();

  it('is found where unfinished operations become more and more', async () => {
    const [finding, ...rest] = await findings(leaky('TCP', 5));
    assert.deepEqual(rest, []);
    assert.match(
      finding.message,
      /^The unfinished operations of TCP from poll \(\/app\/poll.js:2:5\) grew all the time, from \d+ to 200 in the last [\d.]+ s\.$/,
    );
  });

  it('is found for promises where their settling is recorded, each counted once', async () => {
    const settled = leaky('PROMISE', 5).flatMap((line, i) =>
      i % 3 === 1 && line.includes('"before"')
        ? [line.replaceAll('"before"', '"resolve"').replaceAll('"after"', '"resolve"')]
        : [line],
    );
    const found = await findings(settled);
    assert.deepEqual(
      found.map(({ code, evidence }) => [code, evidence['end']]),
      [['growth', 200]],
    );
  });

  it('is none where all of them end at last, or where they came at one go', async () => {
    const ended = Array.from({ length: 195 }, (_, i) => event('destroy', 100 + i * 5, 'TCP', 9999));
    assert.deepEqual(await messages([...leaky('TCP', 5), ...ended]), []);
    assert.deepEqual(await messages([...leaky('TCP', 5), ...ended.slice(0, 60)]), []);
    const steady = leaky('Timeout', 1e9).map((line) => line.replaceAll('"opid":', '"opid":9'));
    const burst = Array.from({ length: 500 }, (_, i) => init(20_000 + i, 'TCP', 7000 + i / 100, at(2)));
    assert.deepEqual(
      await messages([
        ...steady.slice(0, -900),
        ...burst.map((line) => line.replace('"opid":', '"opid":9')),
        ...steady.slice(-900),
      ]),
      [],
    );
  });

  it('is none where they go up and down ever higher, but always down', async () => {
    const lines: string[] = [];
    let id = 100;
    for (let wave = 0; wave < 100; wave++) {
      const ids = Array.from({ length: 20 + wave * 3 }, () => id++);
      lines.push(...ids.map((opid) => init(opid, 'TCP', wave * 100, { ...at(2), parentopid: 0 })));
      if (wave < 99) lines.push(...ids.map((opid) => event('destroy', opid, 'TCP', wave * 100 + 90)));
    }
    assert.deepEqual(await messages(lines), []);
  });

  it('is none where they end, or where only garbage collection would show it', async () => {
    assert.deepEqual(await messages(leaky('TCP', 1e9)), []);
    assert.deepEqual(await messages(leaky('PROMISE', 5)), []);
    assert.deepEqual(await messages(leaky('ZLIB', 5)), []);
  });

  it('is none where they are many but no more than before', async () => {
    const many = Array.from({ length: 500 }, (_, i) => init(100 + i, 'TCP', i * 0.1, at(2)));
    assert.deepEqual(
      await messages([
        ...many,
        ...leaky('Timeout', 1e9).map((line) => line.replaceAll('"opid":', '"opid":9')),
      ]),
      [],
    );
  });
});
