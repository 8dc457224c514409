/**
 * The log, defined once: newline-delimited JSON, one object a line, fields in the order in which they stand here.
 * The write side encodes these records, the read side decodes them; neither knows the other.
 * `schema.json` beside this file says the same for validators.
 */

/** The version in the `format` field of a `start` record. A reader refuses a higher one by name. */
export const FORMAT_VERSION = 1;

/** What happened to an operation, in async_hooks' words. */
export const OPERATION_PHASES = ['init', 'before', 'after', 'destroy', 'resolve'] as const;

export type OperationPhase = (typeof OPERATION_PHASES)[number];
/** What a record tells of. */
export type Phase = OperationPhase | 'start' | 'end' | 'lost';

/** Fields that `prefix` and `suffix` add to every record. */
export interface CustomFields {
  [field: string]: unknown;
}

/** Milliseconds since the epoch with three decimals, from a monotonic clock and one anchor. */
export type EpochMs = number;

interface OperationFields extends CustomFields {
  /** The operation's asyncId. */
  opid: number;
  /** Its type with WRAP taken out, as in TCPSERVER; absent where the init was not seen, or after its destroy. */
  op?: string;
  /** The group of the op, as in net; absent where `op` is. */
  area?: string;
  time: EpochMs;
}

/** An operation was started. */
export interface InitRecord extends OperationFields {
  phase: 'init';
  op: string;
  area: string;
  /** triggerAsyncId: the operation that caused this one. */
  parentopid: number;
  /** The parent's op, where known. */
  parentop?: string;
  /** executionAsyncId where it differs from `parentopid`. */
  execopid?: number;
  /** With `stacks`: "functionName:fileName:lineNum:colNum", innermost first; a colon in a function name is %3A. */
  stack?: string[];
}

/** A callback of the operation begins. */
export interface BeforeRecord extends OperationFields {
  phase: 'before';
  /** With `contexts`: the operation's resource, bounded and redacted. */
  ctx?: unknown;
}

/** That callback has ended. */
export interface AfterRecord extends OperationFields {
  phase: 'after';
  /** As in `BeforeRecord`. */
  ctx?: unknown;
}

/** The operation has ended, or its resource was collected as garbage. */
export interface DestroyRecord extends OperationFields {
  phase: 'destroy';
}

/** With `resolve`: a promise settled. */
export interface ResolveRecord extends OperationFields {
  phase: 'resolve';
}

/** A record of one operation. */
export type OperationRecord = InitRecord | BeforeRecord | AfterRecord | DestroyRecord | ResolveRecord;

/** Counts of operation records by phase. */
export type PhaseCounts = Record<OperationPhase, number>;

/** With `header`: the first record of a run. */
export interface StartRecord extends CustomFields {
  phase: 'start';
  format: number;
  pid: number;
  /** worker_threads.threadId: 0 in the main thread. Ids of operations are unique by (pid, thread). */
  thread: number;
  /** process.version, as in v24.22.3. */
  node: string;
  versions: Record<string, string>;
  /** The anchor between wall time and the monotonic clock: `time` = epoch + (monotonic now - monotonic). */
  anchor: { epoch: EpochMs; monotonic: number };
  /** The options in force but `prefix` and `suffix`; what `include`, `exclude` and `redact` match as text. */
  options: Record<string, unknown>;
  time: EpochMs;
}

/** An error as `end` tells it. */
export interface ErrorSummary {
  name: string;
  message: string;
  code?: string;
  /** Frames as in `InitRecord.stack`. */
  stack: string[];
}

/** With `header`: written at close or exit. Where records follow it, another `end` follows them: the last one counts. */
export interface EndRecord extends CustomFields {
  phase: 'end';
  /** Records written by phase, from the start of the run to here. */
  counts: PhaseCounts;
  /** Records dropped, from the start of the run to here. */
  lost: number;
  /** Operations whose init was seen and whose destroy was not. */
  live: number;
  /**
   * What keeps the event loop alive, by Node's own word: how many there are of each type that
   * process.getActiveResourcesInfo() lists, as { Timeout: 2, TCPServerWrap: 1 }.
   */
  active?: Record<string, number>;
  /** How the run ended as seen from inside: 'close', 'exit' or 'error'. A signal is only known to `async-tracer run`. */
  reason: 'close' | 'exit' | 'error';
  /** The exit code, when reason is 'exit' or 'error'. */
  exitcode?: number;
  /** The error that ended the process, when reason is 'error'. */
  error?: ErrorSummary;
  time: EpochMs;
}

/** Stands where records were dropped, and only there. */
export interface LostRecord extends CustomFields {
  phase: 'lost';
  /** How many records are missing here. */
  count: number;
  time: EpochMs;
}

/** Any line of a log, told apart by `phase`. */
export type TraceRecord = OperationRecord | StartRecord | EndRecord | LostRecord;

/** Every field a record of ours can have: `prefix` and `suffix` may not use them. */
export const RECORD_FIELDS: readonly string[] = [
  ...['opid', 'op', 'phase', 'area', 'parentopid', 'parentop', 'execopid', 'time', 'stack', 'ctx'],
  ...['format', 'pid', 'thread', 'node', 'versions', 'anchor', 'options'],
  ...['counts', 'lost', 'live', 'active', 'reason', 'exitcode', 'error', 'count'],
];
