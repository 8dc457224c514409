/** Waiting for a reader: with the event loop for `flush()`, without it at the end of a process and for `overflow: 'block'`. */

/** A wait sleeps 1 ms at first, and at most this long while nothing moves. */
const SLEEP_MAX_MS = 16;

/** How often an awaited flush checks, and how long it continues while nothing moves. */
const CHECK_MS = 10;
const GIVE_UP_MS = 10_000;

// Taken at load: fake timers would never fire.
const startTimer = setTimeout;
const sleepCell = new Int32Array(new SharedArrayBuffer(4));
const { wait } = Atomics;
const { min } = Math;

/** Calls `step` until it returns 'done', or has returned 'stuck' for `waitMs`. Returns whether it is done. */
export function retryUntil(step: () => 'done' | 'moved' | 'stuck', waitMs: number): boolean {
  let idleMs = 0;
  let sleepMs = 1;
  for (;;) {
    const state = step();
    if (state === 'done') {
      return true;
    }
    if (state === 'moved') {
      idleMs = 0;
      sleepMs = 1;
      continue;
    }
    if (idleMs >= waitMs) {
      return false;
    }
    wait(sleepCell, 0, 0, sleepMs);
    idleMs += sleepMs;
    sleepMs = min(sleepMs * 2, SLEEP_MAX_MS);
  }
}

let timers = 0;

/** Timers that wait for a reader now: Node lists them among the active resources of the program. */
export function waitingTimers(): number {
  return timers;
}

/**
 * Resolves to true when `pendingBytes` is 0, to false when it has not become less for 10 seconds: a reader that has
 * stopped must not keep a program alive that awaits its last flush. The timer is referenced, since a program that awaits
 * a flush wants the process to stay until then.
 */
export function whenDrained(
  pendingBytes: () => number,
  runAsOwnTagged: <T>(work: () => T) => T,
): Promise<boolean> {
  let least = pendingBytes();
  if (least === 0) {
    return Promise.resolve(true);
  }
  let idleMs = 0;
  return new Promise((resolve) => {
    const start = (): void => {
      timers++;
      runAsOwnTagged(() => startTimer(check, CHECK_MS));
    };
    const check = (): void => {
      timers--;
      const now = pendingBytes();
      idleMs = now < least ? 0 : idleMs + CHECK_MS;
      least = min(least, now);
      if (now === 0 || idleMs >= GIVE_UP_MS) {
        resolve(now === 0);
        return;
      }
      start();
    };
    start();
  });
}
