/**
 * How an answer, an export or a report follows the operations of a log.
 *
 * Extend `OperationVisitor`, override what is needed, and read a log with `visitOperations`:
 *
 *     class Destroys extends OperationVisitor {
 *       count = 0;
 *       constructor(readonly operations: Operations) { super(); }
 *       override destroy(run: Run, row: number) { this.count++; }
 *     }
 *     const { visitor, log } = await visitOperations('app.ndjson', {}, (operations) => new Destroys(operations));
 *
 * Methods are called in the order of the records, synchronously, one run at a time. What each value holds, and where:
 *
 *     id                  record.opid, or run.live.id[row]
 *     op, area, kind      operations.groups: opOf(group), areaOf(group), kind[group]
 *     call site           operations.groups.describe(group).site (inherited from the trigger where there is no user frame)
 *     parent, execution   in `init`: record.parentopid, and the argument executionId
 *     time                record.time; of the init, later too: run.live.init[row]
 *     stack               in `init`: record.stack >= 0 && record.stacks.at(record.stack).frames(); a Stack may be kept
 *     context             in `before`: record.context()
 *     callback            in `after`: run.callbacks.start, total, self, group, depth (0: it was the outermost)
 *     state               run.live.flags[row]: RAN, RAN_AGAIN, SETTLED of live-operations.ts
 *     run                 run.index; run.start?.pid, thread, node, anchor, options; run.end; run.from, run.to
 *
 * At a `lost` record all open callbacks of the run are abandoned, and their afters are not visited. What never ended is in
 * `run.live.rows()` when `visitOperations` has resolved; callbacks that are still open are in `run.callbacks`.
 *
 * `record` is one object that is overwritten with the next record, and a row is reused after the destroy: copy what must
 * outlast the call. To keep a number for each operation of a run, use an `IdMap` for each `run.index`; to keep one for
 * each group, a column (`roomFor`) or `Percentiles`.
 */
import type { RecordCursor } from '../decode/cursor';
import type { Run } from './run';

/** Methods that are called while a log is read. Each does nothing unless it is overridden. */
export abstract class OperationVisitor {
  /**
   * An init. `row` is the operation's place in `run.live`, `executionId` the operation that was executing: `execopid`, or
   * `parentopid` where the record has none because the two are the same.
   */
  init(_run: Run, _row: number, _group: number, _executionId: number, _record: RecordCursor): void {}
  /** The first before of an operation whose init was read, `wait` milliseconds after the init. Called ahead of `before`. */
  firstBefore(_run: Run, _row: number, _group: number, _wait: number): void {}
  /**
   * Each before. Its callback is not yet in `run.callbacks`, so the innermost one there is the callback around it. `row` is
   * NO_ROW where the init was not read; `group` is then by op alone.
   */
  before(_run: Run, _row: number, _group: number, _record: RecordCursor): void {}
  /** Each after of a callback whose before was read. The callback's figures are in `run.callbacks`. `row` as in `before`. */
  after(_run: Run, _row: number, _record: RecordCursor): void {}
  /** The first resolve of a promise whose init was read. */
  resolve(_run: Run, _row: number, _group: number, _record: RecordCursor): void {}
  /** A destroy of an operation whose init was read. Its row is still valid. */
  destroy(_run: Run, _row: number, _group: number, _record: RecordCursor): void {}
  /** A promise is dropped to bound memory (see `PROMISE_WINDOW`): no further call for it has a row. Its row is still valid. */
  forget(_run: Run, _row: number, _group: number): void {}
  /** The next record belongs to another run, or there is none. Reading may come back to this run later. */
  leaveRun(_run: Run): void {}
}
