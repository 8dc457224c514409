/** The logs that the tests of exports read: of a real program, and hand-made ones that lack records. */
import assert from 'node:assert/strict';
import { readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { analyzeStats, type StatsReport } from '../../lib/analyze';
import { type ExportFormat, type ExportOptions, type ExportReport, LogExport } from '../../lib/export';
import { event, init, run, start } from '../analyze/lines';
import { command, ROOT } from '../cli/command';

const PROGRAM = path.join(ROOT, 'test/fixtures/export/program.js');

/** Traces the program with stacks, the settling of promises included; gives the logs of its process and its worker. */
export function realLogs(folder: string): string[] {
  const { status, stderr } = command([
    'run',
    '--stacks',
    '--resolve',
    '--output',
    `${folder}/app.ndjson`,
    PROGRAM,
  ]);
  assert.equal(status, 0, stderr);
  const logs = readdirSync(folder).filter((file) => file.startsWith('app'));
  assert.equal(logs.length, 2, logs.join());
  return logs.sort().map((file) => path.join(folder, file));
}

/** Callbacks that never end, whose before or after is missing, behind a loss; a promise without a callback; equal times. */
export const HOLED = [
  start(0),
  init(2, 'TCPSERVER', 1, { parentopid: 1 }),
  init(3, 'PROMISE', 1, { parentopid: 2 }),
  event('before', 2, 'TCPSERVER', 2),
  init(4, 'TickObject', 2, { parentopid: 2 }),
  init(5, 'Timeout', 2.5, { parentopid: 2 }),
  // 9 has no init, and its after is missing: that of 2 ends it.
  event('before', 9, 'PIPE', 2.6),
  run(4, 'TickObject', 2.7, 2.8),
  event('after', 2, 'TCPSERVER', 3),
  event('destroy', 4, 'TickObject', 3),
  // An after without its before.
  event('after', 8, 'PIPE', 3),
  run(5, 'Timeout', 4, 4),
  event('before', 5, 'Timeout', 5),
  JSON.stringify({ phase: 'lost', count: 3, time: 1_764_486_000_005.5 }),
  run(2, 'TCPSERVER', 6, 7),
  event('destroy', 5, 'Timeout', 7),
  event('before', 2, 'TCPSERVER', 8),
  init(6, 'PROMISE', 8.1, { parentopid: 2 }),
  run(6, 'PROMISE', 8.2, 8.3),
  event('destroy', 6, 'PROMISE', 8.9),
  init(7, 'Immediate', 9, { parentopid: 2 }),
];

export function write(folder: string, name: string, lines: readonly string[]): string {
  const file = path.join(folder, name);
  writeFileSync(file, `${lines.join('\n')}\n`);
  return file;
}

export interface Exported {
  bytes: Buffer;
  report: ExportReport;
  stats: StatsReport;
}

/** Exports logs, and gives the answer of `stats` about the same. */
export async function exported(
  logs: string[],
  format: ExportFormat,
  options: ExportOptions = {},
): Promise<Exported> {
  const all = new LogExport(logs, format, options);
  const chunks: Uint8Array[] = [];
  for await (const chunk of all) {
    chunks.push(chunk);
  }
  return { bytes: Buffer.concat(chunks), report: all.report, stats: await analyzeStats(logs) };
}

export function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

/** The figures of `stats`, by op. Times are whole microseconds. */
export function figuresByOp({
  ops,
}: StatsReport): Map<string, { count: number; runs: number; runUs: number; waitUs: number; live: number }> {
  const figures = new Map();
  for (const { op, count, live, run, wait } of ops) {
    const name = op ?? '(unknown)';
    const known = figures.get(name) ?? { count: 0, runs: 0, runUs: 0, waitUs: 0, live: 0 };
    figures.set(name, {
      count: known.count + count,
      runs: known.runs + run.count,
      runUs: Math.round(known.runUs + run.total * 1000),
      waitUs: Math.round(known.waitUs + wait.total * 1000),
      live: known.live + (live ?? 0),
    });
  }
  return figures;
}

/** A slice on a track. */
export interface Interval {
  opid: number;
  op: string;
  start: number;
  end: number;
  ended: boolean;
}

/** That slices of a track nest, in the order in which they begin; gives the time in each without those nested in it. */
export function selfTimes(slices: readonly Interval[]): number[] {
  const self = slices.map(({ start, end }) => end - start);
  const open: number[] = [];
  slices.forEach(({ start, end }, i) => {
    if (i > 0) {
      assert.ok(start >= slices[i - 1].start, 'slices come in the order of their starts');
    }
    while (open.length > 0 && slices[open.at(-1)!].end <= start) {
      open.pop();
    }
    const around = open.at(-1);
    if (around !== undefined) {
      assert.ok(
        end <= slices[around].end,
        `the slice of ${slices[i].opid} overlaps that of ${slices[around].opid}`,
      );
      self[around] -= end - start;
    }
    open.push(i);
  });
  return self;
}

/** That the slices of a thread have the numbers and the run times that `stats` gives. Times are microseconds. */
export function assertRunTimes(tracks: readonly Interval[][], stats: StatsReport): void {
  const runs = new Map<string, number>();
  const times = new Map<string, number>();
  for (const slices of tracks) {
    const self = selfTimes(slices);
    slices.forEach(({ op, ended }, i) => {
      if (ended) {
        runs.set(op, (runs.get(op) ?? 0) + 1);
        times.set(op, (times.get(op) ?? 0) + self[i]);
      }
    });
  }
  const expected = [...figuresByOp(stats)].filter(([, figures]) => figures.runs > 0);
  const sorted = (entries: Iterable<[string, number]>) => [...entries].sort();
  assert.deepEqual(sorted(runs), sorted(expected.map(([op, figures]) => [op, figures.runs])));
  for (const [op, { runUs, runs: count }] of expected) {
    assertClose(times.get(op)!, runUs, count, `run time of ${op}`);
  }
}

/** Doubles hold milliseconds since the epoch to a quarter of a microsecond, so a sum of `stats` is off by that a value. */
export function assertClose(actual: number, expected: number, values: number, what: string): void {
  assert.ok(Math.abs(actual - expected) <= 1 + values / 4, `${what}: ${actual}, expected ${expected}`);
}
