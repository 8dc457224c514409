/**
 * The time of a record as text that is ready to be stored: "1764486000123.456", milliseconds since the epoch.
 *
 * ```
 *  17644860 | 00123 | .456        text[0]: 8 bytes   text[1]: 5 bytes   fraction[0]: 4 bytes
 * ```
 * `text` holds bytes as doubles, the widest store there is (see encoder.ts), `fraction` as a word. The upper digits change once a
 * millisecond, so almost every read costs the system call, one division and one load from a table of 1,000.
 */

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
    if (gapNs < closest.gapNs) closest = { epochUs, monotonicNs: before, gapNs };
  }
  return closest;
}

/** Monotonic nanoseconds, as process.hrtime counts them. */
export function monotonicNs(): number {
  wide[0] = bigint();
  return half[1] * HIGH + half[0];
}

export interface Clock {
  /** The time of the last `tick`, see above. */
  readonly text: Float64Array;
  readonly fraction: Int32Array;
  /** Reads the clock. */
  tick(): void;
  /** Lets go of what it runs on. */
  stop(): void;
}

const bytes = new Uint8Array(8);
const asDouble = new Float64Array(bytes.buffer);

/** The first 8 bytes of an ASCII text as a double. */
function pack(ascii: string): number {
  bytes.fill(0);
  for (let i = 0; i < ascii.length && i < 8; i++) {
    bytes[i] = ascii.charCodeAt(i);
  }
  return asDouble[0];
}

/** ".000" to ".999" as words of four bytes, the first one lowest. */
const micros = new Int32Array(1000);
for (let i = 0; i < 1000; i++) {
  micros[i] =
    46 | ((48 + ((i / 100) | 0)) << 8) | ((48 + (((i / 10) | 0) % 10)) << 16) | ((48 + (i % 10)) << 24);
}

function putMilliseconds(text: Float64Array, epochMs: number): void {
  const digits = `${epochMs}`;
  text[0] = pack(digits.slice(0, 8));
  text[1] = pack(digits.slice(8));
}

function createPreciseClock(): Clock {
  const text = new Float64Array(2);
  const fraction = new Int32Array(1);
  // The nanosecond at which the millisecond of `text` begins, in halves: doubles in a closure would be allocated.
  const start = new Uint32Array(2);

  function turn(): void {
    const nowNs = half[1] * HIGH + half[0];
    const epochUs = anchor.epochUs + floor((nowNs - anchor.monotonicNs) / 1000);
    const epochMs = floor(epochUs / 1000);
    putMilliseconds(text, epochMs);
    fraction[0] = micros[epochUs - epochMs * 1000];
    const startNs = anchor.monotonicNs + (epochMs * 1000 - anchor.epochUs) * 1000;
    start[1] = floor(startNs / HIGH);
    start[0] = startNs - start[1] * HIGH;
  }

  function tick(): void {
    wide[0] = bigint();
    const elapsed = half[0] - start[0];
    if (half[1] === start[1] && elapsed >= 0 && elapsed < 1_000_000) {
      fraction[0] = micros[(elapsed / 1000) | 0];
    } else {
      turn();
    }
  }

  return { text, fraction, tick, stop() {} };
}

/** Steps of 1 ms from a ticker thread; precise reads, cut to the millisecond, until it runs. */
function createCoarseClock(ticker: Ticker): Clock {
  const text = new Float64Array(2);
  const fraction = new Int32Array(1);
  fraction[0] = micros[0];
  let last = -1;

  function turn(milliseconds: number): void {
    const sinceAnchor = milliseconds === 0 ? floor((monotonicNs() - anchor.monotonicNs) / 1e6) : milliseconds;
    // The thread may be a step behind what was read without it.
    last = max(sinceAnchor, last);
    putMilliseconds(text, floor(anchor.epochUs / 1000) + last);
  }

  function tick(): void {
    const milliseconds = ticker.read();
    if (milliseconds !== last || milliseconds === 0) {
      turn(milliseconds);
    }
  }

  return { text, fraction, tick, stop: ticker.stop };
}

/** Where nothing is encoded no time is needed. */
function createStillClock(): Clock {
  return { text: new Float64Array(2), fraction: new Int32Array(1), tick() {}, stop() {} };
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
