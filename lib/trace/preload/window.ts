/** A window of time: a preloaded tracer that begins after a while, or goes on for a while only. */
import { setUnrefTimeout } from '../runtime/timeout';
import type { Tracer } from '../tracer/tracer';

const { max } = Math;

export interface Window {
  /** Milliseconds from now to the beginning; 0 or less: at once. */
  opensIn: number;
  /** Milliseconds from now to the end; undefined: with the program. */
  closesIn: number | undefined;
}

/**
 * Enables and closes the tracer in time; that keeps no program alive, and stays out of the trace. Where the event loop is
 * held, the window waits.
 */
export function keepWindow(tracer: Tracer, { opensIn, closesIn }: Window): void {
  if (opensIn > 0) {
    setUnrefTimeout(opensIn, () => {
      try {
        tracer.enable();
      } catch {
        // The program has closed it before the window opened.
      }
    });
  }
  if (closesIn !== undefined) {
    setUnrefTimeout(max(1, closesIn), () => void tracer.close());
  }
}
