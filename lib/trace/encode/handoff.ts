/**
 * The hand-off of a chunk to the destination. A `lost` record with the count stands where records are missing, because the
 * destination did not take them or there was no stack to encode them.
 */

import { type Clock, putTime } from '../clock/clock';
import { DROPPED, type Outcome } from '../destination/destination';
import { copyInto, uncurryThis, utf8 } from '../runtime/intrinsics';
import type { Chunk } from './chunk';
import { CLOSE, type Templates, TIME } from './template';

/**
 * The calls between a full chunk and the system call need stack. Near the end of the stack a write would be interrupted, so
 * it is postponed: `probe` takes 8 KiB at once and throws where these are not there. Encoding needs less, and is probed more
 * often: with 8 KiB the probe took 2 of a tick's 120 ns an event (benchmark: `ticks`, Node 20).
 *
 * The first hand-off needs more: V8 compiles a function at its first call, and takes 40 KiB for that (Node 20 to 26).
 */
const apply = uncurryThis(Function.prototype.apply) as (
  f: () => void,
  self: unknown,
  list: readonly unknown[],
) => void;
export const TO_HAND: readonly unknown[] = new Array(1024).fill(0);
const TO_HAND_FIRST: readonly unknown[] = new Array(8192).fill(0);
export const TO_ENCODE: readonly unknown[] = new Array(256).fill(0);
function probe(): void {}

export function isStackEnough(need: readonly unknown[]): boolean {
  try {
    apply(probe, undefined, need);
    return true;
  } catch {
    return false;
  }
}

export interface HandoffOptions {
  chunk: Chunk;
  clock: Clock;
  templates: Templates;
  /** What a record begins with. */
  open: string;
  /** Bytes at which the chunk is full. */
  limit: number;
  write: (lines: Buffer) => Outcome;
}

export class Handoff {
  /** Bytes at which the chunk is full; 0 where each record must be handed off at once. */
  limit: number;
  /** Operation records in the chunk. */
  records = 0;
  /** Whether the chunk is being handed off: a stream's write may run code that calls this again. */
  busy = false;
  /** Records lost. */
  lost = 0;
  /** [0]: those that could not be counted here for lack of stack. */
  readonly missed = new Float64Array(1);

  readonly #options: HandoffOptions;
  #need = TO_HAND_FIRST;
  /** Lost records that no `lost` record has counted yet, and those that the `lost` record in this chunk counts. */
  #unreported = 0;
  #reported = 0;
  #trailer: (() => string) | undefined;
  /** The time of the last record that was handed off. */
  readonly #time: Float64Array;
  readonly #fraction: Int32Array;

  constructor(options: HandoffOptions) {
    this.#options = options;
    this.limit = options.limit;
    this.#time = new Float64Array(options.clock.text.length);
    this.#fraction = new Int32Array(options.clock.fraction.length);
  }

  get isDue(): boolean {
    return this.#options.chunk.length >= this.limit;
  }

  /** Hands the chunk off, unless that is in progress. Returns false where the stack is too short for it. */
  hand(): boolean {
    const { chunk, clock } = this.#options;
    if (chunk.length === 0 || this.busy) {
      return true;
    }
    if (!isStackEnough(this.#need)) {
      return false;
    }
    this.#putTrailer();
    const lines = chunk.take();
    this.busy = true;
    const { records } = this;
    const reported = this.#reported;
    this.records = 0;
    this.#reported = 0;
    copyInto(this.#time, clock.text);
    copyInto(this.#fraction, clock.fraction);
    const outcome = this.#attempt(lines);
    this.busy = false;
    this.#need = TO_HAND;
    // A stream's write may run callbacks of the program: their records follow what was handed off.
    const rest = chunk.release();
    if (outcome === DROPPED) {
      this.lost += records;
      this.#unreported += reported + records;
    }
    this.#report(this.#time, this.#fraction);
    this.#reportMissed(this.#time, this.#fraction);
    if (rest !== undefined) {
      chunk.append(rest);
    }
    return true;
  }

  /** Hands off what there is, after a `lost` record for what is missing. */
  flush(): void {
    const { clock } = this.#options;
    this.#reportMissed(clock.text, clock.fraction);
    this.hand();
  }

  /** Records that a record is missing after those in the chunk. */
  lose(): void {
    const { clock } = this.#options;
    this.lost++;
    this.#unreported++;
    this.#report(clock.text, clock.fraction);
  }

  /** Writes a line of these fields, with the time of now. */
  line(fields: string): void {
    const { clock } = this.#options;
    clock.tick();
    this.#putLine(fields, clock.text, clock.fraction);
  }

  /** From here on each record is handed off at once, followed by a line of these fields. */
  writeThrough(trailer: (() => string) | undefined): void {
    this.#trailer = trailer;
    this.limit = 0;
  }

  #putLine(fields: string, time: Float64Array, fraction: Int32Array): void {
    const { chunk, templates, open } = this.#options;
    const text = utf8(open + fields);
    const place = chunk.placeFor(text.length);
    const { bytes, view } = place;
    copyInto(bytes, text, place.pos);
    const p = templates.put(view, place.pos + text.length, TIME);
    place.pos = templates.put(view, putTime(view, p, time, fraction), CLOSE);
    chunk.add(place);
  }

  /** Writes a `lost` record for what none has counted yet, with the time of the record before it, lost or not. */
  #report(time: Float64Array, fraction: Int32Array): void {
    if (this.#unreported > 0) {
      this.#putLine(`"phase":"lost","count":${this.#unreported}`, time, fraction);
      this.#reported += this.#unreported;
      this.#unreported = 0;
    }
  }

  #reportMissed(time: Float64Array, fraction: Int32Array): void {
    const missed = this.missed[0];
    if (missed > 0) {
      this.missed[0] = 0;
      this.lost += missed;
      this.#unreported += missed;
      this.#report(time, fraction);
    }
  }

  #putTrailer(): void {
    if (this.#trailer === undefined) {
      return;
    }
    try {
      this.line(this.#trailer());
    } catch {
      // Another one follows the next record.
    }
  }

  #attempt(lines: Buffer): Outcome {
    try {
      return this.#options.write(lines);
    } catch {
      return DROPPED;
    }
  }
}
