import type { Finding } from '../report/finding';
import type { LogReport } from '../report/log';
import type { Kind, OpGroup } from '../report/operation';

/** Whether what was live at the end is a leak. */
export type Verdict = 'leak' | 'kept' | 'unsure';

/** Operations of one op and call site that never ended, and why they count as a leak or do not. */
export interface LeakRow extends OpGroup {
  verdict: Verdict;
  /** Why, as a sentence. */
  reason: string;
  count: number;
  /** Age at the last record of the run. */
  oldest: number;
  youngest: number;
  /**
   * True where some of them may be older than `oldest`: their run has no `end` record, so it was killed, or went on, some
   * time after its last record. An idle process records nothing.
   */
  atLeast: boolean;
  /** Some of the ids, the oldest first. */
  opids: number[];
  /** The whole stack of the first one, which is `opids[0]` where it is live; null where it has none. */
  stack: string[] | null;
  /** True of promises that never settled and were freed since: they are not live, and their age is that at the end. */
  collected: boolean;
  /** How many timers are unref'd by their contexts; null where there are no contexts. */
  unref: number | null;
  /**
   * How many of them surely kept the process alive, by what Node listed as active in the `end` record. Node lists types, not
   * operations: where several rows share a type, fewer may be sure than are active. Null where the log does not tell it,
   * where Node does not list such operations, and where the verdict is `kept`.
   */
  confirmed: number | null;
}

/** The answer of `analyzeLeaks`. */
export interface LeaksReport {
  report: 'leaks';
  log: LogReport;
  rows: LeakRow[];
  /** By kind, what was live at the end, all verdicts together. */
  live: Record<Kind, number>;
  /** Left out by `allow`. */
  allowed: number;
  promises: {
    /** Whether the log has `resolve` records. Without them nothing is known of promises. */
    recorded: boolean;
    pending: number;
    /** Never settled, and collected as garbage since. */
    collected: number;
  };
  /** What this log does not show, and which option of the tracer would record it. */
  notes: string[];
  findings: Finding[];
}
