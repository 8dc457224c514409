/** What waits for a reader, in order. A list and no array, whose methods the program may have replaced. */
import { uncurryThis } from '../runtime/intrinsics';

const bufferFrom = Buffer.from;
const subarray = uncurryThis(Buffer.prototype.subarray);

interface Entry {
  lines: Buffer;
  next: Entry | undefined;
}

export class Queue {
  bytes = 0;
  #first: Entry | undefined;
  #last: Entry | undefined;

  /** What is to be written next; undefined where nothing waits. */
  get first(): Buffer | undefined {
    return this.#first?.lines;
  }

  /** Adds a copy. */
  add(lines: Buffer): void {
    const entry: Entry = { lines: bufferFrom(lines), next: undefined };
    if (this.#last === undefined) {
      this.#first = entry;
    } else {
      this.#last.next = entry;
    }
    this.#last = entry;
    this.bytes += lines.length;
  }

  /** Takes so many bytes of the first lines off. */
  advance(written: number): void {
    const entry = this.#first!;
    this.bytes -= written;
    if (written < entry.lines.length) {
      entry.lines = subarray(entry.lines, written);
      return;
    }
    this.#first = entry.next;
    if (this.#first === undefined) {
      this.#last = undefined;
    }
  }

  /** Empties it, and then tells of each lines that it held. */
  clear(each: (lines: Buffer) => void): void {
    let entry = this.#first;
    this.#first = undefined;
    this.#last = undefined;
    this.bytes = 0;
    for (; entry !== undefined; entry = entry.next) {
      each(entry.lines);
    }
  }
}
