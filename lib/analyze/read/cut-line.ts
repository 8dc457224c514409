const NEWLINE = 10;

/** A longer line is no record. It is skipped and counted, so a file without newlines cannot fill the memory. */
export const MAX_LINE_BYTES = 64 * 1024 * 1024;

/**
 * Collects a line that the end of a chunk or of a source cuts. The parts of a split file cut a line between two sources;
 * the end of the last source cuts a line that was never finished. `sourceEnds` is where the cuts between sources were.
 */
export class CutLine {
  length = 0;
  /** Offsets in the line at which a source ended. */
  sourceEnds: number[] = [];
  /** Lines dropped because they were too long. */
  tooLong = 0;
  /** Bytes skipped so far of a line that is too long. */
  skipped = 0;
  #bytes: Buffer = Buffer.allocUnsafe(4096);
  #skipping = false;

  /** Whether the next bytes belong to a line that has begun. */
  get isOpen(): boolean {
    return this.length > 0 || this.#skipping;
  }

  append(bytes: Buffer): void {
    const endsLine = bytes[bytes.length - 1] === NEWLINE;
    if (this.#skipping) {
      this.skipped += bytes.length;
      this.#skipping = !endsLine;
      return;
    }
    const length = this.length + bytes.length;
    if (length > MAX_LINE_BYTES) {
      this.tooLong++;
      this.clear();
      this.#skipping = !endsLine;
      this.skipped = length;
      return;
    }
    if (length > this.#bytes.length) {
      const larger = Buffer.allocUnsafe(Math.min(MAX_LINE_BYTES, length * 2));
      this.#bytes.copy(larger, 0, 0, this.length);
      this.#bytes = larger;
    }
    bytes.copy(this.#bytes, this.length);
    this.length = length;
  }

  endSource(): void {
    this.#skipping = false;
    if (this.length > 0) {
      this.sourceEnds.push(this.length);
    }
  }

  text(start: number, end: number): string {
    return this.#bytes.toString('utf8', start, end);
  }

  clear(): void {
    this.length = 0;
    this.sourceEnds = [];
  }
}
