import { roomFor } from './column';

export const NO_ROW = -1;

/** Bits of `flags`. */
export const RAN = 1;
export const RAN_AGAIN = 2;
export const SETTLED = 4;
export const UNREF = 8;
/** Contexts were seen; only then does a missing UNREF mean that it is ref'd. */
export const CONTEXT = 16;
/** A promise that waits for another one, as those of `await` and `then` do. */
export const DERIVED = 32;
/** Its stack is as long as the tracer's limit, so it may end before the frames of the user's code. */
export const STACK_CUT = 64;

/** Typed arrays of up to 64 bytes are in V8's heap, so a log of many short runs does not pay for buffers. */
const FIRST_ROWS = 8;

/**
 * The operations that have begun and not ended, in columns: about 45 bytes each and no object. A row is an operation's
 * place in the columns, valid until its destroy.
 *
 *     heads[id & mask] -> row -> next[row] -> ... -> -1        free rows are chained through `next` too
 *
 * Ids rise one by one, so their low bits spread them evenly and neighbours stay neighbours in memory. Chains, not
 * probing: in a solid stretch of neighbours removal by shifting would walk all of them.
 *
 * Invariant: every row is either in exactly one chain of `heads` or in the chain of `#free`.
 */
export class LiveOperations {
  id = new Float64Array(FIRST_ROWS);
  /** Times of the init, and of the last after (0 before the first). */
  init = new Float64Array(FIRST_ROWS);
  last = new Float64Array(FIRST_ROWS);
  group = new Int32Array(FIRST_ROWS);
  flags = new Uint8Array(FIRST_ROWS);
  size = 0;

  #next = new Int32Array(FIRST_ROWS);
  #heads = new Int32Array(FIRST_ROWS).fill(NO_ROW);
  #mask = FIRST_ROWS - 1;
  #free = NO_ROW;
  /** Rows from here on were never used. */
  #fresh = 0;

  find(id: number): number {
    const ids = this.id;
    const next = this.#next;
    let row = this.#heads[slotOf(id) & this.#mask];
    while (row >= 0 && ids[row] !== id) {
      row = next[row];
    }
    return row;
  }

  /** The caller must know that the id is not there. */
  add(id: number, init: number, group: number): number {
    let row = this.#free;
    if (row >= 0) {
      this.#free = this.#next[row];
    } else {
      row = this.#fresh++;
      if (row === this.id.length) {
        this.#grow();
      }
    }
    const slot = slotOf(id) & this.#mask;
    this.id[row] = id;
    this.init[row] = init;
    this.last[row] = 0;
    this.group[row] = group;
    this.flags[row] = 0;
    this.#next[row] = this.#heads[slot];
    this.#heads[slot] = row;
    this.size++;
    return row;
  }

  remove(row: number): void {
    const next = this.#next;
    const slot = slotOf(this.id[row]) & this.#mask;
    let at = this.#heads[slot];
    if (at === row) {
      this.#heads[slot] = next[row];
    } else {
      while (next[at] !== row) {
        at = next[at];
      }
      next[at] = next[row];
    }
    next[row] = this.#free;
    this.#free = row;
    this.size--;
  }

  /** All rows in use, in no order. */
  *rows(): Generator<number> {
    for (const head of this.#heads) {
      for (let row = head; row >= 0; row = this.#next[row]) {
        yield row;
      }
    }
  }

  #grow(): void {
    const length = this.id.length * 2;
    this.id = roomFor(this.id, length);
    this.init = roomFor(this.init, length);
    this.last = roomFor(this.last, length);
    this.group = roomFor(this.group, length);
    this.flags = roomFor(this.flags, length);
    this.#next = roomFor(this.#next, length);
    this.#heads = new Int32Array(length).fill(NO_ROW);
    this.#mask = length - 1;
    // No row is free while the table grows, so all of them are in use.
    for (let row = 0; row < length / 2; row++) {
      const slot = slotOf(this.id[row]) & this.#mask;
      this.#next[row] = this.#heads[slot];
      this.#heads[slot] = row;
    }
  }
}

/** Mixes in the bits above the mask, because the ids of a filtered log may have a stride. */
function slotOf(id: number): number {
  return id ^ (id >>> 15) ^ (id * 2 ** -32);
}
