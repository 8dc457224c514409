/** The clock of `clock: 'precise'`: each event reads the monotonic clock. */
import { anchor, HIGH } from './anchor';
import { type Clock, SLOTS, SPARE } from './clock';
import { micros, putMilliseconds } from './time-text';

const { bigint } = process.hrtime;
const { floor } = Math;

/** No reading has this value as its upper half. */
const NEVER = 0xffffffff;

export function createPreciseClock(): Clock {
  // A local: what a module imports is a property that each use loads anew.
  const fractions = micros;
  const text = new Float64Array(2);
  const fraction = new Int32Array(1);
  const times = new BigInt64Array(SLOTS);
  const halves = new Uint32Array(times.buffer);
  // The nanosecond at which the millisecond of `text` begins, in halves: doubles in a closure would be allocated.
  const start = Uint32Array.of(0, NEVER);

  function readNewMillisecond(low: number, high: number): void {
    const nowNs = high * HIGH + low;
    const epochUs = anchor.epochUs + floor((nowNs - anchor.monotonicNs) / 1000);
    const epochMs = floor(epochUs / 1000);
    putMilliseconds(text, epochMs);
    fraction[0] = fractions[epochUs - epochMs * 1000];
    const startNs = anchor.monotonicNs + (epochMs * 1000 - anchor.epochUs) * 1000;
    start[1] = floor(startNs / HIGH);
    start[0] = startNs - start[1] * HIGH;
  }

  function capture(slot: number): void {
    times[slot] = bigint();
  }

  function share(slot: number): void {
    halves[slot * 2] = halves[slot * 2 - 2];
    halves[slot * 2 + 1] = halves[slot * 2 - 1];
  }

  function read(slot: number): void {
    const low = halves[slot * 2];
    const high = halves[slot * 2 + 1];
    // In integers: as doubles, comparison and division were a third of encodeRun (await on Node 20, by a profile).
    const elapsed = (low - start[0]) | 0;
    if (high === start[1] && low >= start[0] && elapsed >= 0 && elapsed < 1_000_000) {
      fraction[0] = fractions[(elapsed / 1000) | 0];
    } else {
      readNewMillisecond(low, high);
    }
  }

  function tick(): void {
    capture(SPARE);
    read(SPARE);
  }

  return { text, fraction, capture, share, read, tick, stop() {} };
}
