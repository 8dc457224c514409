/**
 * What a process's end asks of the tracers that live. on-exit-leak-free calls us at exit, whichever way it came
 * about; it forgets others when one of its objects is collected, so it is given a single one that is never.
 *
 * Nothing is listened to while no tracer is open. No signal handler is ever installed: it would change what a signal
 * does to the program.
 */
import { register, unregister } from 'on-exit-leak-free';
import { asOwn } from './own';

export interface Ending {
  /** The exit code as it stands. */
  exitcode: number;
  /** What ended the process, if an error did. */
  error: { thrown: unknown } | undefined;
}

export interface Finisher {
  /** Called once, from within an exit listener. Whether it wants to be told of errors. */
  finish(ending: Ending): void;
  readonly wantsError: boolean;
}

const finishers = new Set<Finisher>();
const holder = {};
let fatal: { thrown: unknown } | undefined;
let watching = false;

function onExit(): void {
  const { exitCode } = process;
  const ending = { exitcode: Number(exitCode ?? 0), error: fatal };
  asOwn(() => {
    for (const finisher of finishers) {
      finisher.finish(ending);
    }
  });
}

/** Called before anybody handles the error: whether it ends the process shows when a tick comes after it, or none. */
function onFatal(thrown: unknown): void {
  fatal = { thrown };
  asOwn(() =>
    process.nextTick(() => {
      fatal = undefined;
    }),
  );
}

function watch(): void {
  const wanted = [...finishers].some((finisher) => finisher.wantsError);
  if (wanted && !watching) {
    process.on('uncaughtExceptionMonitor', onFatal);
  } else if (!wanted && watching) {
    process.removeListener('uncaughtExceptionMonitor', onFatal);
  }
  watching = wanted;
}

export function finishAtExit(finisher: Finisher): void {
  if (finishers.size === 0) {
    register(holder, onExit);
  }
  finishers.add(finisher);
  watch();
}

export function forget(finisher: Finisher): void {
  if (finishers.delete(finisher) && finishers.size === 0) {
    unregister(holder);
  }
  watch();
}
