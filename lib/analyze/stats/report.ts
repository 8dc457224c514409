import type { Distribution } from '../report/distribution';
import type { Finding } from '../report/finding';
import type { LogReport } from '../report/log';
import type { Callback, OpGroup } from '../report/operation';

/** The operations of one op and call site: how many, and how long they waited and ran. */
export interface StatsRow extends OpGroup {
  /** Inits. */
  count: number;
  /** Inits without a destroy; null for promises whose destroys the log does not hold. */
  live: number | null;
  /** From init to the first before. */
  wait: Distribution;
  /** Each execution, from before to after less the executions nested in it. `share` is of the elapsed time. */
  run: Distribution & { share: number };
}

/** The same by area: the sum of its rows. */
export interface AreaRow {
  area: string | null;
  count: number;
  live: number | null;
  run: { count: number; total: number; share: number };
}

/** How the event loop was used. */
export interface LoopReport {
  /** Time inside callbacks. */
  busy: number;
  /** `busy` of the elapsed time, from 0 to 1. */
  share: number;
  longest: Callback | null;
  /** Callbacks that took at least `threshold`. */
  held: number;
  threshold: number;
}

/** The answer of `analyzeStats`. */
export interface StatsReport {
  report: 'stats';
  log: LogReport;
  /** By run time, the most first. */
  ops: StatsRow[];
  areas: AreaRow[];
  loop: LoopReport;
  findings: Finding[];
}
