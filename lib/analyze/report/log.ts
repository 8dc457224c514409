import type { ErrorSummary } from '../../log/event';

/**
 * The first part of every answer: which log it is about, its runs, and what is missing from it. Answers are plain objects
 * that `JSON.stringify` renders whole. All durations are milliseconds, all times milliseconds since the epoch. A
 * value that is not in the log is null. Fields may be added in a minor version.
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
  /** How the run ended, by its last `end` record; null where there is none: killed, cut, still going, or no `header`. */
  end: 'close' | 'exit' | 'error' | null;
  exitcode: number | null;
  error: ErrorSummary | null;
  /** Whether the counts of the `end` record equal those of the records read; null without such a record. */
  complete: boolean | null;
}

/** What a log was made of. */
export interface LogCounts {
  sources: number;
  /** Bytes as they are in the sources. */
  bytes: number;
  records: number;
  /** Lines that are neither blank nor records of a trace. */
  foreign: number;
  /** Lines cut off by the end of a source. */
  cut: number;
  /** Records that the tracer dropped and counted. */
  lost: number;
  /** Sources of which only a part could be read, as a damaged .gz, and why. */
  damaged: { source: string; message: string }[];
}

/** What the log is, and what is missing from it. */
export interface LogReport extends LogCounts {
  from: number | null;
  to: number | null;
  /** The sum over all runs. */
  elapsed: number;
  /** Those of `records` that belong to operations; the others are `start`, `end` and `lost`. */
  operationRecords: number;
  /** Records of operations whose init is not in the log, or that come after its destroy. */
  withoutInit: number;
  /** Promises dropped from memory in a log without destroys of promises: see `PROMISE_WINDOW`. */
  forgotten: number;
  /** Callbacks whose begin or end is missing, so that their time is not measured. */
  unpaired: number;
  /** The first `MAX_RUNS_LISTED` of them. */
  runs: RunReport[];
  runCount: number;
}
