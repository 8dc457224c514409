/** Starts the tracer of `register`, from the variables of the environment. */
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isMainThread, threadId } from 'node:worker_threads';
import { TracerError } from '../../errors';
import { OPTIONS, optionsFromEnvironment, variableOf } from '../options';
import { parseDuration, TIMER_MAX_MS } from '../options/duration';
import type * as Nearest from '../options/nearest-name';
import type { TracerOptions } from '../options/tracer-options';
import { DEFAULT_OUTPUT, FIRST_FILE, LOGS_FILE, outputOf, resolveOutput } from './output';
import { keepWindow, type Preloaded, type Window } from './time-window';

const PREFIX = 'ASYNC_TRACER_';
const VARIABLES = [...OPTIONS.map(({ name }) => name), 'output', 'after', 'for'].map(variableOf);
/** Set by async-tracer itself, for the processes that follow. */
const INTERNAL_VARIABLES = ['began', 'session'].map(variableOf);

/** Unknown variables may be meant for a later version, or for something else, so they do not prevent the trace. */
function printUnknown(environment: NodeJS.ProcessEnv, print: (line: string) => void): void {
  for (const name of Object.keys(environment)) {
    if (name.startsWith(PREFIX) && !VARIABLES.includes(name) && !INTERNAL_VARIABLES.includes(name)) {
      const { nearest } = require('../options/nearest-name') as typeof Nearest;
      const near = nearest(
        name.slice(PREFIX.length),
        VARIABLES.map((known) => known.slice(PREFIX.length)),
      );
      const meant = near === undefined ? '' : ` Is ${PREFIX}${near} meant?`;
      print(`the variable ${name} is unknown and ignored.${meant}`);
    }
  }
}

interface Beginning {
  /** Whether this is the first process: of the session, whose processes may be siblings, or else of its descendants. */
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
    // The system clock may have been set back in the meantime.
    return { first: false, began: Math.min(Number(began), now) };
  }
  if (session === undefined) {
    return { first: isMainThread, began: now };
  }
  const file = join(session, FIRST_FILE);
  try {
    writeFileSync(file, String(now), { flag: 'wx' });
    return { first: true, began: now };
  } catch {
    return { first: false, began: readNumber(file) ?? now };
  }
}

/** Undefined where the first process has not written it yet, or the session is over. */
function readNumber(file: string): number | undefined {
  try {
    return Number(readFileSync(file, 'utf8')) || undefined;
  } catch {
    return undefined;
  }
}

/** The window of this process, counted from now; undefined where it is over already. */
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

/**
 * Starts the tracer of this thread; returns undefined where its window is over.
 *
 * @param createTracer as asyncTracer
 * @param print prints a line for the user
 * @throws TracerError as asyncTracer does, and where the value of an ASYNC_TRACER_* variable is refused
 */
export function start<T extends Preloaded>(
  createTracer: (path: string, options: TracerOptions) => T,
  environment: NodeJS.ProcessEnv,
  print: (line: string) => void,
): T | undefined {
  const options = { header: true, ...optionsFromEnvironment(environment) };
  const pattern = resolveOutput(environment['ASYNC_TRACER_OUTPUT'] || DEFAULT_OUTPUT, process.cwd());
  const { first, began } = beginningOf(environment);
  const window = windowOf(environment, began);
  if (window === undefined) {
    return undefined;
  }
  const { pid } = process;
  if (first) {
    printUnknown(environment, print);
  }
  const path = outputOf(pattern, { pid, thread: threadId, first });
  environment['ASYNC_TRACER_OUTPUT'] = pattern;
  environment['ASYNC_TRACER_BEGAN'] = String(began);
  const tracer = createTracer(path, window.opensIn > 0 ? { ...options, autostart: false } : options);
  keepWindow(tracer, window);
  reportLog(environment, path);
  return tracer;
}

/** For `async-tracer run`, which prints where the logs are. */
function reportLog({ ASYNC_TRACER_SESSION: session }: NodeJS.ProcessEnv, path: string): void {
  if (session !== undefined) {
    try {
      appendFileSync(join(session, LOGS_FILE), `${JSON.stringify(path)}\n`);
    } catch {
      // The command has ended before this process.
    }
  }
}
