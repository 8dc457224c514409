import type { Decoder } from '../decode/decoder';
import { CutLine } from './cut-line';

const NEWLINE = 10;

/**
 * Splits chunks into lines and calls `accept` for each record, which is then in the decoder's fields.
 *
 * Lines are decoded in place in the chunk; only a line that continues in the next chunk is copied, into a `CutLine`.
 * A line may also continue in the next source, as in the parts of a split file. If the parts joined are a record, they
 * count as one; otherwise each part is tried alone, and one that is no record counts as cut.
 */
export class Lines {
  records = 0;
  /** Lines that the end of a source cut off. */
  cut = 0;

  readonly #decoder: Decoder;
  readonly #accept: () => void;
  readonly #cutLine = new CutLine();
  #foreign = 0;

  constructor(decoder: Decoder, accept: () => void) {
    this.#decoder = decoder;
    this.#accept = accept;
  }

  /** Lines that are neither blank nor records. */
  get foreign(): number {
    return this.#foreign + this.#cutLine.tooLong;
  }

  /** Bytes skipped so far of a line that is too long. */
  get skipped(): number {
    return this.#cutLine.skipped;
  }

  feed(chunk: Buffer): void {
    let start = 0;
    if (this.#cutLine.isOpen) {
      const newline = chunk.indexOf(NEWLINE);
      if (newline < 0) {
        this.#cutLine.append(chunk);
        return;
      }
      start = newline + 1;
      this.#cutLine.append(chunk.subarray(0, start));
      this.#readCutLine(false);
    }
    const end = chunk.lastIndexOf(NEWLINE) + 1;
    if (end > start) {
      this.#readWhole(chunk, start, end);
    }
    if (Math.max(start, end) < chunk.length) {
      this.#cutLine.append(chunk.subarray(Math.max(start, end)));
    }
  }

  /** A source has ended; another may follow. */
  endSource(): void {
    this.#cutLine.endSource();
  }

  /** All sources have ended: a last line without a newline is a record or cut. */
  finish(): void {
    this.#readCutLine(true);
  }

  #readWhole(chunk: Buffer, start: number, end: number): void {
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
        this.#readLine(chunk.toString('utf8', at, newline), false);
        at = newline + 1;
      }
    }
  }

  /** @param isLast whether no newline and no other source follow */
  #readCutLine(isLast: boolean): void {
    const line = this.#cutLine;
    const { length, sourceEnds } = line;
    line.clear();
    if (sourceEnds.at(-1) === length) {
      sourceEnds.pop();
    }
    if (length === 0) {
      return;
    }
    if (sourceEnds.length === 0) {
      this.#readLine(line.text(0, length), isLast);
      return;
    }
    if (this.#parse(line.text(0, length))) {
      return;
    }
    let start = 0;
    for (const end of [...sourceEnds, length]) {
      this.#readLine(line.text(start, end), isLast || end < length);
      start = end;
    }
  }

  /** @param isCut whether the end of a source cut the line off */
  #readLine(line: string, isCut: boolean): void {
    if (line.trim() === '' || this.#parse(line)) {
      return;
    }
    if (isCut) {
      this.cut++;
    } else {
      this.#foreign++;
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
