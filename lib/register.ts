/**
 * The preload door: `node -r async-tracer/register app.js`, or `--import`, or either of them in NODE_OPTIONS, from where
 * child processes and worker threads have it too (worker threads of `--import`: see Node's own documentation).
 *
 * ASYNC_TRACER_OUTPUT  pattern of the log, by default async-tracer-%p-%t.ndjson in the current folder: see output.ts
 * ASYNC_TRACER_AFTER   begin after this time, as in 500ms or 2s, counted from the start of the first process
 * ASYNC_TRACER_FOR     end after this time of tracing
 * ASYNC_TRACER_...     any option of the library: ASYNC_TRACER_STACKS=10; `header` is true by default here
 *
 * One that is empty counts as not set.
 *
 * ASYNC_TRACER_BEGAN and ASYNC_TRACER_SESSION are set by us, for the processes that follow.
 *
 * A value that is refused is said on standard error, and the program runs untraced; a variable that is not known is
 * said once, and tracing goes on. npm, npx, pnpm, yarn and corepack are not traced themselves, what they start is; nor
 * is Node's own thread of module hooks (`module.register`).
 */
import { realpathSync, writeSync } from 'node:fs';
import * as threads from 'node:worker_threads';
import type { TracerError } from './errors';
import type * as Face from './trace';

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

function say(...lines: string[]): void {
  try {
    writeSync(STDERR, lines.map((line) => `async-tracer: ${line}\n`).join(''));
  } catch {
    // Nobody can be told.
  }
}

function startOrExplain(): Face.Tracer | undefined {
  try {
    // Here, where what a program did to the clocks before is explained and does not end it.
    const { preload } = require('./trace') as typeof Face;
    return preload().start(process.env, say);
  } catch (error) {
    const { code, message } = error as TracerError;
    say(`${message}${code === undefined ? '' : ` [${code}]`}`, 'the program runs untraced.');
    return undefined;
  }
}

/** The thread of module hooks. Before Node 22.14 it shows only by having no parent to talk to. */
function isInternalThread(): boolean {
  const told = (threads as { isInternalThread?: boolean }).isInternalThread;
  return told ?? (!threads.isMainThread && threads.parentPort === null);
}

/** The tracer of this thread: with ASYNC_TRACER_AUTOSTART=false the program itself enables it. Undefined where untraced. */
export const tracer: Face.Tracer | undefined =
  isInternalThread() || isPackageManager() ? undefined : startOrExplain();
