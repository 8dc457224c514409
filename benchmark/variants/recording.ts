import type { PhaseCounts } from '../../lib/log/event';

export type Counts = Pick<PhaseCounts, 'init' | 'before' | 'after' | 'destroy'>;

export function noCounts(): Counts {
  return { init: 0, before: 0, after: 0, destroy: 0 };
}

export function total(counts: Counts): number {
  return counts.init + counts.before + counts.after + counts.destroy;
}

/** What a variant does while the program under test runs, as the program's meter sees it. */
export interface Recording {
  /** Events that the variant has met so far, by its own count; undefined where it cannot count. */
  counts(): Counts | undefined;
  /** Operations that the variant made for its own writing and kept out. None where absent. */
  own?(): number;
  /** Ends when the work for every event so far has been done, so that a backlog is paid for where it was made. */
  drain(): Promise<void>;
  /** Stops recording; ends when the log is whole. */
  close(): Promise<void>;
}

/** The program runs bare, or under Node's own trace events, which no code in the process can count. */
export const nothing: Recording = {
  counts: () => undefined,
  drain: async () => {},
  close: async () => {},
};
