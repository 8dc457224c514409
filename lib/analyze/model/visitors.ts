import type { RecordCursor } from '../decode/cursor';
import type { Run } from './run';
import { OperationVisitor } from './visitor';

/** Several visitors as one, so that one pass over a log serves all of them. Each is called in the order of the list. */
export class Visitors extends OperationVisitor {
  constructor(readonly list: readonly OperationVisitor[]) {
    super();
  }

  override init(run: Run, row: number, group: number, executionId: number, record: RecordCursor): void {
    for (const visitor of this.list) {
      visitor.init(run, row, group, executionId, record);
    }
  }

  override firstBefore(run: Run, row: number, group: number, wait: number): void {
    for (const visitor of this.list) {
      visitor.firstBefore(run, row, group, wait);
    }
  }

  override before(run: Run, row: number, group: number, record: RecordCursor): void {
    for (const visitor of this.list) {
      visitor.before(run, row, group, record);
    }
  }

  override after(run: Run, row: number, record: RecordCursor): void {
    for (const visitor of this.list) {
      visitor.after(run, row, record);
    }
  }

  override resolve(run: Run, row: number, group: number, record: RecordCursor): void {
    for (const visitor of this.list) {
      visitor.resolve(run, row, group, record);
    }
  }

  override destroy(run: Run, row: number, group: number, record: RecordCursor): void {
    for (const visitor of this.list) {
      visitor.destroy(run, row, group, record);
    }
  }

  override forget(run: Run, row: number, group: number): void {
    for (const visitor of this.list) {
      visitor.forget(run, row, group);
    }
  }

  override leaveRun(run: Run): void {
    for (const visitor of this.list) {
      visitor.leaveRun(run);
    }
  }
}
