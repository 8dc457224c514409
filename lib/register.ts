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
import { appendFileSync, readFileSync, realpathSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import * as threads from 'node:worker_threads';
import { TracerError } from './errors';
import type * as Index from './index';
import { parseDuration, TIMER_MAX_MS } from './trace/duration';
import type * as Nearest from './trace/nearest';
import { OPTIONS, optionsFromEnvironment, variableOf } from './trace/options';
import { DEFAULT_OUTPUT, FIRST_FILE, LOGS_FILE, outputOf, resolveOutput } from './trace/output';
import type { Tracer } from './trace/tracer';
import { keepWindow, type Window } from './trace/window';

const STDERR = 2;
const PREFIX = 'ASYNC_TRACER_';
const VARIABLES = [...OPTIONS.map(({ name }) => name), 'output', 'after', 'for'].map(variableOf);
const OWN_VARIABLES = ['began', 'session'].map(variableOf);

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

/** They may be meant for a later version, or for something else: no reason to go without a trace. */
function sayUnknown(environment: NodeJS.ProcessEnv): void {
  for (const name of Object.keys(environment)) {
    if (name.startsWith(PREFIX) && !VARIABLES.includes(name) && !OWN_VARIABLES.includes(name)) {
      const { nearest } = require('./trace/nearest') as typeof Nearest;
      const near = nearest(
        name.slice(PREFIX.length),
        VARIABLES.map((known) => known.slice(PREFIX.length)),
      );
      const meant = near === undefined ? '' : ` Is ${PREFIX}${near} meant?`;
      say(`the variable ${name} is not known, and passed over.${meant}`);
    }
  }
}

function say(...lines: string[]): void {
  try {
    writeSync(STDERR, lines.map((line) => `async-tracer: ${line}\n`).join(''));
  } catch {
    // Nobody can be told.
  }
}

interface Beginning {
  /** Whether this is the first process: of the session, whose processes may be siblings, or of its own line. */
  first: boolean;
  /** When the first process began, in milliseconds since the epoch. */
  began: number;
}

function beginningOf(environment: NodeJS.ProcessEnv): Beginning {
  const { ASYNC_TRACER_SESSION: session, ASYNC_TRACER_BEGAN: began } = environment;
  const now = Date.now();
  if (began !== undefined && began !== '') {
    if (!/^\d{1,15}$/.test(began)) {
      throw new TracerError(
        'ERR_ASYNC_TRACER_OPTION',
        `ASYNC_TRACER_BEGAN is set by async-tracer, to milliseconds since the epoch, for the processes that follow; got ${JSON.stringify(began)}. Take it away.`,
      );
    }
    // The system's clock may have been set back meanwhile.
    return { first: false, began: Math.min(Number(began), now) };
  }
  if (session === undefined) {
    return { first: threads.isMainThread, began: now };
  }
  const file = join(session, FIRST_FILE);
  try {
    writeFileSync(file, String(now), { flag: 'wx' });
    return { first: true, began: now };
  } catch {
    return { first: false, began: readNumber(file) ?? now };
  }
}

/** Undefined where the first one has not come to write it yet, or the session is over. */
function readNumber(file: string): number | undefined {
  try {
    return Number(readFileSync(file, 'utf8')) || undefined;
  } catch {
    return undefined;
  }
}

/** From now on; undefined where it is over already. */
function windowOf(environment: NodeJS.ProcessEnv, began: number): Window | undefined {
  const after = environment['ASYNC_TRACER_AFTER'] || undefined;
  const length = environment['ASYNC_TRACER_FOR'] || undefined;
  const opensIn = after === undefined ? 0 : parseDuration(after, 'ASYNC_TRACER_AFTER');
  const passed = after === undefined && length === undefined ? 0 : Date.now() - began;
  if (length === undefined) {
    return { opensIn: opensIn - passed, closesIn: undefined };
  }
  const closes = opensIn + parseDuration(length, 'ASYNC_TRACER_FOR');
  if (closes > TIMER_MAX_MS) {
    throw new TracerError(
      'ERR_ASYNC_TRACER_OPTION',
      `ASYNC_TRACER_AFTER and ASYNC_TRACER_FOR must be at most 24 days together; got ${JSON.stringify(after)} and ${JSON.stringify(length)}.`,
    );
  }
  const closesIn = closes - passed;
  return closesIn > 0 ? { opensIn: opensIn - passed, closesIn } : undefined;
}

function start(environment: NodeJS.ProcessEnv): Tracer | undefined {
  const options = { header: true, ...optionsFromEnvironment(environment) };
  const pattern = resolveOutput(environment['ASYNC_TRACER_OUTPUT'] || DEFAULT_OUTPUT, process.cwd());
  const { first, began } = beginningOf(environment);
  const window = windowOf(environment, began);
  if (window === undefined) {
    return undefined;
  }
  const { pid } = process;
  if (first) {
    sayUnknown(environment);
  }
  const path = outputOf(pattern, { pid, thread: threads.threadId, first });
  environment['ASYNC_TRACER_OUTPUT'] = pattern;
  environment['ASYNC_TRACER_BEGAN'] = String(began);
  // Here, where what a program did to the clocks before is explained and does not end it.
  const { asyncTracer } = require('./index') as typeof Index;
  const tracer = asyncTracer(path, window.opensIn > 0 ? { ...options, autostart: false } : options);
  keepWindow(tracer, window);
  record(environment, path);
  return tracer;
}

/** For `async-tracer run`, which says where the logs are. */
function record({ ASYNC_TRACER_SESSION: session }: NodeJS.ProcessEnv, path: string): void {
  if (session !== undefined) {
    try {
      appendFileSync(join(session, LOGS_FILE), `${JSON.stringify(path)}\n`);
    } catch {
      // The command is gone already; this process has outlived it.
    }
  }
}

function startOrExplain(): Tracer | undefined {
  try {
    return start(process.env);
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
export const tracer: Tracer | undefined =
  isInternalThread() || isPackageManager() ? undefined : startOrExplain();
