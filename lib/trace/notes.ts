/**
 * Events that are noted in the hook and not encoded yet: column by column, so that a note is a few stores. Their times
 * stand in the slots of the clock (clock.ts), by the same index; what they carry besides, stacks and contexts, stands
 * in a scratch, one after the other.
 */
import { Scratch } from './scratch';

/** In the place of a row: a record is missing here. */
export const MISSING = -1;

const IS_WIDE = -(2 ** 31);

/**
 * Ids as integers, which need no conversion before their digits are looked up; those that do not fit stand beside them.
 */
export class IdColumn {
  private readonly narrow: Int32Array;
  private readonly wide: Float64Array;

  constructor(length: number) {
    this.narrow = new Int32Array(length);
    this.wide = new Float64Array(length);
  }

  set(i: number, id: number): void {
    if ((id | 0) === id) {
      this.narrow[i] = id;
    } else {
      this.narrow[i] = IS_WIDE;
      this.wide[i] = id;
    }
  }

  get(i: number): number {
    const id = this.narrow[i];
    return id === IS_WIDE ? this.wide[i] : id;
  }
}

/** `rows` are fragments of the record's op and phase (fragment.ts), or MISSING; parents and executions are an init's alone. */
export class Notes {
  readonly rows: Int32Array;
  readonly ids: IdColumn;
  readonly parents: IdColumn;
  readonly parentRows: Int32Array;
  readonly executions: IdColumn;
  readonly payloads: Scratch;
  /** Where the payload of each begins and how many bytes it has; 0: none. Not set where no record carries any. */
  readonly payloadStarts: Int32Array;
  readonly payloadLengths: Int32Array;

  /** @param payloadBytes room for payloads; more is made where it is needed */
  constructor(length: number, payloadBytes: number) {
    this.rows = new Int32Array(length);
    this.ids = new IdColumn(length);
    this.parents = new IdColumn(length);
    this.parentRows = new Int32Array(length);
    this.executions = new IdColumn(length);
    this.payloads = new Scratch(payloadBytes);
    this.payloadStarts = new Int32Array(length);
    this.payloadLengths = new Int32Array(length);
  }
}
