/**
 * What the encoder needs of a clock: the time of a record as text that is ready to be stored, "1764486000123.456",
 * milliseconds since the epoch.
 *
 * ```
 *  17644860 | 00123 | .456        text[0]: 8 bytes   text[1]: 5 bytes   fraction[0]: 4 bytes
 * ```
 * `text` holds bytes as doubles, the widest store there is (encode/template.ts), `fraction` as a word. The upper digits
 * change once a millisecond, so almost every read costs the system call, one division and one load from a table of 1,000.
 */

/** Events that can be kept before they are encoded. Twice a batch, since there may be no stack to encode one. */
export const EVENTS_MAX = 1024;
/** The slot for a time that becomes text at once: of `tick`, and of a record that is encoded on its own. */
export const SPARE = EVENTS_MAX;
export const SLOTS = EVENTS_MAX + 1;

/**
 * A time is taken in two steps. In the hook the bare reading is stored in a slot, for a call and a store. When the record
 * is encoded, the reading becomes text.
 */
export interface Clock {
  /** The time that was read last, as drawn above. */
  readonly text: Float64Array;
  readonly fraction: Int32Array;
  /** Stores the time of now in a slot. */
  capture(slot: number): void;
  /** Stores the time of the slot before this one, which is 1 or more. */
  share(slot: number): void;
  /** Turns the time of a slot into text. */
  read(slot: number): void;
  /** Turns the time of now into text. */
  tick(): void;
  /** Ends the thread that it reads from, where there is one. */
  stop(): void;
}

/** Writes the time at `p`, and returns the position behind it. The three stores overlap. */
export function putTime(to: DataView, p: number, time: Float64Array, fraction: Int32Array): number {
  to.setFloat64(p, time[0], true);
  to.setFloat64(p + 8, time[1], true);
  to.setInt32(p + 13, fraction[0], true);
  return p + 17;
}
