import type { PhaseCounts } from '../../log/event';

/** What a tracer has recorded so far. */
export interface TracerStats {
  /** Operation records made since the call, by phase. */
  events: PhaseCounts;
  /** Bytes that the destination has taken. */
  bytes: number;
  /** Records among `events` that are not in the log and never will be. */
  lost: number;
  /**
   * Operations whose init was seen and whose destroy was not, including those that `include` and `exclude` leave out;
   * promises only where their destroys are traced.
   */
  live: number;
}
