/**
 * The entry point for preloading: `node -r async-tracer/register app.js`, or `--import`, or either of them in
 * NODE_OPTIONS, which child processes and worker threads inherit (for `--import` in worker threads see Node's
 * documentation).
 *
 * ASYNC_TRACER_OUTPUT  pattern of the log, by default async-tracer-%p-%t.ndjson in the current folder: see output.ts
 * ASYNC_TRACER_AFTER   begin after this time, as in 500ms or 2s, counted from the start of the first process
 * ASYNC_TRACER_FOR     end after this time of tracing
 * ASYNC_TRACER_...     any option of the library: ASYNC_TRACER_STACKS=10; `header` is true by default here
 *
 * An empty variable counts as not set.
 *
 * async-tracer itself sets ASYNC_TRACER_BEGAN and ASYNC_TRACER_SESSION, for the processes that follow.
 *
 * If a value is refused, the error is printed to standard error and the program runs untraced. An unknown variable is
 * printed once, and tracing continues. npm, npx, pnpm, yarn and corepack are not traced, but what they start is. Node's
 * thread of module hooks (`module.register`) is not traced.
 */
import { realpathSync, writeSync } from 'node:fs';
import * as threads from 'node:worker_threads';
import type { TracerError } from './errors';
import type * as Trace from './trace';

const STDERR = 2;

function isPackageManager(): boolean {
  const [, script] = process.argv;
  if (script === undefined) {
    return false;
  }
  try {
    return /[\\/](?:(?:npm|pnpm|yarn|corepack)[\\/](?:bin|dist)|\.yarn[\\/]releases)[\\/][^\\/]+$/.test(
      realpathSync(script),
    );
  } catch {
    return false;
  }
}

function print(...lines: string[]): void {
  try {
    writeSync(STDERR, lines.map((line) => `async-tracer: ${line}\n`).join(''));
  } catch {
    // Standard error is closed.
  }
}

function startOrExplain(): Trace.Tracer | undefined {
  try {
    // Loaded here, so that an error of loading (the program may have faked the clocks before) is printed and not thrown.
    const { preload } = require('./trace') as typeof Trace;
    return preload(process.env, print);
  } catch (error) {
    const { code, message } = error as TracerError;
    print(`${message}${code === undefined ? '' : ` [${code}]`}`, 'the program runs untraced.');
    return undefined;
  }
}

/** Whether this is the thread of module hooks. Before Node 22.14 the only sign is that it has no parent port. */
function isInternalThread(): boolean {
  const isInternal = (threads as { isInternalThread?: boolean }).isInternalThread;
  return isInternal ?? (!threads.isMainThread && threads.parentPort === null);
}

/** The tracer of this thread; undefined where it is not traced. With ASYNC_TRACER_AUTOSTART=false the program enables it. */
export const tracer: Trace.Tracer | undefined =
  isInternalThread() || isPackageManager() ? undefined : startOrExplain();
