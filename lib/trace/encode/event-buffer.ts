/**
 * Events that the hook has stored and the encoder has not encoded yet: one column for each property, so that an event is
 * a few stores.
 *
 * ```
 *              encoded            to be encoded      free
 *  rows     [  .  .  .  .  .  | op+phase . . . . |  .  .  .  ]
 *  ids      [                 |  7  .  .  .  .  .|           ]     and an init's parents, parentRows, executions
 *  clock    [                 | time  .  .  .  . |           ]     in slots of its own (clock.ts), by the same index
 *           0               first              length     EVENTS_MAX
 * ```
 * Invariant (create-encoder.ts): 0 <= first <= length < EVENTS_MAX between two events. `first` is above 0 only where a batch was
 * interrupted. When `first` reaches `length`, both begin again at 0. Stacks and contexts of the events stand in a payload
 * buffer, one behind the other.
 */

/** Stands in `rows` where a record is missing. */
export const MISSING = -1;

/** `rows` are rows of templates by op and phase (template.ts), or MISSING. Only an init has parents and executions. */
export class EventBuffer {
  readonly rows: Int32Array;
  readonly ids: Float64Array;
  readonly parents: Float64Array;
  readonly parentRows: Int32Array;
  readonly executions: Float64Array;
  /** Where the payload of each event begins, and its bytes; 0: none. Not set where no record carries a payload. */
  readonly payloadStarts: Int32Array;
  readonly payloadLengths: Int32Array;

  constructor(length: number) {
    this.rows = new Int32Array(length);
    this.ids = new Float64Array(length);
    this.parents = new Float64Array(length);
    this.parentRows = new Int32Array(length);
    this.executions = new Float64Array(length);
    this.payloadStarts = new Int32Array(length);
    this.payloadLengths = new Int32Array(length);
  }
}
