/** The monotonic clock, and the one point where it meets wall time. */
import { TracerError } from '../../errors';

// Taken at load: a program may install fake timers later.
const { now } = performance;
const { bigint } = process.hrtime;

/**
 * process.hrtime.bigint() is stored into a view and read back as two halves, because V8 then makes no BigInt: 32 ns a
 * read against 42 for performance.now() on Node 20 and 22 (benchmark: `parts`).
 */
const wide = new BigInt64Array(1);
const half = new Uint32Array(wide.buffer);
export const HIGH = 4294967296;

const ANCHOR_READINGS = 8;

/**
 * Where wall time and the monotonic clock meet, in whole units so that no sum rounds. Taken once, so that the times
 * of all tracers of a thread compare.
 */
export const anchor = takeAnchor();

/**
 * Between two readings the process may lose its core: 120 ms were seen on a machine under load. So several pairs are
 * taken, and the pair whose readings are closest together is used.
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

/** Monotonic nanoseconds, on the scale of process.hrtime. */
export function monotonicNs(): number {
  wide[0] = bigint();
  return half[1] * HIGH + half[0];
}
