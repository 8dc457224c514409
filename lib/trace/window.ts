/** A window of time: a preloaded tracer that begins after a while, or goes on for a while only. */
import { asClaimed } from './own';
import type { Tracer } from './tracer';

// Taken at load: the program may put fake timers in their place.
const later = setTimeout;

export interface Window {
  /** Milliseconds from now to the beginning; 0 or less: at once. */
  opensIn: number;
  /** Milliseconds from now to the end; undefined: with the program. */
  closesIn: number | undefined;
}

/**
 * Enables and closes the tracer in time. The timers keep no program alive, and stay out of the trace.
 * Where the event loop is held, the window waits.
 */
export function keepWindow(tracer: Tracer, { opensIn, closesIn }: Window): void {
  asClaimed(() => {
    if (opensIn > 0) {
      later(() => {
        try {
          tracer.enable();
        } catch {
          // The program has closed it before the window opened.
        }
      }, opensIn).unref();
    }
    if (closesIn !== undefined) {
      later(() => void tracer.close(), closesIn).unref();
    }
  });
}
