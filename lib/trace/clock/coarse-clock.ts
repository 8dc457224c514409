/** The clock of `clock: 'coarse'`: the time in steps of 1 ms, stored by a thread. */
import { anchor, monotonicNs } from './anchor';
import { type Clock, SLOTS, SPARE } from './clock';
import { startTicker } from './ticker';
import { micros, putMilliseconds } from './time-text';

const { floor, max } = Math;

/** Until the thread runs, the time is read from the precise clock and cut to the millisecond. */
export function createCoarseClock(): Clock {
  const ticker = startTicker(anchor.monotonicNs);
  const text = new Float64Array(2);
  const fraction = new Int32Array(1);
  fraction[0] = micros[0];
  const times = new Float64Array(SLOTS);
  let latest = 0;
  let shown = -1;

  function capture(slot: number): void {
    const milliseconds = ticker.read();
    if (milliseconds > latest) {
      latest = milliseconds;
    } else if (milliseconds === 0) {
      // The thread does not run yet. When it does, it may be a step behind what was read here.
      latest = max(latest, floor((monotonicNs() - anchor.monotonicNs) / 1e6));
    }
    times[slot] = latest;
  }

  function read(slot: number): void {
    if (times[slot] !== shown) {
      shown = times[slot];
      putMilliseconds(text, floor(anchor.epochUs / 1000) + shown);
    }
  }

  function tick(): void {
    capture(SPARE);
    read(SPARE);
  }

  // A load is cheaper than the copy of a slot.
  return { text, fraction, capture, share: capture, read, tick, stop: ticker.stop };
}
