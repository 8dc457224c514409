/** What `register` starts, from the variables of the environment. */
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isMainThread, threadId } from 'node:worker_threads';
import { TracerError } from '../../errors';
import { asyncTracer } from '..';
import { OPTIONS, optionsFromEnvironment, variableOf } from '../options';
import { parseDuration, TIMER_MAX_MS } from '../options/duration';
import type * as Nearest from '../options/nearest-name';
import type { Tracer } from '../tracer/tracer';
import { DEFAULT_OUTPUT, FIRST_FILE, LOGS_FILE, outputOf, resolveOutput } from './output';
import { keepWindow, type Window } from './window';

const PREFIX = 'ASYNC_TRACER_';
const VARIABLES = [...OPTIONS.map(({ name }) => name), 'output', 'after', 'for'].map(variableOf);
const OWN_VARIABLES = ['began', 'session'].map(variableOf);

/** They may be meant for a later version, or for something else: no reason to go without a trace. */
function sayUnknown(environment: NodeJS.ProcessEnv, say: (line: string) => void): void {
  for (const name of Object.keys(environment)) {
    if (name.startsWith(PREFIX) && !VARIABLES.includes(name) && !OWN_VARIABLES.includes(name)) {
      const { nearest } = require('../options/nearest-name') as typeof Nearest;
      const near = nearest(
        name.slice(PREFIX.length),
        VARIABLES.map((known) => known.slice(PREFIX.length)),
      );
      const meant = near === undefined ? '' : ` Is ${PREFIX}${near} meant?`;
      say(`the variable ${name} is not known, and passed over.${meant}`);
    }
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

/**
 * The tracer of this thread; undefined where its window is over.
 *
 * @param say tells the user a line
 * @throws TracerError as asyncTracer does, and for a variable of our own that is refused
 */
export function start(environment: NodeJS.ProcessEnv, say: (line: string) => void): Tracer | undefined {
  const options = { header: true, ...optionsFromEnvironment(environment) };
  const pattern = resolveOutput(environment['ASYNC_TRACER_OUTPUT'] || DEFAULT_OUTPUT, process.cwd());
  const { first, began } = beginningOf(environment);
  const window = windowOf(environment, began);
  if (window === undefined) {
    return undefined;
  }
  const { pid } = process;
  if (first) {
    sayUnknown(environment, say);
  }
  const path = outputOf(pattern, { pid, thread: threadId, first });
  environment['ASYNC_TRACER_OUTPUT'] = pattern;
  environment['ASYNC_TRACER_BEGAN'] = String(began);
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
