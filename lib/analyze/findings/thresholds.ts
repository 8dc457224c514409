import { TracerError } from '../../errors';

/** The limits from which on something is a finding. */
export interface FindingOptions {
  /**
   * Milliseconds for which a callback must hold the event loop. Default 50: a person notices a longer pause; browsers
   * call it a long task.
   */
  heldMs?: number;
  /** Milliseconds for which ticks and promise callbacks must follow one another without a turn of the loop. Default 50. */
  starvedMs?: number;
  /**
   * How many operations of one op and call site one execution must start. Default 1,000: a loop over a page of data
   * starts fewer, and the usual limit of open files is near 1,000.
   */
  fanOut?: number;
  /** How many unfinished operations of one op and call site are needed to speak of growth. Default 100. */
  growth?: number;
}

const DEFAULTS: Required<FindingOptions> = { heldMs: 50, starvedMs: 50, fanOut: 1000, growth: 100 };

export const THRESHOLDS = Object.keys(DEFAULTS) as (keyof FindingOptions)[];

/** @throws TracerError ERR_ASYNC_TRACER_OPTION for a threshold that is no number above 0 */
export function thresholds(options: FindingOptions): Required<FindingOptions> {
  const resolved = { ...DEFAULTS };
  for (const name of THRESHOLDS) {
    const value = options[name];
    if (value === undefined) {
      continue;
    }
    if (typeof value !== 'number' || !(value > 0)) {
      throw new TracerError(
        'ERR_ASYNC_TRACER_OPTION',
        `${name} is ${String(value)}; expected a number above 0`,
      );
    }
    resolved[name] = value;
  }
  return resolved;
}
