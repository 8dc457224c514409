import type { RecordCursor } from '../analyze/decode/cursor';
import type { Run } from '../analyze/model/run';
import { OperationVisitor } from '../analyze/model/visitor';

/** Two visitors of one log. */
export class Both extends OperationVisitor {
  readonly #one: OperationVisitor;
  readonly #other: OperationVisitor;

  constructor(one: OperationVisitor, other: OperationVisitor) {
    super();
    this.#one = one;
    this.#other = other;
  }

  override init(run: Run, row: number, group: number, executionId: number, record: RecordCursor): void {
    this.#one.init(run, row, group, executionId, record);
    this.#other.init(run, row, group, executionId, record);
  }

  override firstBefore(run: Run, row: number, group: number, wait: number): void {
    this.#one.firstBefore(run, row, group, wait);
    this.#other.firstBefore(run, row, group, wait);
  }

  override before(run: Run, row: number, group: number, record: RecordCursor): void {
    this.#one.before(run, row, group, record);
    this.#other.before(run, row, group, record);
  }

  override after(run: Run, row: number, record: RecordCursor): void {
    this.#one.after(run, row, record);
    this.#other.after(run, row, record);
  }

  override resolve(run: Run, row: number, group: number, record: RecordCursor): void {
    this.#one.resolve(run, row, group, record);
    this.#other.resolve(run, row, group, record);
  }

  override destroy(run: Run, row: number, group: number, record: RecordCursor): void {
    this.#one.destroy(run, row, group, record);
    this.#other.destroy(run, row, group, record);
  }

  override forget(run: Run, row: number, group: number): void {
    this.#one.forget(run, row, group);
    this.#other.forget(run, row, group);
  }

  override leaveRun(run: Run): void {
    this.#one.leaveRun(run);
    this.#other.leaveRun(run);
  }
}
