/** The command as a person runs it, in a folder of its own. */
import { type SpawnSyncOptions, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after } from 'node:test';
import type { StartRecord, TraceRecord } from '../../lib/log/event';

export const ROOT = path.join(__dirname, '../../..');
export const MAIN = path.join(ROOT, 'dist/lib/cli/main.js');
export const REGISTER = path.join(ROOT, 'dist/lib/register.js');
export const FIXTURES = path.join(ROOT, 'test/fixtures/cli');

/** A hang is a failure. */
const TIMEOUT_MS = 60_000;

export interface Outcome {
  status: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
}

/** A folder that is gone after the tests of the file. */
export function temporaryFolder(name = 'async-tracer-cli-'): string {
  const folder = realpathSync(mkdtempSync(path.join(tmpdir(), name)));
  after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** The environment without what would change the answers: of the test runner, of the person's taste. */
export function environment(more: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(
    ([name]) => !/^(NODE_(?!V8_COVERAGE$)|ASYNC_TRACER_|FORCE_COLOR$|NO_COLOR$|COLUMNS$|npm_)/.test(name),
  );
  return { ...Object.fromEntries(own), ...more };
}

export function node(args: readonly string[], options: SpawnSyncOptions = {}): Outcome {
  const { env, ...rest } = options;
  const { status, signal, stdout, stderr } = spawnSync(process.execPath, args, {
    timeout: TIMEOUT_MS,
    maxBuffer: 2 ** 28,
    ...rest,
    env: environment(env),
    encoding: 'utf8',
  });
  return { status, signal, stdout, stderr };
}

export function command(args: readonly string[], options: SpawnSyncOptions = {}): Outcome {
  return node([MAIN, ...args], options);
}

export function recordsOf(file: string): TraceRecord[] {
  const lines = readFileSync(file, 'utf8').split('\n');
  return lines.slice(0, -1).map((line) => JSON.parse(line) as TraceRecord);
}

/** What each log of a folder says of its writer, by the name of its file. */
export function startsOf(folder: string): Map<string, StartRecord> {
  const files = readdirSync(folder).filter((file) => file.endsWith('.ndjson'));
  return new Map(files.sort().map((file) => [file, recordsOf(path.join(folder, file))[0] as StartRecord]));
}
