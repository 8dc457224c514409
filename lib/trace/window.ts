/** A window of time: a preloaded tracer that begins after a while, or goes on for a while only. */
import { setAlarm } from './alarm';
import type { Tracer } from './tracer';

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
    setAlarm(opensIn, () => {
      try {
        tracer.enable();
      } catch {
        // The program has closed it before the window opened.
      }
    });
  }
  if (closesIn !== undefined) {
    setAlarm(max(1, closesIn), () => void tracer.close());
  }
}
