/** Lines that wait for a reader, in order. A linked list: the program may have replaced the methods of arrays. */
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

  /** The lines to be written next; undefined where the queue is empty. */
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

  /** Removes this many bytes from the front. They must belong to the first entry. */
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

  /** Empties the queue, and then calls `each` with the lines of every entry. */
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
