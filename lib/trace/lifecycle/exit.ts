/**
 * What a process's end asks of the tracers that live. on-exit-leak-free calls us at exit, whichever way it came
 * about; it forgets others when one of its objects is collected, so it is given a single one that is never.
 *
 * Nothing is listened to while no tracer is open. No signal handler is ever installed: it would change what a signal
 * does to the program.
 */
import { register, unregister } from 'on-exit-leak-free';
import { runAsOwn, runAsOwnTagged } from '../runtime/own-operations';

export interface Ending {
  /** The exit code as it stands; undefined where it does not stand yet. */
  exitcode: number | undefined;
  /** What ended the process, if an error did. */
  error: { thrown: unknown } | undefined;
}

export interface ExitHandler {
  /** Called once, from within an exit listener. */
  finish(ending: Ending): void;
  /** Called behind that where it turns out that the process ends otherwise. */
  amend(ending: Ending): void;
  /** Hands on what there is; called where an exit was announced that is none. */
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
const finishers = new Set<ExitHandler>();
const holder = {};
let fatal: { thrown: unknown } | undefined;
/** Set once the end has come. */
let ending: Ending | undefined;

/** Whether the process ends: the listeners to 'exit' are being called, or have been. */
export function isExiting(): boolean {
  return (process as Exiting)._exiting === true;
}

function codeNow(): number | undefined {
  try {
    return toNumber(process.exitCode ?? 0);
  } catch {
    // A getter that the program has put there.
    return undefined;
  }
}

function onExit(): void {
  if (!isExiting()) {
    // Somebody emits 'exit' by hand, and the process lives on.
    tell((finisher) => finisher.flush());
    // on-exit-leak-free forgets us behind this call, and the process may end before the next tick.
    listenLast();
    later(() => {
      if (finishers.size > 0 && !isExiting()) {
        unregister(holder);
        register(holder, onExit);
      }
    });
    return;
  }
  finish({ exitcode: codeNow(), error: fatal });
}

function finish(how: Ending): void {
  if (ending === undefined) {
    ending = how;
    watchReallyExit();
    tell((finisher) => finisher.finish(how));
  }
}

/**
 * Exit listeners that stand behind ours can still change the code: test runners count their failures in one. Who sees
 * the last one depends on how the process ends: see `listenLast` and `watchReallyExit`.
 */
function amend(how: Ending): void {
  if (ending !== undefined && (how.exitcode !== ending.exitcode || how.error !== ending.error)) {
    ending = how;
    tell((finisher) => finisher.amend(how));
  }
}

function amendCode(exitcode: number | undefined): void {
  if (ending !== undefined) {
    amend({ exitcode, error: ending.error });
  }
}

/**
 * What is thrown here would change how the program ends. Where a tracer cannot be told, for want of stack or because
 * its stream throws, its log is what it would be after a kill; the others are told.
 */
function tell(how: (finisher: ExitHandler) => void): void {
  try {
    runAsOwn(() => {
      for (const finisher of finishers) {
        try {
          how(finisher);
        } catch {
          // See above.
        }
      }
    });
  } catch {
    // No stack for as much as that.
  }
}

/** At a natural end, who is called last is settled when the loop is idle, behind the other listeners to that. */
function onBeforeExit(): void {
  later(() => {
    if (finishers.size > 0) {
      listenLast();
    }
  });
}

/** Puts a listener behind those that there are: for ends without process.exit, and where the first one was forgotten. */
function listenLast(): void {
  process.removeListener('exit', onLast);
  process.on('exit', onLast);
}

function onLast(): void {
  if (isExiting()) {
    finish({ exitcode: codeNow(), error: fatal });
    amendCode(codeNow());
  }
}

/**
 * With process.exit, the last thing that it does, behind all listeners, is to look this function up and call it. A
 * natural end and an uncaught error do without.
 */
function watchReallyExit(): void {
  const its = process as unknown as Process;
  const { reallyExit } = its;
  try {
    its.reallyExit = (code) => {
      amendCode(code ?? 0);
      return reallyExit.call(process, code);
    };
  } catch {
    // The program has made it read-only: the code stays as our listener found it.
  }
}

/** Called before anybody handles the error: whether it ends the process shows when a tick comes after it, or none. */
function onFatal(thrown: unknown): void {
  fatal = { thrown };
  if (isExiting()) {
    // An exit listener has thrown: those behind it are not called any more, ours perhaps among them.
    finish({ exitcode: undefined, error: fatal });
    amend({ exitcode: undefined, error: fatal });
    return;
  }
  // Where a handler throws in its turn, nobody is called any more.
  tell((finisher) => finisher.flush());
  // Where nobody handles it, the exit listeners are called behind this.
  listenLast();
  later(() => {
    fatal = undefined;
  });
}

/** In no domain: Node would enter that of the error for it, and leave process.domain undefined where it was null. */
function later(work: () => void): void {
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

export function addExitHandler(finisher: ExitHandler): void {
  if (finishers.size === 0) {
    register(holder, onExit);
    process.on('uncaughtExceptionMonitor', onFatal);
    process.on('beforeExit', onBeforeExit);
  }
  finishers.add(finisher);
  if (ending !== undefined) {
    // Made by an exit listener: nobody is called after this.
    finisher.finish(ending);
  }
}

export function forget(finisher: ExitHandler): void {
  if (finishers.delete(finisher) && finishers.size === 0) {
    unregister(holder);
    process.removeListener('uncaughtExceptionMonitor', onFatal);
    process.removeListener('beforeExit', onBeforeExit);
    process.removeListener('exit', onLast);
  }
}
