/**
 * What a process's end asks of the tracers that live. on-exit-leak-free calls us at exit, whichever way it came
 * about; it forgets others when one of its objects is collected, so it is given a single one that is never.
 *
 * Nothing is listened to while no tracer is open. No signal handler is ever installed: it would change what a signal
 * does to the program.
 */
import { register, unregister } from 'on-exit-leak-free';
import { asClaimed, asOwn } from './own';

export interface Ending {
  /** The exit code as it stands; undefined where it does not stand yet. */
  exitcode: number | undefined;
  /** What ended the process, if an error did. */
  error: { thrown: unknown } | undefined;
}

export interface Finisher {
  /** Called once, from within an exit listener. */
  finish(ending: Ending): void;
  /** Hands on what there is; called where an exit was announced that is none. */
  flush(): void;
}

interface Exiting {
  _exiting?: boolean;
}

const { nextTick } = process;
const finishers = new Set<Finisher>();
const holder = {};
let fatal: { thrown: unknown } | undefined;
/** Set once the end has come. */
let ending: Ending | undefined;

function isExiting(): boolean {
  return (process as Exiting)._exiting === true;
}

function onExit(): void {
  if (!isExiting()) {
    // Somebody emits 'exit' by hand, and the process lives on.
    for (const finisher of finishers) {
      finisher.flush();
    }
    later(() => {
      if (finishers.size > 0 && !isExiting()) {
        unregister(holder);
        register(holder, onExit);
      }
    });
    return;
  }
  finish({ exitcode: Number(process.exitCode ?? 0), error: fatal });
}

function finish(how: Ending): void {
  if (ending !== undefined) {
    return;
  }
  ending = how;
  asOwn(() => {
    for (const finisher of finishers) {
      finisher.finish(how);
    }
  });
}

/** Called before anybody handles the error: whether it ends the process shows when a tick comes after it, or none. */
function onFatal(thrown: unknown): void {
  fatal = { thrown };
  if (isExiting()) {
    // An exit listener that stands before ours has thrown: ours is not called any more.
    finish({ exitcode: undefined, error: fatal });
    return;
  }
  // Where a handler throws in its turn, nobody is called any more.
  for (const finisher of finishers) {
    finisher.flush();
  }
  later(() => {
    fatal = undefined;
  });
}

function later(work: () => void): void {
  asClaimed(() => nextTick.call(process, work));
}

export function finishAtExit(finisher: Finisher): void {
  if (finishers.size === 0) {
    register(holder, onExit);
    process.on('uncaughtExceptionMonitor', onFatal);
  }
  finishers.add(finisher);
  if (ending !== undefined) {
    // Made by an exit listener: nobody is called after this.
    finisher.finish(ending);
  }
}

export function forget(finisher: Finisher): void {
  if (finishers.delete(finisher) && finishers.size === 0) {
    unregister(holder);
    process.removeListener('uncaughtExceptionMonitor', onFatal);
  }
}
