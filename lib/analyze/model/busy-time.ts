import type { Run } from './run';

/** For how long any callback of a run has run: to tell, of a stretch of time, how much of it the loop was at rest. */
export class BusyTime {
  /** Time inside callbacks before the outermost open one began. */
  #before = 0;

  /** A callback begins; it is not yet in `run.callbacks`. */
  before(run: Run): void {
    if (run.callbacks.depth === 0) {
      this.#before = run.busy;
    }
  }

  leaveRun(): void {
    this.#before = 0;
  }

  /** Until `time`, the open callback included. */
  at(run: Run, time: number): number {
    const open = run.callbacks.outermost();
    return open === undefined ? run.busy : this.#before + Math.max(0, time - open.start);
  }
}

/**
 * Splits the time of an operation and its descendants into three parts. Their sum is `elapsed`:
 *
 *     ran      one of them ran                    (their callbacks, less what was nested in them)
 *     queued   something else ran instead         (all callbacks in that time, less `ran`)
 *     waited   nothing ran: the loop was at rest  (the rest)
 *
 * @param busy for how long any callback ran in that time
 */
export function splitTime(
  elapsed: number,
  ran: number,
  busy: number,
): { elapsed: number; ran: number; queued: number; waited: number } {
  const ranTime = Math.min(ran, elapsed);
  const queued = Math.min(Math.max(0, busy - ranTime), elapsed - ranTime);
  return { elapsed, ran: ranTime, queued, waited: elapsed - ranTime - queued };
}
