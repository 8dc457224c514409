/**
 * Events that are noted in the hook and not encoded yet: column by column, so that a note is a few stores.
 *
 * ```
 *              encoded by now     to be encoded      free
 *  rows     [  .  .  .  .  .  | op+phase . . . . |  .  .  .  ]
 *  ids      [                 |  7  .  .  .  .  .|           ]     and an init's parents, parentRows, executions
 *  clock    [                 | time  .  .  .  . |           ]     in its own slots (clock.ts), by the same index
 *           0               first              noted     EVENTS_MAX
 * ```
 * Invariant (encoder.ts): 0 <= first <= noted < EVENTS_MAX between two events, and first is above 0 only where a batch
 * was broken off. When first meets noted, both begin anew at 0. What records carry besides, stacks and contexts, stands
 * in a buffer, one after the other.
 */
import { PayloadBuffer } from '../payload/payload-buffer';

/** In the place of a row: a record is missing here. */
export const MISSING = -1;

/** `rows` are templates of the record's op and phase (fragment.ts), or MISSING; parents and executions are an init's alone. */
export class EventBuffer {
  readonly rows: Int32Array;
  readonly ids: Float64Array;
  readonly parents: Float64Array;
  readonly parentRows: Int32Array;
  readonly executions: Float64Array;
  readonly payloads: PayloadBuffer;
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
    this.payloads = new PayloadBuffer(payloadBytes);
    this.payloadStarts = new Int32Array(length);
    this.payloadLengths = new Int32Array(length);
  }
}
