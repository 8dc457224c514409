/** Runs programs of test/fixtures/integrity bare and under trace, each in a process of its own. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { EndRecord, TraceRecord } from '../../lib/log/event';
import type { TracerOptions } from '../../lib/trace/options';
import type { TracerStats } from '../../lib/trace/tracer/tracer';
import { validateLog } from '../support/validate';

export const FIXTURES = path.join(__dirname, '../../../test/fixtures/integrity');
const PRELOAD = path.join(FIXTURES, 'preload.js');
/** A program that takes longer hangs: the slowest takes 10 s here. */
const TIMEOUT_MS = 120_000;

export interface Outcome {
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
}

export interface Run {
  args?: readonly string[];
  /** Flags of node. */
  flags?: readonly string[];
  env?: NodeJS.ProcessEnv;
  cwd?: string;
  /** Put before the command: `ulimit` and the like, by a shell. */
  shell?: string;
  /**
   * Whether a traced run counts for the coverage of lib/, where that is measured; true by default. Not where it would be
   * seen: it is written at exit with the rights and the globals of the program, and slows deep recursion down.
   */
  covered?: boolean;
  /** Called once the program is started. */
  drive?: (child: ChildProcess) => void;
}

/** A folder of its own for a test, removed when the test's callback has ended. */
export async function inFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(path.join(tmpdir(), 'async-tracer-integrity-'));
  try {
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

export function fixture(name: string): string {
  return path.join(FIXTURES, name);
}

/** Runs a program of the fixtures as it is. */
export function runBare(program: string, run: Run = {}): Promise<Outcome> {
  return execute(program, { ...run, covered: false });
}

function execute(program: string, run: Run): Promise<Outcome> {
  const command = [process.execPath, ...(run.flags ?? []), fixture(program), ...(run.args ?? [])];
  const [file, args] =
    run.shell === undefined
      ? [command[0], command.slice(1)]
      : ['/bin/sh', ['-c', `${run.shell}; exec "$@"`, 'sh', ...command]];
  const { NODE_OPTIONS: _options, NODE_TEST_CONTEXT: _context, ...env } = process.env;
  // Undefined, not absent: Node hands the variable on to children whose env does not name it.
  if (run.covered === false) env['NODE_V8_COVERAGE'] = undefined;
  return new Promise((resolve, reject) => {
    const child = spawn(file, args, {
      env: { ...env, ...run.env },
      cwd: run.cwd,
      timeout: TIMEOUT_MS,
      killSignal: 'SIGKILL',
    });
    let [stdout, stderr] = ['', ''];
    child.stdout.setEncoding('utf8').on('data', (text) => {
      stdout += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text) => {
      stderr += text;
    });
    child.once('error', reject);
    child.once('close', (code, signal) => resolve({ code, signal, stdout, stderr: withoutIds(stderr) }));
    run.drive?.(child);
  });
}

/** Without what differs from run to run, and Node's own frames: with any hook it calls through one more function. */
function withoutIds(stderr: string): string {
  return stderr.replace(/\(node:\d+\)/g, '(node:PID)').replace(/^ +at .*\(node:.*\)\n/gm, '');
}

export interface Trace {
  /** Where the log goes; in the folder of the test by default. */
  target?: string | number;
  options?: TracerOptions;
}

export interface Traced extends Outcome {
  /** The records of the log, after every line was found valid. Of several logs: see `logs`. */
  records: TraceRecord[];
  logs: Map<string, TraceRecord[]>;
  /** What the tracer had counted in the program's last exit listener; undefined where it did not come to that. */
  stats: TracerStats | undefined;
}

/** Runs it under trace, with `header` unless the options say otherwise. */
export async function runTraced(program: string, run: Run = {}, trace: Trace = {}): Promise<Traced> {
  return inFolder(async (folder) => {
    const target = trace.target ?? path.join(folder, '%p-%t.ndjson');
    const stats = path.join(folder, 'stats.json');
    const plan = { target, options: { header: true, ...trace.options }, stats };
    const outcome = await execute(program, {
      ...run,
      flags: ['-r', PRELOAD, ...(run.flags ?? [])],
      env: { ...run.env, INTEGRITY: JSON.stringify(plan) },
    });
    const files = readdirSync(folder);
    const logs = new Map<string, TraceRecord[]>();
    for (const file of files.filter((name) => name.endsWith('.ndjson'))) {
      logs.set(file, validateLog(readFileSync(path.join(folder, file), 'utf8')));
    }
    return {
      ...outcome,
      logs,
      records: [...logs.values()][0] ?? [],
      stats: files.includes('stats.json')
        ? (JSON.parse(readFileSync(stats, 'utf8') || 'null') ?? undefined)
        : undefined,
    };
  });
}

/** The program does the same under trace as without. */
export function assertSame(traced: Outcome, bare: Outcome): void {
  const pick = ({ code, signal, stdout, stderr }: Outcome) => ({ code, signal, stdout, stderr });
  assert.deepEqual(pick(traced), pick(bare));
}

/**
 * The log is whole: it begins with `start`, ends with `end`, and that counts exactly what stands before it.
 *
 * @returns the last `end`
 */
export function assertWhole(records: readonly TraceRecord[]): EndRecord {
  assert.equal(records[0]?.phase, 'start');
  const end = records.at(-1) as EndRecord;
  assert.equal(end.phase, 'end');
  assert.deepEqual({ counts: end.counts, lost: end.lost }, { counts: countPhases(records), lost: 0 });
  return end;
}

export function countPhases(records: readonly TraceRecord[]): EndRecord['counts'] {
  const counts = { init: 0, before: 0, after: 0, destroy: 0, resolve: 0 };
  for (const { phase } of records) {
    if (phase in counts) counts[phase as keyof typeof counts]++;
  }
  return counts;
}
