/**
 * Events that are noted in the hook and not encoded yet: column by column, so that a note is a few stores. Their times
 * stand in the slots of the clock (clock.ts), by the same index; what they carry besides, stacks and contexts, stands
 * in a scratch, one after the other.
 */
import { Scratch } from './scratch';

/** In the place of a row: a record is missing here. */
export const MISSING = -1;

/** `rows` are fragments of the record's op and phase (fragment.ts), or MISSING; parents and executions are an init's alone. */
export class Notes {
  readonly rows: Int32Array;
  readonly ids: Float64Array;
  readonly parents: Float64Array;
  readonly parentRows: Int32Array;
  readonly executions: Float64Array;
  readonly payloads: Scratch;
  /** Where the payload of each begins and how many bytes it has; 0: none. Not set where no record carries any. */
  readonly payloadStarts: Int32Array;
  readonly payloadLengths: Int32Array;

  /** @param payloadBytes room for payloads; more is made where it is needed */
  constructor(length: number, payloadBytes: number) {
    this.rows = new Int32Array(length);
    this.ids = new Float64Array(length);
    this.parents = new Float64Array(length);
    this.parentRows = new Int32Array(length);
    this.executions = new Float64Array(length);
    this.payloads = new Scratch(payloadBytes);
    this.payloadStarts = new Int32Array(length);
    this.payloadLengths = new Int32Array(length);
  }
}
