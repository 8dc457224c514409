/** Waiting for a reader: with the event loop, for `flush()`, and without it, for ends of processes and `overflow`. */

/** A wait sleeps 1 ms at first, and up to this long while nothing moves. */
const SLEEP_MAX_MS = 16;

/** How often a flush that is awaited looks again, and how long it goes on while nothing moves. */
const LOOK_MS = 10;
const GIVE_UP_MS = 10_000;

// Taken at load: fake timers would never come.
const startTimer = setTimeout;
const asleep = new Int32Array(new SharedArrayBuffer(4));
const { wait } = Atomics;
const { min } = Math;

/** Calls `step` until it says 'done', or until it has said 'stuck' for `waitMs`. Returns whether it is done. */
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
    wait(asleep, 0, 0, sleepMs);
    idleMs += sleepMs;
    sleepMs = min(sleepMs * 2, SLEEP_MAX_MS);
  }
}

/**
 * Resolves to true when `heldBytes` is 0, to false when it has not become less for 10 seconds: a reader that has stopped
 * must not keep a program that awaits its last flush. The timer is referenced, since who awaits a flush wants the process to stay.
 */
export function whenDrained(
  heldBytes: () => number,
  runAsOwnTagged: <T>(work: () => T) => T,
): Promise<boolean> {
  let least = heldBytes();
  if (least === 0) {
    return Promise.resolve(true);
  }
  let idleMs = 0;
  return new Promise((resolve) => {
    const look = (): void => {
      const now = heldBytes();
      idleMs = now < least ? 0 : idleMs + LOOK_MS;
      least = min(least, now);
      if (now === 0 || idleMs >= GIVE_UP_MS) {
        resolve(now === 0);
        return;
      }
      runAsOwnTagged(() => startTimer(look, LOOK_MS));
    };
    runAsOwnTagged(() => startTimer(look, LOOK_MS));
  });
}
