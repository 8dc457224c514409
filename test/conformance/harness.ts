/**
 * Runs a program of test/fixtures/conformance under the listener and the tracer, in a process of its own, and gives
 * what both saw of each process and thread in it.
 */
import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { TraceRecord } from '../../lib/log/event';
import { type Expected, validateLog } from '../support/validate';
import type { Plan, Watched } from './listener';

export const FIXTURES = path.join(__dirname, '../../../test/fixtures/conformance');
const LISTENER = path.join(__dirname, 'listener.js');

/** A program that takes longer hangs: the slowest takes 2 s here. */
const TIMEOUT_MS = 60_000;

/** One process or thread of the program: what the listener saw, and the log of each tracer in it. */
export interface Run {
  watched: Watched;
  logs: TraceRecord[][];
}

const DEFAULTS: Omit<Plan, 'folder'> = {
  options: {},
  tracers: 1,
  destination: 'path',
  start: 'preload',
  destroy: true,
  end: 'exit',
};

/**
 * Runs `program` to its end. Every line of every log is held against the schema.
 *
 * @param program a file of test/fixtures/conformance
 * @throws where the program fails, prints to standard error, or a log is not valid
 */
export async function trace(program: string, plan: Partial<Plan> = {}): Promise<Run[]> {
  const folder = mkdtempSync(path.join(tmpdir(), 'async-tracer-conformance-'));
  try {
    await run(path.join(FIXTURES, program), { ...DEFAULTS, ...plan, folder });
    return collect(folder, plan.options ?? {});
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/**
 * Programs whose coverage of lib/ is reported, where coverage is measured: they reach what the others reach, and a
 * report of each of 500 runs would take minutes to merge.
 */
const COVERED = ['resources.js', 'toggle.js'];

function run(file: string, plan: Plan): Promise<void> {
  const flags = ['--expose-gc', '--expose-internals', '--no-deprecation'];
  const env: NodeJS.ProcessEnv = {
    ...process.env,
    CONFORMANCE: JSON.stringify(plan),
    NODE_OPTIONS: `--require=${JSON.stringify(LISTENER)}`,
  };
  // Undefined, not absent: Node hands the variable on to children whose env does not name it.
  if (!COVERED.includes(path.basename(file))) env['NODE_V8_COVERAGE'] = undefined;
  return new Promise((resolve, reject) => {
    execFile(process.execPath, [...flags, file], { env, timeout: TIMEOUT_MS }, (error, stdout, stderr) => {
      if (error === null && stderr === '') resolve();
      else reject(new Error(`${path.basename(file)} failed: ${error?.message}\n${stdout}\n${stderr}`));
    });
  });
}

function collect(folder: string, options: Record<string, unknown>): Run[] {
  const expected: Expected = { prefix: options['prefix'] as never, suffix: options['suffix'] as never };
  const files = readdirSync(folder).map((file) => path.join(folder, file));
  const runs = files
    .filter((file) => file.endsWith('.watched.json'))
    .map((file) => {
      const watched: Watched = JSON.parse(readFileSync(file, 'utf8'));
      return { watched, logs: watched.logs.map((log) => validateLog(log, expected)) };
    });
  const paired = new Set(runs.flatMap(({ watched }) => watched.logs));
  const orphans = files.filter((file) => file.endsWith('.ndjson') && !paired.has(file));
  if (orphans.length > 0) throw new Error(`${orphans} have no listener's dump beside them`);
  if (runs.length === 0) throw new Error('the listener wrote nothing: was it loaded?');
  return runs;
}
