/** Durations as text, with a unit. */
import { TracerError } from '../../errors';

const MS: Record<string, number> = { ms: 1, s: 1000, m: 60_000, min: 60_000, h: 3_600_000 };
/** The longest timeout of a timer of Node; a longer one fires at once. */
export const TIMER_MAX_MS = 2 ** 31 - 1;

/**
 * Milliseconds from a text such as `500ms`, `2s`, `1.5m` or `1h`.
 *
 * @param name what the duration is called in the message of an error
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
