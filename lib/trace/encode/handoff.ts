/**
 * The way of a chunk to the destination, and the words for what did not arrive: a `lost` record with the count stands
 * where the records are missing.
 */

import { type Clock, putTime } from '../clock/clock';
import { DROPPED, type Outcome } from '../destination/destination';
import { copyInto, uncurryThis, utf8 } from '../runtime/intrinsics';
import type { Chunk } from './chunk';
import { CLOSE, type Templates, TIME } from './template';

/**
 * What lies between a full chunk and the system call needs stack. Near its end a write would be broken off half way,
 * so it is put off: `probe` takes 8 KiB at once, and throws where they are not there. To encode takes less, and is the
 * more often asked for: with 8 KiB that was 2 of a tick's 120 ns an event (benchmark: `ticks`, Node 20).
 *
 * The first time takes more: V8 compiles a function at its first call, and wants 40 KiB for that (Node 20 to 26).
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
  /** Where the chunk is full; 0 where each record must go at once. */
  limit: number;
  /** Operation records in the chunk. */
  records = 0;
  /** Whether the chunk is being handed on: a stream's write may run code that comes back here. */
  busy = false;
  /** Records lost. */
  lost = 0;
  /** [0]: those that could not be counted here for lack of stack. */
  readonly missed = new Float64Array(1);

  readonly #options: HandoffOptions;
  #need = TO_HAND_FIRST;
  /** Lost records that no `lost` record tells of yet, and those that the one in this chunk tells of. */
  #untold = 0;
  #told = 0;
  #trailer: (() => string) | undefined;
  /** The time of the last record that was handed on. */
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

  /** Hands the chunk on, unless that is being done already. Returns false where the stack is too short for it. */
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
    const told = this.#told;
    this.records = 0;
    this.#told = 0;
    copyInto(this.#time, clock.text);
    copyInto(this.#fraction, clock.fraction);
    const outcome = this.#attempt(lines);
    this.busy = false;
    this.#need = TO_HAND;
    // A stream's write may run callbacks of the program, too: their records stand behind what was handed on.
    const rest = chunk.release();
    if (outcome === DROPPED) {
      this.lost += records;
      this.#untold += told + records;
    }
    this.#tell(this.#time, this.#fraction);
    this.#tellMissed(this.#time, this.#fraction);
    if (rest !== undefined) {
      chunk.append(rest);
    }
    return true;
  }

  /** Hands on what is there, and says first what is missing. */
  flush(): void {
    const { clock } = this.#options;
    this.#tellMissed(clock.text, clock.fraction);
    this.hand();
  }

  /** Says that a record is missing behind those in the chunk. */
  lose(): void {
    const { clock } = this.#options;
    this.lost++;
    this.#untold++;
    this.#tell(clock.text, clock.fraction);
  }

  /** Writes a line of these fields at the time of now. */
  line(fields: string): void {
    const { clock } = this.#options;
    clock.tick();
    this.#putLine(fields, clock.text, clock.fraction);
  }

  /** From here on each record goes at once, and behind it a line of these fields. */
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

  /** Writes the `lost` record of what no record tells of yet, at the time of the record that stands, or stood, before it. */
  #tell(time: Float64Array, fraction: Int32Array): void {
    if (this.#untold > 0) {
      this.#putLine(`"phase":"lost","count":${this.#untold}`, time, fraction);
      this.#told += this.#untold;
      this.#untold = 0;
    }
  }

  #tellMissed(time: Float64Array, fraction: Int32Array): void {
    const missed = this.missed[0];
    if (missed > 0) {
      this.missed[0] = 0;
      this.lost += missed;
      this.#untold += missed;
      this.#tell(time, fraction);
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
