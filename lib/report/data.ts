// Not from the index of analyze: the page is compiled with this file, without the types of Node.js.
import type { Finding } from '../analyze/report/finding';
import type { LogReport } from '../analyze/report/log';
import type { AreaRow, LoopReport } from '../analyze/stats/report';

/**
 * What the page shows, as the JSON inside it. Durations are milliseconds and times milliseconds since the epoch, as in the
 * answers of `analyze`. Rows that may be many are arrays, because the names of fields would be most of their bytes.
 */
export interface ReportData {
  /** Of async-tracer. */
  version: string;
  /** Names of the logs as they were given. */
  sources: string[];
  /** With the first `MAX_RUNS` runs. */
  log: LogReport;
  findings: Pick<Finding, 'code' | 'severity' | 'message'>[];
  /** What rows refer to by index. */
  groups: GroupData[];
  /** The call sites that groups refer to by index, as `function (file:line:column)`. */
  sites: string[];
  loop: LoopReport;
  /** Of the runs that took longest, in the order of the log. */
  timelines: TimelineData[];
  ops: OpRow[];
  /** Rows left out because there are more than `MAX_OPS`, those with the least run time. */
  opsLeftOut: number;
  areas: AreaRow[];
  tree: { roots: TreeRow[]; nodes: number; leftOut: number; folded: number };
  requests: RequestsData;
  callbacks: CallbackRow[];
  leaks: LeakData[];
  /** What the log cannot show of leaks. */
  limitations: string[];
}

/** Operation, area, kind, call site (-1: none), and 1 where the call site is that of the trigger. */
export type GroupData = [
  op: string | null,
  area: string | null,
  kind: string | null,
  site: number,
  inherited: 0 | 1,
];

/** How one run used its event loop, and how many operations were alive, over its time. */
export interface TimelineData {
  /** Index into the runs of the log. */
  run: number;
  name: string;
  from: number;
  to: number;
  /** Milliseconds in callbacks by bucket of `width` ms: in those that held the loop, and in the others. */
  width: number;
  held: number[];
  busy: number[];
  /** By area, how many were alive at the end of each bucket of `liveWidth` ms; those with the most first. */
  liveWidth: number;
  live: { area: string; counts: number[] }[];
}

export type OpRow = [
  group: number,
  count: number,
  live: number | null,
  waits: number,
  waitP50: number | null,
  waitP95: number | null,
  waitP99: number | null,
  waitMax: number | null,
  runs: number,
  runTotal: number,
  runP50: number | null,
  runP95: number | null,
  runP99: number | null,
  runMax: number | null,
  share: number,
];

export type TreeRow = [
  group: number,
  opid: number,
  count: number,
  again: number,
  waitMax: number,
  runTotal: number,
  children: TreeRow[],
  childrenLeftOut: number,
];

export type CallbackRow = [group: number, opid: number, run: number, time: number, duration: number];

/**
 * One request, or another operation that nothing in the log started, with all that it led to. `elapsed` is from its begin to
 * the last thing that it or a descendant did, and the sum of three parts: `run` one of them ran, `queued` something else
 * ran, `wait` nothing ran.
 */
export interface RequestSpan {
  opid: number;
  op: string | null;
  site: string | null;
  time: number;
  wait: number;
  queued: number;
  run: number;
  elapsed: number;
  operations: number;
  parts: RequestPart[];
}

/** One operation of a request; times from the begin of the request. */
export interface RequestPart {
  op: string | null;
  site: string | null;
  start: number;
  /** Null where it never ran. */
  firstBefore: number | null;
  end: number;
  run: number;
}

export interface RequestsData {
  /** `http`: requests of an HTTP server. `roots`: there are none, so these are operations that nothing in the log started. */
  kind: 'http' | 'roots';
  count: number;
  p50: number | null;
  p95: number | null;
  p99: number | null;
  max: number | null;
  /** The slowest, the slowest first. */
  slowest: SpanData[];
}

/** `RequestSpan` with a group in place of op and site, and rows in place of parts. */
export interface SpanData {
  opid: number;
  group: number;
  time: number;
  wait: number;
  queued: number;
  run: number;
  elapsed: number;
  operations: number;
  parts: [group: number, start: number, firstBefore: number | null, end: number, run: number][];
}

export interface LeakData {
  group: number;
  verdict: 'leak' | 'kept' | 'unsure';
  reason: string;
  count: number;
  oldest: number;
  atLeast: boolean;
  opids: number[];
  stack: string[] | null;
}
