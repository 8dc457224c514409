import type { ErrorSummary } from '../log/event';
import type { LogCounts } from './read/reader';
import type { Frame } from './stack/site';

/**
 * The reports: plain objects that `JSON.stringify` renders whole. All durations are milliseconds, all times milliseconds
 * since the epoch; null stands where the log cannot tell. Fields may be added in a minor version.
 */

/** One run of a program: a process or a thread of it, from one `start` record or first id to the next. */
export interface RunReport {
  /** Null where the run has no `start` record. */
  pid: number | null;
  thread: number | null;
  node: string | null;
  /** Of the first record; of the first one behind the `start` record where that was written before tracing began. */
  from: number;
  to: number;
  elapsed: number;
  records: number;
  /** What the trace was limited to, as text; empty where it was not, or where there is no `start` record. */
  include: string[];
  exclude: string[];
  /** How the last `end` record says the run ended; null where there is none: killed, cut, still going, or no `header`. */
  end: 'close' | 'exit' | 'error' | null;
  exitcode: number | null;
  error: ErrorSummary | null;
  /** True where the counts of the `end` record are those met, false where they are not, null without such a record. */
  complete: boolean | null;
}

/** What the log is, and what is missing from it. */
export interface LogReport extends LogCounts {
  from: number | null;
  to: number | null;
  /** The sum over all runs. */
  elapsed: number;
  /** Those of `records` that tell of operations; the others are `start`, `end` and `lost`. */
  operationRecords: number;
  /** Records of operations whose init is not in the log, or that stand after its destroy. */
  withoutInit: number;
  /** Promises given up to bound memory in a log without destroys of promises: see `PROMISE_WINDOW`. */
  forgotten: number;
  /** Callbacks whose begin or end is missing, so that their time is not measured. */
  unpaired: number;
  /** The first `MAX_RUNS_LISTED` of them. */
  runs: RunReport[];
  runCount: number;
}

/** What an operation is to the event loop. */
export type Kind =
  /** Open until it is closed: a server, a socket, a child process, a watcher. */
  | 'handle'
  /** An object of Node's that the loop does not wait for, freed at garbage collection: a file handle, a zlib stream. */
  | 'object'
  | 'timer'
  /** Asked once, answered once: a read, a lookup, a connect, a write. */
  | 'request'
  | 'promise'
  /** Queued to run soon: nextTick, queueMicrotask, setImmediate. */
  | 'tick'
  /** The program's own AsyncResource. */
  | 'resource';

/** Operations that are alike: the same op from the same call site. */
export interface OpGroup {
  /** Null for operations whose op the log does not tell. */
  op: string | null;
  area: string | null;
  kind: Kind | null;
  /** Where in the user's code they were started; null without `stacks`, or where no code of the user's is known. */
  site: Frame | null;
  /**
   * True where no frame of the user's was in the stack, and `site` is that of the operation which triggered these: the
   * connections of a server stand under the line that opened the server.
   */
  inherited: boolean;
}

/** How durations spread, in milliseconds. */
export interface Distribution {
  count: number;
  total: number;
  /** Percentiles are within 1.6 % (see `Histograms`); `max` and `total` are exact. Null where `count` is 0. */
  p50: number | null;
  p95: number | null;
  p99: number | null;
  max: number | null;
}

/** One execution of a callback, from its before to its after. */
export interface Callback extends OpGroup {
  opid: number;
  /** Index into `log.runs`. */
  run: number;
  time: number;
  /** From before to after, nested callbacks included. */
  duration: number;
  /** The same without them. */
  self: number;
  /** The operation inside which most of the time was spent, where it is not this one. */
  inside: OpGroup | null;
}

/** A fault worth a look, with what shows it. */
export interface Finding {
  code: FindingCode;
  severity: 'info' | 'warning' | 'error';
  /** A sentence. */
  message: string;
  /** The figures behind the sentence; its fields depend on `code`. */
  evidence: Record<string, unknown>;
}

/** What kinds of faults there are. Further ones may be added in a minor version. */
export type FindingCode =
  | 'records-lost'
  | 'loop-held'
  | 'loop-starved'
  | 'fan-out'
  | 'growth'
  | 'handle-open'
  | 'timer-running'
  | 'request-pending'
  | 'promise-pending';

/** What the operations of one op and call site did. */
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

/** What `analyzeStats` gives. */
export interface StatsReport {
  report: 'stats';
  log: LogReport;
  /** By run time, the most first. */
  ops: StatsRow[];
  areas: AreaRow[];
  loop: LoopReport;
  findings: Finding[];
}

/** One operation that waited. */
export interface SlowWait extends OpGroup {
  opid: number;
  run: number;
  /** Of the init. */
  time: number;
  duration: number;
}

/** What `analyzeSlow` gives. */
export interface SlowReport {
  report: 'slow';
  log: LogReport;
  threshold: number;
  /** The longest callbacks of all, and by op and call site those over the threshold. */
  callbacks: Callback[];
  held: (OpGroup & { count: number; total: number; max: number })[];
  /** The longest waits from init to first before, of all, and by op and call site with their spread. */
  waits: SlowWait[];
  waiting: (OpGroup & { wait: Distribution })[];
  findings: Finding[];
}

/** Operations that are alike and have parents that are alike. */
export interface TreeNode extends OpGroup {
  /** Of the first one, as an example. */
  opid: number;
  count: number;
  /**
   * How many of `count` were started from below this node, by an operation that one of its own had led to: in a chain of
   * promises all but the first.
   */
  again: number;
  wait: { count: number; total: number; max: number };
  run: { count: number; total: number; max: number };
  children: TreeNode[];
}

/** What `analyzeTree` gives: who started what. */
export interface TreeReport {
  report: 'tree';
  log: LogReport;
  by: 'trigger' | 'execution';
  roots: TreeNode[];
  nodes: number;
  /** Operations counted at an ancestor because the tree had `MAX_TREE_NODES` nodes. */
  folded: number;
}

/** One operation on the way from the first cause; null stands for what the log does not tell. */
export interface PathStep extends OpGroup {
  opid: number;
  time: number | null;
  wait: number | null;
  run: number | null;
}

/** The answer to --op: from the operation back to what started it all. */
export interface PathReport {
  report: 'path';
  log: LogReport;
  by: 'trigger' | 'execution';
  opid: number;
  /**
   * One for each run that has the id, the root first; the first step's own parent is not in the log. Empty where no run
   * has the id. Of more than 10,000 steps those nearest to the operation are listed, and the root.
   */
  paths: { run: number; steps: PathStep[] }[];
}

/** The answer to --root: all that one operation started. */
export interface RootReport {
  report: 'root';
  log: LogReport;
  by: 'trigger' | 'execution';
  opid: number;
  /** One for each run that has the id. Empty where no run has it. */
  found: {
    run: number;
    root: PathStep;
    operations: number;
    /** From the root's init to the last thing that it or a descendant did. */
    elapsed: number;
    /** The three parts of `elapsed`: it or a descendant ran; none of them, but something else ran; nothing ran. */
    ran: number;
    queued: number;
    waited: number;
    /** What the root started, collapsed where alike. */
    started: TreeNode[];
  }[];
}

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
   * True where some of them are older than that: their run has no `end` record, and was killed, or went on, some time
   * after its last one. An idle process records nothing.
   */
  atLeast: boolean;
  /** Some of the ids, the oldest first. */
  opids: number[];
  /** The whole stack of the first one that is told here, `opids[0]` where it is live; null where it has none. */
  stack: string[] | null;
  /** True of promises that never settled and were freed since: they are not live, and their age is that at the end. */
  collected: boolean;
  /** Timers that contexts say are unref'd; null where there are no contexts. */
  unref: number | null;
}

/** What `analyzeLeaks` gives. */
export interface LeaksReport {
  report: 'leaks';
  log: LogReport;
  rows: LeakRow[];
  /** By kind, what was live at the end, all verdicts together. */
  live: Record<Kind, number>;
  /** Left out by `allow`. */
  allowed: number;
  promises: {
    /** Whether the log has `resolve` records, without which nothing is known of promises. */
    recorded: boolean;
    pending: number;
    /** Never settled, and collected as garbage since. */
    collected: number;
  };
  /** What this log cannot tell, and which option would make it tell. */
  notes: string[];
  findings: Finding[];
}
