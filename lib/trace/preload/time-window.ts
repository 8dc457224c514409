/** A window of time: a preloaded tracer that begins later, or ends before the program does. */
import { setUnrefTimeout } from '../runtime/timeout';

const { max } = Math;

/** What a window does with a tracer. */
export interface Preloaded {
  enable(): unknown;
  close(): Promise<void>;
}

export interface Window {
  /** Milliseconds from now to the beginning; 0 or less: at once. */
  opensIn: number;
  /** Milliseconds from now to the end; undefined: the end of the program. */
  closesIn: number | undefined;
}

/**
 * Enables and closes the tracer in time. This keeps no program alive and is not traced. While the event loop is blocked,
 * the window waits.
 */
export function keepWindow(tracer: Preloaded, { opensIn, closesIn }: Window): void {
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
