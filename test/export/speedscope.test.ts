/** What the profiles of a speedscope file mean. */
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { event, init, run, start } from '../analyze/lines';
import { temporaryFolder } from '../cli/command';
import {
  assertClose,
  assertRunTimes,
  type Exported,
  exported,
  HOLED,
  type Interval,
  realLogs,
  sum,
  write,
} from './logs';

interface Profile {
  type: 'evented' | 'sampled';
  name: string;
  unit: string;
  startValue: number;
  endValue: number;
  events: { type: 'O' | 'C'; frame: number; at: number }[];
  samples: number[][];
  weights: number[];
}

interface File {
  profiles: Profile[];
  shared: { frames: { name: string; file?: string; line?: number; col?: number }[] };
}

const folder = temporaryFolder();
const results = new Map<string, Exported & { file: File }>();

before(async () => {
  const kinds = {
    'of a program and its worker': realLogs(folder),
    'in which records are missing': [write(folder, 'holed.ndjson', HOLED)],
  };
  for (const [name, logs] of Object.entries(kinds)) {
    const result = await exported(logs, 'speedscope');
    results.set(name, { ...result, file: JSON.parse(result.bytes.toString()) });
  }
});

/** Reads events as speedscope does, which refuses what does not nest. */
function intervalsOf({ events, startValue, endValue }: Profile, { frames }: File['shared']): Interval[] {
  const slices: Interval[] = [];
  const open: { frame: number; slice: Interval }[] = [];
  let last = startValue;
  for (const { type, frame, at } of events) {
    assert.ok(at >= last && at <= endValue);
    last = at;
    if (type === 'O') {
      const slice = {
        op: frames[frame].name.split(' ')[0],
        opid: 0,
        start: at,
        end: Number.NaN,
        ended: true,
      };
      slices.push(slice);
      open.push({ frame, slice });
    } else {
      const top = open.pop()!;
      assert.equal(top.frame, frame);
      top.slice.end = at;
    }
  }
  assert.equal(open.length, 0);
  return slices;
}

for (const kind of ['of a program and its worker', 'in which records are missing']) {
  describe(`the speedscope file of a log ${kind}`, () => {
    it('has a profile of each thread, whose callbacks nest', () => {
      const { file, report } = results.get(kind)!;
      const threads = file.profiles.filter(({ type }) => type === 'evented');
      assert.equal(sum(threads.map((profile) => intervalsOf(profile, file.shared).length)), report.callbacks);
    });

    it('has a profile of waiting whose weights are the waits of stats', () => {
      const { file, stats } = results.get(kind)!;
      const waits = file.profiles.at(-1)!;
      assert.equal(waits.type, 'sampled');
      assert.equal(waits.samples.length, waits.weights.length);
      assert.ok(waits.samples.flat().every((frame) => file.shared.frames[frame] !== undefined));
      const [total, count] = [
        stats.ops.map(({ wait }) => wait.total),
        stats.ops.map(({ wait }) => wait.count),
      ];
      assertClose(sum(waits.weights) * 1000, sum(total) * 1000, sum(count) + waits.weights.length, 'waits');
      assertClose(waits.endValue * 1000, sum(waits.weights) * 1000, waits.weights.length, 'end');
    });
  });
}

describe('the speedscope file', () => {
  it('has the run times of stats', () => {
    const { file, stats } = results.get('of a program and its worker')!;
    const threads = file.profiles.filter(({ type }) => type === 'evented');
    assertRunTimes(
      threads.map((profile) => intervalsOf(profile, file.shared)),
      stats,
    );
  });

  it('has the call site as the place of a frame', () => {
    const { file } = results.get('of a program and its worker')!;
    const frame = file.shared.frames.find(({ name }) => name === 'FSREQPROMISE read')!;
    assert.match(frame.file!, /program\.js$/);
    assert.equal(frame.line, 10);
  });

  it('divides a thread whose records alternate with those of another into parts', async () => {
    const header = (pid: number) => start(0, { pid });
    const lines = [
      header(1),
      init(2, 'Timeout', 1),
      event('before', 2, 'Timeout', 2),
      header(2),
      init(2, 'Timeout', 3),
      run(2, 'Timeout', 4, 5),
      header(1),
      event('after', 2, 'Timeout', 6),
      run(2, 'Timeout', 7, 8),
    ];
    const { bytes } = await exported([write(folder, 'two.ndjson', lines)], 'speedscope');
    const file: File = JSON.parse(bytes.toString());
    const threads = file.profiles.filter(({ type }) => type === 'evented');
    assert.deepEqual(
      threads.map((profile) => [
        profile.name,
        intervalsOf(profile, file.shared).map(({ start, end }) => [start, end]),
      ]),
      [
        ['node v24.0.0 (pid 2), main thread', [[1000, 2000]]],
        [
          'node v24.0.0 (pid 1), main thread',
          [
            [1000, 5000],
            [6000, 7000],
          ],
        ],
      ],
    );
  });
});
