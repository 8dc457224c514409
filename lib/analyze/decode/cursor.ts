import type { TraceRecord } from '../../log/event';
import { NO_OP, OpTable } from './op-table';
import { INIT, isId, PHASE_CODES, PHASES, RESOLVE } from './record';
import { isFrames, NO_STACK, StackTable } from './stack-table';

/**
 * The record that was read last, as fields, so that a reader of millions of records makes no objects. `record()` and
 * `context()` make objects for those that need them.
 */
export class RecordCursor {
  /** A code of `record.ts`. */
  phase = INIT;
  /** NaN where a record has no such number. NaN also keeps V8 from storing these fields as small integers. */
  opid = Number.NaN;
  parentopid = Number.NaN;
  execopid = Number.NaN;
  /** Milliseconds since the epoch, to the microsecond. */
  time = Number.NaN;
  /** Index into `ops`; NO_OP where the record has none. */
  op = NO_OP;
  /** Index into `stacks`, valid until the next record is read; NO_STACK where the record has none. */
  stack = NO_STACK;
  /** The whole record where it was read by JSON.parse, as every `start`, `end` and `lost` is; else undefined. */
  parsed: TraceRecord | undefined;

  readonly ops = new OpTable();
  readonly stacks = new StackTable();

  protected bytes: Uint8Array = new Uint8Array(0);
  protected lineStart = 0;
  protected lineEnd = 0;
  /** The name number of `parentop`; -1 where there is none. */
  protected parentName = -1;
  protected ctxStart = -1;
  protected ctxEnd = -1;
  /** Whether records have fields of `prefix` or `suffix`. */
  protected hasCustomFields = false;

  /** The record as an object, with all its fields in the order of the log. */
  record(): TraceRecord {
    if (this.parsed !== undefined) {
      return this.parsed;
    }
    if (this.hasCustomFields) {
      return JSON.parse(this.#text(this.lineStart, this.lineEnd));
    }
    const { opid, time, op } = this;
    const phase = PHASES[this.phase];
    if (op === NO_OP) {
      const record: Record<string, unknown> = { opid, phase, time };
      if (this.ctxStart >= 0) {
        record['ctx'] = this.context();
      }
      return record as unknown as TraceRecord;
    }
    const name = this.ops.names[op];
    const area = this.ops.areas[op];
    if (this.phase !== INIT) {
      const record: Record<string, unknown> = { opid, op: name, phase, area, time };
      if (this.ctxStart >= 0) {
        record['ctx'] = this.context();
      }
      return record as unknown as TraceRecord;
    }
    const record: Record<string, unknown> = { opid, op: name, phase, area, parentopid: this.parentopid };
    if (this.parentName >= 0) {
      record['parentop'] = this.ops.texts[this.parentName];
    }
    if (!Number.isNaN(this.execopid)) {
      record['execopid'] = this.execopid;
    }
    record['time'] = time;
    if (this.stack !== NO_STACK) {
      record['stack'] = this.stacks.frames(this.stack);
    }
    return record as unknown as TraceRecord;
  }

  /** The `ctx` of the record, undefined where it has none. */
  context(): unknown {
    if (this.parsed !== undefined) {
      return this.parsed['ctx'];
    }
    return this.ctxStart < 0 ? undefined : JSON.parse(this.#text(this.ctxStart, this.ctxEnd));
  }

  /** Takes the fields from a record that is an object. */
  assign(record: TraceRecord): void {
    const phase = PHASE_CODES.get(record.phase)!;
    this.phase = phase;
    this.parsed = record;
    this.time = record.time;
    this.opid = this.parentopid = this.execopid = Number.NaN;
    this.op = NO_OP;
    this.stack = NO_STACK;
    if (phase > RESOLVE) {
      return;
    }
    const { opid, op, area, parentopid, parentop, execopid, stack } = record as unknown as Record<
      string,
      never
    >;
    this.opid = opid;
    if (op !== undefined) {
      this.op = this.ops.intern(op, typeof area === 'string' ? area : undefined);
    }
    if (phase === INIT) {
      this.parentopid = parentopid;
      if (isId(execopid)) {
        this.execopid = execopid;
      }
      if (typeof parentop === 'string') {
        this.ops.learn(parentop);
      }
      if (isFrames(stack)) {
        this.stack = this.stacks.intern(stack);
      }
    }
  }

  #text(start: number, end: number): string {
    const { buffer, byteOffset } = this.bytes;
    return Buffer.from(buffer, byteOffset + start, end - start).toString();
  }
}
