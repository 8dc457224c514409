import type { Distribution } from '../report/distribution';
import type { LogReport } from '../report/log';
import type { OpGroup } from '../report/operation';

/** How the time from the first to the last thing that a root and its descendants did was spent. */
export interface TimeSplit {
  elapsed: number;
  /** The three parts of `elapsed`: one of them ran; none of them, but something else ran; nothing ran. */
  ran: number;
  queued: number;
  waited: number;
}

/**
 * What came into the program, and all that it started: a request over a connection, an event of a handle, a further
 * firing of a timer; the main script; and what nothing else in the log started. `op` is null for the main script, and for
 * an operation whose init is not in the log.
 */
export interface Root extends OpGroup, TimeSplit {
  /** Of the operation whose run began it: the connection of a request. 1 for the main script. */
  opid: number;
  /** Which of the requests of that operation, from 1; null where the operation began it by its init. */
  request: number | null;
  /** Index into `log.runs`. */
  run: number;
  time: number;
  /** How many operations it started, directly or indirectly. */
  operations: number;
}

/** Roots of one op and call site. */
export interface RootKind extends OpGroup {
  /** Of the first one, as an example; 1 for the main script. */
  opid: number;
  count: number;
  operations: number;
  elapsed: Distribution;
  ran: Distribution;
  queued: Distribution;
  waited: Distribution;
}

export type RootOrder = 'time' | 'ran' | 'queued' | 'waited' | 'operations' | 'start';

/** The answer of `analyzeRoots`. */
export interface RootsReport {
  report: 'roots';
  log: LogReport;
  by: 'trigger' | 'execution';
  sort: RootOrder;
  /** By total time, the most first. */
  kinds: RootKind[];
  /** The first `top` of them in the order of `sort`. */
  roots: Root[];
  count: number;
  /** Roots beyond `MAX_ROOTS`, of which nothing else is known. */
  folded: number;
}
