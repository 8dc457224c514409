/**
 * The time of a record as text that is ready to be stored: "1764486000123.456", milliseconds since the epoch.
 *
 * ```
 *  17644860 | 00123 | .456        text[0]: 8 bytes   text[1]: 5 bytes   fraction[0]: 4 bytes
 * ```
 * `text` holds bytes as doubles, the widest store there is (see encoder.ts), `fraction` as a word. The upper digits change once a
 * millisecond, so almost every read costs the system call, one division and one load from a table of 1,000.
 */

import { TracerError } from '../../errors';
import type * as TickerModule from './ticker';
import type { Ticker } from './ticker';

/** The read functions are taken at load: a program may put fake timers in their place later. */
const { now } = performance;
const { bigint } = process.hrtime;

/**
 * process.hrtime.bigint() into a view, read back as two halves: V8 leaves out the BigInt between them. 32 ns a
 * read against 42 for performance.now() on Node 20 and 22 (benchmark: `parts`).
 */
const wide = new BigInt64Array(1);
const half = new Uint32Array(wide.buffer);
const HIGH = 4294967296;
const { floor, max } = Math;

const ANCHOR_READINGS = 8;

/**
 * Where wall time and the monotonic clock meet, in whole units so that no sum rounds. Taken once, so that the times
 * of all tracers of a thread compare.
 */
export const anchor = takeAnchor();

/**
 * Between two readings the process may have to wait for a core, 120 ms seen on a machine under load: of several pairs the
 * one is kept whose readings were closest together.
 */
function takeAnchor(): { epochUs: number; monotonicNs: number } {
  let closest = { epochUs: 0, monotonicNs: 0, gapNs: Number.POSITIVE_INFINITY };
  for (let i = 0; i < ANCHOR_READINGS; i++) {
    const before = monotonicNs();
    const epochUs = Math.floor((performance.timeOrigin + now.call(performance)) * 1000);
    const gapNs = monotonicNs() - before;
    if (gapNs < closest.gapNs) {
      closest = { epochUs, monotonicNs: before, gapNs };
    }
  }
  return closest;
}

/**
 * @throws TracerError ERR_ASYNC_TRACER_UNSUPPORTED where the times of this process cannot be written: the clock was never
 * set, or was faked before the package was loaded
 */
export function requireClock({ epochUs, monotonicNs }: { epochUs: number; monotonicNs: number }): void {
  if (!(epochUs >= 1e15 && epochUs < 1e16 && monotonicNs >= 0)) {
    throw new TracerError(
      'ERR_ASYNC_TRACER_UNSUPPORTED',
      `The clock of this process says ${epochUs / 1000} ms since 1970. A time is written with 13 digits, as from 2001 on.`,
    );
  }
}

/** Monotonic nanoseconds, as process.hrtime counts them. */
export function monotonicNs(): number {
  wide[0] = bigint();
  return half[1] * HIGH + half[0];
}

/** Notes that can be kept before they are encoded; twice a batch, since there may be no stack for that. */
export const EVENTS_MAX = 1024;
/** The slot for a time that is made text at once: of `tick`, and of a record that is encoded on its own. */
export const SPARE = EVENTS_MAX;
const SLOTS = EVENTS_MAX + 1;

/**
 * Two steps: in the hook the bare reading is kept in a slot, which takes a call and a store; when records are encoded
 * it becomes text.
 */
export interface Clock {
  /** The time that was last read, see above. */
  readonly text: Float64Array;
  readonly fraction: Int32Array;
  /** Keeps the time in a slot. */
  capture(slot: number): void;
  /** Keeps the time of the slot before, from 1. */
  share(slot: number): void;
  /** Makes the time of a slot text. */
  read(slot: number): void;
  /** Makes the time of now text. */
  tick(): void;
  /** Lets go of what it runs on. */
  stop(): void;
}

/** Writes the time at `p`, and returns the position behind it. The three stores overlap. */
export function putTime(to: DataView, p: number, time: Float64Array, fraction: Int32Array): number {
  to.setFloat64(p, time[0], true);
  to.setFloat64(p + 8, time[1], true);
  to.setInt32(p + 13, fraction[0], true);
  return p + 17;
}

const bytes = new Uint8Array(16);
const asDoubles = new Float64Array(bytes.buffer);
/** No reading has this for its upper half. */
const NEVER = 0xffffffff;
/** Of the milliseconds since the epoch, from 2001 to 2286. */
const DIGITS = 13;

/** ".000" to ".999" as words of four bytes, the first one lowest. */
const micros = new Int32Array(1000);
for (let i = 0; i < 1000; i++) {
  micros[i] =
    46 | ((48 + ((i / 100) | 0)) << 8) | ((48 + (((i / 10) | 0) % 10)) << 16) | ((48 + (i % 10)) << 24);
}

function putMilliseconds(text: Float64Array, epochMs: number): void {
  // Digit by digit: the methods of strings and arrays may be the program's by now.
  for (let i = DIGITS - 1, left = epochMs; i >= 0; i--) {
    const rest = floor(left / 10);
    bytes[i] = 48 + left - 10 * rest;
    left = rest;
  }
  text[0] = asDoubles[0];
  text[1] = asDoubles[1];
}

function createPreciseClock(): Clock {
  const text = new Float64Array(2);
  const fraction = new Int32Array(1);
  const times = new BigInt64Array(SLOTS);
  const halves = new Uint32Array(times.buffer);
  // The nanosecond at which the millisecond of `text` begins, in halves: doubles in a closure would be allocated.
  const start = Uint32Array.of(0, NEVER);

  function turn(low: number, high: number): void {
    const nowNs = high * HIGH + low;
    const epochUs = anchor.epochUs + floor((nowNs - anchor.monotonicNs) / 1000);
    const epochMs = floor(epochUs / 1000);
    putMilliseconds(text, epochMs);
    fraction[0] = micros[epochUs - epochMs * 1000];
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
      fraction[0] = micros[(elapsed / 1000) | 0];
    } else {
      turn(low, high);
    }
  }

  function tick(): void {
    capture(SPARE);
    read(SPARE);
  }

  return { text, fraction, capture, share, read, tick, stop() {} };
}

/** Steps of 1 ms from a ticker thread; precise reads, cut to the millisecond, until it runs. */
function createCoarseClock(ticker: Ticker): Clock {
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
      // The thread does not run (yet). Later it may be a step behind what was read without it.
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

  // The load is cheaper than the copy of a slot.
  return { text, fraction, capture, share: capture, read, tick, stop: ticker.stop };
}

/** Where nothing is encoded no time is needed. */
function createStillClock(): Clock {
  const nothing = (): void => {};
  return {
    text: new Float64Array(2),
    fraction: new Int32Array(1),
    capture: nothing,
    share: nothing,
    read: nothing,
    tick: nothing,
    stop: nothing,
  };
}

export function createClock(kind: 'precise' | 'coarse' | 'still'): Clock {
  switch (kind) {
    case 'precise':
      return createPreciseClock();
    case 'coarse':
      // Loaded where it is asked for, with worker_threads.
      return createCoarseClock((require('./ticker') as typeof TickerModule).startTicker(anchor.monotonicNs));
    case 'still':
      return createStillClock();
  }
}
