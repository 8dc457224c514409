/**
 * The end of the process, reported to every open tracer. on-exit-leak-free calls `onExit` at every kind of exit; it forgets
 * other registrations when a registered object is collected, so it gets a single object that never is.
 *
 * No listener is installed while no tracer is open. No signal handler is ever installed: it would change what a signal
 * does to the program.
 */
import { register, unregister } from 'on-exit-leak-free';
import { runAsOwn, runAsOwnTagged } from '../runtime/own-operations';

export interface Ending {
  /** The exit code at this moment; undefined where it is not known yet. */
  exitcode: number | undefined;
  /** What ended the process, if an error did. */
  error: { thrown: unknown } | undefined;
}

export interface ExitHandler {
  /** Called once, from an exit listener. */
  onExit(ending: Ending): void;
  /** Called after `onExit` if a later exit listener changes how the process ends. */
  onEndingChanged(ending: Ending): void;
  /** Writes what is buffered. Called where an exit was announced that may not happen. */
  flush(): void;
}

interface Exiting {
  _exiting?: boolean;
}

interface Process {
  reallyExit(code?: number): never;
}

const { nextTick } = process;
const toNumber = Number;
const handlers = new Set<ExitHandler>();
const registration = {};
let fatal: { thrown: unknown } | undefined;
/** Set when the process ends. */
let ending: Ending | undefined;

/** Whether the process ends: the listeners to 'exit' are being called, or have been. */
export function isExiting(): boolean {
  return (process as Exiting)._exiting === true;
}

function codeNow(): number | undefined {
  try {
    return toNumber(process.exitCode ?? 0);
  } catch {
    // The program has made exitCode a getter that throws.
    return undefined;
  }
}

function onExit(): void {
  if (!isExiting()) {
    // Some code emits 'exit', and the process goes on.
    callHandlers((handler) => handler.flush());
    // on-exit-leak-free unregisters us after this call, and the process may end before the next tick.
    listenLast();
    runNextTick(() => {
      if (handlers.size > 0 && !isExiting()) {
        unregister(registration);
        register(registration, onExit);
      }
    });
    return;
  }
  reportEnding({ exitcode: codeNow(), error: fatal });
}

function reportEnding(how: Ending): void {
  if (ending === undefined) {
    ending = how;
    watchReallyExit();
    callHandlers((handler) => handler.onExit(how));
  }
}

/**
 * Exit listeners after ours can still change the code: test runners count their failures in one. Which code runs last
 * depends on how the process ends: see `listenLast` and `watchReallyExit`.
 */
function updateEnding(how: Ending): void {
  if (ending !== undefined && (how.exitcode !== ending.exitcode || how.error !== ending.error)) {
    ending = how;
    callHandlers((handler) => handler.onEndingChanged(how));
  }
}

function updateExitCode(exitcode: number | undefined): void {
  if (ending !== undefined) {
    updateEnding({ exitcode, error: ending.error });
  }
}

/**
 * An error thrown here would change how the program ends. Where a handler throws, for lack of stack or because its stream
 * throws, its log is what it would be after a kill; the other handlers are still called.
 */
function callHandlers(call: (handler: ExitHandler) => void): void {
  try {
    runAsOwn(() => {
      for (const handler of handlers) {
        try {
          call(handler);
        } catch {
          // See above.
        }
      }
    });
  } catch {
    // No stack left for the loop itself.
  }
}

/** At a natural end the last listener can be added when the loop is idle, after the other listeners to 'beforeExit'. */
function onBeforeExit(): void {
  runNextTick(() => {
    if (handlers.size > 0) {
      listenLast();
    }
  });
}

/** Moves a listener behind all others: for ends without process.exit, and where on-exit-leak-free has unregistered us. */
function listenLast(): void {
  process.removeListener('exit', onLast);
  process.on('exit', onLast);
}

function onLast(): void {
  if (isExiting()) {
    reportEnding({ exitcode: codeNow(), error: fatal });
    updateExitCode(codeNow());
  }
}

/**
 * process.exit looks this function up and calls it after all listeners. A natural end and an uncaught error do not call
 * it.
 */
function watchReallyExit(): void {
  const target = process as unknown as Process;
  const { reallyExit } = target;
  try {
    target.reallyExit = (code) => {
      updateExitCode(code ?? 0);
      return reallyExit.call(process, code);
    };
  } catch {
    // The program has made it read-only: the code stays as our listener found it.
  }
}

/** Called before the program can handle the error. If a tick follows, the error has not ended the process. */
function onFatal(thrown: unknown): void {
  fatal = { thrown };
  if (isExiting()) {
    // An exit listener has thrown: the listeners after it are not called, and ours may be among them.
    reportEnding({ exitcode: undefined, error: fatal });
    updateEnding({ exitcode: undefined, error: fatal });
    return;
  }
  // If a handler of the program throws too, no exit listener is called.
  callHandlers((handler) => handler.flush());
  // If the program does not handle the error, the exit listeners are called next.
  listenLast();
  runNextTick(() => {
    fatal = undefined;
  });
}

/** Outside of any domain: Node would enter the domain of the error, and leave process.domain undefined where it was null. */
function runNextTick(work: () => void): void {
  const holder = process as { domain?: unknown };
  const { domain } = holder;
  if (domain == null) {
    runAsOwnTagged(() => nextTick.call(process, work));
    return;
  }
  holder.domain = null;
  try {
    runAsOwnTagged(() => nextTick.call(process, work));
  } finally {
    holder.domain = domain;
  }
}

export function addExitHandler(handler: ExitHandler): void {
  if (handlers.size === 0) {
    register(registration, onExit);
    process.on('uncaughtExceptionMonitor', onFatal);
    process.on('beforeExit', onBeforeExit);
  }
  handlers.add(handler);
  if (ending !== undefined) {
    // Added by an exit listener: no listener of ours is called after this.
    handler.onExit(ending);
  }
}

export function removeExitHandler(handler: ExitHandler): void {
  if (handlers.delete(handler) && handlers.size === 0) {
    unregister(registration);
    process.removeListener('uncaughtExceptionMonitor', onFatal);
    process.removeListener('beforeExit', onBeforeExit);
    process.removeListener('exit', onLast);
  }
}
