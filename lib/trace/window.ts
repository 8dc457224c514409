/** A window of time: a preloaded tracer that begins after a while, or goes on for a while only. */
import { TracerError } from '../errors';
import { asClaimed } from './own';
import type { Tracer } from './tracer';

const MS: Record<string, number> = { ms: 1, s: 1000, m: 60_000, min: 60_000, h: 3_600_000 };
const TIMER_MAX_MS = 2 ** 31 - 1;

// Taken at load: the program may put fake timers in their place.
const later = setTimeout;

/**
 * Milliseconds from a text such as `500ms`, `2s`, `1.5m` or `1h`.
 *
 * @param name of what the text is, for the message
 * @throws TracerError ERR_ASYNC_TRACER_OPTION
 */
export function parseDuration(text: string, name: string): number {
  const match = /^(\d+(?:\.\d+)?)(ms|s|m|min|h)$/.exec(text.trim());
  const ms = match === null ? Number.NaN : Number(match[1]) * MS[match[2]];
  if (!(ms <= TIMER_MAX_MS)) {
    throw new TracerError(
      'ERR_ASYNC_TRACER_OPTION',
      `${name} must be a duration with its unit, such as 500ms, 2s, 5m or 1h, of at most 24 days; got ${JSON.stringify(text)}.`,
    );
  }
  return ms;
}

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
