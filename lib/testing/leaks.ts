/** Finds what a function leaves open. */
import { analyzeLeaks, type LeakRow } from '../analyze';
import { RUNNING } from '../analyze/leaks/verdict';
import { TracerError } from '../errors';
import { asyncTracer, isPlain, runAsOwnTagged, show } from '../trace';
import { collectGarbage } from './garbage';
import { MemoryLog } from './memory-log';
import { describeLeaks } from './message';
import { Scope } from './scope';

/** What `findLeaks` and `expectNoLeaks` count as a leak, and how long they wait for operations to end. */
export interface LeakOptions {
  /**
   * Known operations that are no leak: each is a text that is an op, an area, or part of the call site's
   * `function (file:line:column)`, with `*` for any text; or a RegExp that is tested on `op function (file:line:column)`.
   */
  allow?: readonly (string | RegExp)[];
  /**
   * Whether promises count that never settled and are still referenced after a garbage collection. Default false.
   */
  promises?: boolean;
  /** Milliseconds that operations have to end after the function has ended. The wait is over as soon as all have ended. Default 1000. */
  settleMs?: number;
}

/** Operations with the same op and call site, and the reason why they count as a leak. */
export type Leak = LeakRow;

/** Thrown by `expectNoLeaks`, with code ERR_ASYNC_TRACER_LEAK. */
export class LeakError extends TracerError {
  readonly leaks: readonly Leak[];

  constructor(leaks: readonly Leak[]) {
    super('ERR_ASYNC_TRACER_LEAK', describeLeaks(leaks));
    this.name = 'LeakError';
    this.leaks = leaks;
  }
}

const SETTLE_MS = 1000;
const FIRST_PAUSE_MS = 1;
const LONGEST_PAUSE_MS = 64;

// Taken at load: a test may replace them by fake timers.
const { setImmediate: soon, setTimeout: later } = globalThis;
const now = performance.now.bind(performance);

/** One turn of the event loop, after a pause. */
function turn(pauseMs: number): Promise<void> {
  return new Promise((resolve) => later(() => soon(resolve), pauseMs));
}

/**
 * Runs a function and returns the operations that it started, directly or indirectly, and did not end. Operations that
 * other code starts meanwhile do not count. Nor do operations that keep no process alive (an idle socket of an
 * http.Agent, a timer after `unref`) or that Node itself keeps (the handle behind process.stdout, a watcher for a signal).
 *
 * @returns `leaks`: a row for each op and call site that left something open, empty where there is none; `result`: what
 * the function returned, awaited
 * @throws whatever the function throws
 * @throws TracerError ERR_ASYNC_TRACER_OPTION for a wrong option, or where `work` is no function
 */
export async function findLeaks(
  work: () => unknown,
  options: LeakOptions = {},
): Promise<{ leaks: Leak[]; result: unknown }> {
  const { allow = [], promises = false, settleMs = SETTLE_MS } = check(work, options);
  const scope = new Scope();
  const log = new MemoryLog(scope, promises);
  const tracer = asyncTracer(log.stream, { stacks: true, resolve: promises, header: true });
  try {
    const running = scope.run(work);
    // A plain `await` makes a promise whose trigger is the function's promise: it would count as started by the function.
    const result = await runAsOwnTagged(async () => await running);
    const find = async (): Promise<Leak[]> => {
      tracer.flushSync();
      const { rows } = await analyzeLeaks(log.read(), { allow });
      return rows.filter(isOpen);
    };
    // Keeps the operations of this search out of the trace.
    const leaks = await runAsOwnTagged(() => settle(find, settleMs, promises));
    return { leaks, result };
  } finally {
    scope.close();
    await tracer.close();
  }
}

/** Searches again after growing pauses, until nothing is open or the time is over. */
async function settle(find: () => Promise<Leak[]>, settleMs: number, promises: boolean): Promise<Leak[]> {
  const end = now() + settleMs;
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
    if (promises) {
      collectGarbage();
    }
    // Node calls destroy hooks in a later turn than their cause.
    await turn(0);
    const leaks = await find();
    if (leaks.length === 0 || now() >= end) {
      return leaks.some(hasJustFired) ? searchAgain(find) : leaks;
    }
    await turn(pause);
  }
}

/** A timer has just fired, and only the next search shows whether that was the last time. */
function hasJustFired({ verdict, kind }: Leak): boolean {
  return verdict === 'unsure' && kind === 'timer';
}

function isOpen(leak: Leak): boolean {
  return leak.verdict === 'leak' || hasJustFired(leak);
}

/** The last search, two turns later: by then the destroy of a timer that fired for the last time has come. */
async function searchAgain(find: () => Promise<Leak[]>): Promise<Leak[]> {
  await turn(0);
  await turn(0);
  const leaks = await find();
  return leaks.map((leak) =>
    hasJustFired(leak) ? { ...leak, verdict: RUNNING.verdict, reason: RUNNING.reason } : leak,
  );
}

function check(work: unknown, options: LeakOptions): LeakOptions {
  const refuse = (message: string): never => {
    throw new TracerError('ERR_ASYNC_TRACER_OPTION', message);
  };
  if (typeof work !== 'function') {
    refuse(`What is looked at for leaks must be a function; got ${show(work)}.`);
  }
  if (!isPlain(options)) {
    refuse(`The options must be a plain object; got ${show(options)}.`);
  }
  const { settleMs = SETTLE_MS, promises = false, allow: _, ...rest } = options;
  const [unknown] = Object.keys(rest);
  if (unknown !== undefined) {
    refuse(`There is no option '${unknown}'. The options are allow, promises, settleMs.`);
  }
  if (typeof settleMs !== 'number' || !(settleMs >= 0 && settleMs < 2 ** 31)) {
    refuse(`The option 'settleMs' must be milliseconds, 0 or more; got ${show(settleMs)}.`);
  }
  if (typeof promises !== 'boolean') {
    refuse(`The option 'promises' must be true or false; got ${show(promises)}.`);
  }
  return options;
}

/**
 * Runs a function and returns its result, or throws where it leaves something open. For any test runner:
 *
 * @example it('closes its sockets', () => expectNoLeaks(async () => { await client.query(); await client.close(); }));
 * @throws LeakError (a TracerError with code ERR_ASYNC_TRACER_LEAK), which lists the leaks by call site
 * @throws whatever the function throws
 * @throws TracerError ERR_ASYNC_TRACER_OPTION as findLeaks does
 */
export async function expectNoLeaks<T>(work: () => T, options?: LeakOptions): Promise<Awaited<T>> {
  const { leaks, result } = await findLeaks(work, options);
  if (leaks.length > 0) {
    throw new LeakError(leaks);
  }
  return result as Awaited<T>;
}
