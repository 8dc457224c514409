import type { Decoder } from './decoder';

const NEWLINE = 10;

/** A line longer than this is no record: it is passed over and counted, so that a file without newlines stays harmless. */
export const MAX_LINE_BYTES = 64 * 1024 * 1024;

/** What became of the lines that are no records. */
export interface LineCounts {
  records: number;
  /** Lines that are not blank and no records. */
  foreign: number;
  /** Lines that a source's end cut off. */
  cut: number;
}

/**
 * Cuts chunks into lines and calls `accept` for each record, which finds it in the decoder's fields.
 *
 * Lines are decoded where they lie in the chunk; only one that crosses into the next chunk is copied to `#carry`.
 * A line may cross into the next source too, as the parts of a split file do: where the join is a record it counts as
 * one, otherwise each piece is tried alone, and what stays is a line cut off.
 */
export class Lines implements LineCounts {
  records = 0;
  foreign = 0;
  cut = 0;

  readonly #decoder: Decoder;
  readonly #accept: () => void;
  #carry: Buffer = Buffer.allocUnsafe(4096);
  #carried = 0;
  /** Where in the carry a source ended. */
  #seams: number[] = [];
  #skipping = false;
  /** Bytes passed over so far of a line that is too long. */
  skipped = 0;

  constructor(decoder: Decoder, accept: () => void) {
    this.#decoder = decoder;
    this.#accept = accept;
  }

  feed(chunk: Buffer): void {
    let start = 0;
    if (this.#carried > 0 || this.#skipping) {
      const newline = chunk.indexOf(NEWLINE);
      if (newline < 0) {
        this.#keep(chunk);
        return;
      }
      start = newline + 1;
      this.#keep(chunk.subarray(0, start));
      this.#take();
    }
    const end = chunk.lastIndexOf(NEWLINE) + 1;
    if (end > start) {
      this.#run(chunk, start, end);
    }
    if (Math.max(start, end) < chunk.length) {
      this.#keep(chunk.subarray(Math.max(start, end)));
    }
  }

  /** A source has ended; another may follow. */
  seam(): void {
    this.#skipping = false;
    if (this.#carried > 0) {
      this.#seams.push(this.#carried);
    }
  }

  /** All sources have ended: a last line without a newline is a record or cut. */
  finish(): void {
    if (this.#seams.at(-1) === this.#carried) {
      this.#seams.pop();
    }
    if (this.#carried > 0) {
      this.#take(true);
    }
  }

  #run(chunk: Buffer, start: number, end: number): void {
    const decoder = this.#decoder;
    let at = start;
    while (at < end) {
      const next = decoder.decode(chunk, at);
      if (next > 0) {
        this.records++;
        this.#accept();
        at = next;
      } else {
        const newline = chunk.indexOf(NEWLINE, at);
        this.#line(chunk.toString('utf8', at, newline));
        at = newline + 1;
      }
    }
  }

  #keep(bytes: Buffer): void {
    if (this.#skipping) {
      this.skipped += bytes.length;
      if (bytes[bytes.length - 1] === NEWLINE) {
        this.#skipping = false;
      }
      return;
    }
    const length = this.#carried + bytes.length;
    if (length > MAX_LINE_BYTES) {
      this.foreign++;
      this.#carried = 0;
      this.#seams = [];
      this.#skipping = bytes[bytes.length - 1] !== NEWLINE;
      this.skipped = length;
      return;
    }
    if (length > this.#carry.length) {
      const larger = Buffer.allocUnsafe(Math.min(MAX_LINE_BYTES, length * 2));
      this.#carry.copy(larger, 0, 0, this.#carried);
      this.#carry = larger;
    }
    bytes.copy(this.#carry, this.#carried);
    this.#carried = length;
  }

  /** Reads the carried line. */
  #take(last = false): void {
    const length = this.#carried;
    if (length === 0) {
      return;
    }
    this.#carried = 0;
    const seams = this.#seams;
    if (seams.length === 0) {
      this.#line(this.#carry.toString('utf8', 0, length), last);
      return;
    }
    this.#seams = [];
    if (this.#parse(this.#carry.toString('utf8', 0, length))) {
      return;
    }
    let start = 0;
    for (const seam of [...seams, length]) {
      this.#line(this.#carry.toString('utf8', start, seam), last || seam < length);
      start = seam;
    }
  }

  #line(line: string, open = false): void {
    if (line.trim() === '' || this.#parse(line)) {
      return;
    }
    if (open) {
      this.cut++;
    } else {
      this.foreign++;
    }
  }

  #parse(line: string): boolean {
    if (!this.#decoder.parse(line.charCodeAt(0) === 0xfeff ? line.slice(1) : line)) {
      return false;
    }
    this.records++;
    this.#accept();
    return true;
  }
}
