/**
 * id -> op code of every live operation.
 *
 * ```
 *  directory   [ page | page |  -   | page | page ]      index = (id >>> 14) - first
 *                 |             |                        a page: 16,384 codes of 2 bytes and their count
 *                 v             freed: nothing in it lives
 *              [ 7 0 0 3 ... 12 | live ]
 *  sparse      the few survivors of old pages, and ids from before the directory
 * ```
 * Invariant: a live id stands in exactly one of the two; a page in the directory has live > 0 or is one of the
 * newest; every slot of a free page is 0, so that it can be used again as it is.
 *
 * Ids come nearly in order and die young, so a lookup is two loads, and memory follows what lives: 2 bytes an
 * operation while pages are dense, about 20 where one in a thousand survives. A Map takes 48 bytes an entry, ten
 * times the time and throws above 16.7 million (benchmark: `parts`, `memory`).
 */
import { uncurryThis } from '../runtime/intrinsics';

const PAGE_BITS = 14;
export const PAGE_SIZE = 1 << PAGE_BITS;
/** Below this count a page is dearer (32 KiB) than its survivors in the sparse store (20 bytes each). */
const COMPACT_BELOW = PAGE_SIZE >> 4;
/** Pages that may hold young ids: these are not compacted, most of what is in them is about to die. */
const YOUNG_PAGES = 4;
/** A directory longer than this (a billion ids from end to end) gives its oldest page to the sparse store. */
const DIRECTORY_MAX = 1 << 16;
/** Free pages kept for the next ids. */
const POOL_MAX = 8;
const INT31 = 2 ** 31;

type Page = Uint16Array;

const { floor, imul } = Math;
const shift = uncurryThis(Array.prototype.shift);
const slice: (list: (Page | undefined)[], from: number) => (Page | undefined)[] = uncurryThis(
  Array.prototype.slice,
);

function pageNumber(id: number): number {
  // A shift for what fits, a division beyond: ids above 2^31 come after hours at full load.
  return id < INT31 ? id >> PAGE_BITS : floor(id / PAGE_SIZE);
}

/** 0 is no code: it says that an id is not known. */
export class OperationTable {
  #directory: (Page | undefined)[] = [];
  #first = 0;
  #pages = 0;
  #pool: Page[] = [];
  #sparse = new SparseTable();

  /** Live operations, added up from the pages: a count beside theirs would be one more store at each event. */
  get size(): number {
    let size = this.#sparse.size;
    for (let i = 0; i < this.#directory.length; i++) {
      size += this.#directory[i]?.[PAGE_SIZE] ?? 0;
    }
    return size;
  }

  /** Returns the code of `id`, 0 where none is known. Any number may be asked for. */
  get(id: number): number {
    const index = pageNumber(id) - this.#first;
    if (index >= 0 && index < this.#directory.length) {
      const page = this.#directory[index];
      if (page !== undefined) {
        return page[id & (PAGE_SIZE - 1)];
      }
    }
    return this.#sparse.size === 0 ? 0 : this.#sparse.get(id);
  }

  /** Sets the code (1 to 65,535) of `id`, a safe integer from 0. */
  set(id: number, code: number): void {
    const index = pageNumber(id) - this.#first;
    let page: Page | undefined;
    if (index >= 0 && index < this.#directory.length) {
      page = this.#directory[index];
    }
    if (page === undefined) {
      page = this.#addPage(id);
      if (page === undefined) {
        this.#sparse.set(id, code);
        return;
      }
    }
    const slot = id & (PAGE_SIZE - 1);
    if (page[slot] === 0) {
      page[PAGE_SIZE]++;
    }
    page[slot] = code;
  }

  /** Forgets `id` and returns the code it had, 0 where none was known. */
  delete(id: number): number {
    const number = pageNumber(id);
    const index = number - this.#first;
    if (index >= 0 && index < this.#directory.length) {
      const page = this.#directory[index];
      if (page !== undefined) {
        const slot = id & (PAGE_SIZE - 1);
        const code = page[slot];
        if (code !== 0) {
          page[slot] = 0;
          const live = --page[PAGE_SIZE];
          if (live < COMPACT_BELOW && index < this.#directory.length - YOUNG_PAGES) {
            this.#compact(index);
          }
        }
        return code;
      }
    }
    return this.#sparse.size === 0 ? 0 : this.#sparse.delete(id);
  }

  /** The memory of the table's own arrays, in bytes. */
  get byteLength(): number {
    const pages = (this.#pages + this.#pool.length) * (PAGE_SIZE + 1) * 2;
    return pages + this.#directory.length * 8 + this.#sparse.byteLength;
  }

  /** Returns the page for a new id; undefined where the sparse store is the place for it. */
  #addPage(id: number): Page | undefined {
    const number = pageNumber(id);
    if (this.#directory.length === 0) {
      this.#first = number;
    }
    let index = number - this.#first;
    // An id behind the young pages is a straggler (an init of a thread long asleep): a page for it would not fill.
    if (index < 0 || index < this.#directory.length - YOUNG_PAGES) {
      return undefined;
    }
    if (index >= this.#directory.length + DIRECTORY_MAX) {
      // The ids jumped. What lives moves over, and the directory begins anew here.
      while (this.#directory.length > 0) {
        this.#retireOldest();
      }
      this.#first = number;
      index = 0;
    }
    while (this.#directory.length <= index) {
      this.#directory[this.#directory.length] = undefined;
      const aged = this.#directory.length - 1 - YOUNG_PAGES;
      const page = aged >= 0 ? this.#directory[aged] : undefined;
      if (page !== undefined && page[PAGE_SIZE] < COMPACT_BELOW) {
        this.#compact(aged);
      }
    }
    this.#trim();
    const page = this.#takePage();
    this.#directory[number - this.#first] = page;
    this.#pages++;
    return page;
  }

  /** Moves what lives in a page to the sparse store and frees the page. */
  #compact(index: number): void {
    const page = this.#directory[index] as Page;
    const base = (this.#first + index) * PAGE_SIZE;
    for (let slot = 0, left = page[PAGE_SIZE]; left > 0; slot++) {
      if (page[slot] !== 0) {
        this.#sparse.set(base + slot, page[slot]);
        // Entry by entry: the call may find no stack, and what is moved must be.
        page[slot] = 0;
        page[PAGE_SIZE]--;
        left--;
      }
    }
    this.#directory[index] = undefined;
    this.#pages--;
    if (this.#pool.length < POOL_MAX) {
      this.#pool[this.#pool.length] = page;
    }
  }

  #takePage(): Page {
    const pool = this.#pool;
    if (pool.length === 0) {
      return new Uint16Array(PAGE_SIZE + 1);
    }
    const page = pool[pool.length - 1];
    pool.length--;
    return page;
  }

  #retireOldest(): void {
    if (this.#directory[0] !== undefined) {
      this.#compact(0);
    }
    shift(this.#directory);
    this.#first++;
  }

  /** Cuts the freed head of the directory, in steps of its half so that each id pays a constant share. */
  #trim(): void {
    let free = 0;
    while (free < this.#directory.length - YOUNG_PAGES && this.#directory[free] === undefined) {
      free++;
    }
    if (free > 64 && free > this.#directory.length >> 1) {
      this.#directory = slice(this.#directory, free);
      this.#first += free;
    }
    while (this.#directory.length > DIRECTORY_MAX) {
      this.#retireOldest();
    }
  }
}

/**
 * A hash of number -> code in two typed arrays: linear probing, at most half full, deletion by moving back.
 * Ids are kept as id + 1, so that 0 is an empty slot.
 */
class SparseTable {
  size = 0;
  #keys = new Float64Array(64);
  #codes = new Uint16Array(64);

  get byteLength(): number {
    return this.#keys.byteLength + this.#codes.byteLength;
  }

  get(id: number): number {
    const slot = slotOf(this.#keys, id + 1);
    return this.#keys[slot] === 0 ? 0 : this.#codes[slot];
  }

  set(id: number, code: number): void {
    const slot = slotOf(this.#keys, id + 1);
    if (this.#keys[slot] === 0) {
      this.size++;
    }
    this.#keys[slot] = id + 1;
    this.#codes[slot] = code;
    if (this.size * 2 > this.#keys.length) {
      this.#resize(this.#keys.length * 2);
    }
  }

  delete(id: number): number {
    let hole = slotOf(this.#keys, id + 1);
    if (this.#keys[hole] === 0) {
      return 0;
    }
    const code = this.#codes[hole];
    const mask = this.#keys.length - 1;
    for (let next = (hole + 1) & mask; this.#keys[next] !== 0; next = (next + 1) & mask) {
      const home = homeOf(this.#keys[next], mask);
      if (((next - home) & mask) >= ((next - hole) & mask)) {
        this.#keys[hole] = this.#keys[next];
        this.#codes[hole] = this.#codes[next];
        hole = next;
      }
    }
    this.#keys[hole] = 0;
    this.size--;
    if (this.#keys.length > 64 && this.size * 8 < this.#keys.length) {
      this.#resize(this.#keys.length / 2);
    }
    return code;
  }

  #resize(length: number): void {
    const keys = new Float64Array(length);
    const codes = new Uint16Array(length);
    for (let i = 0; i < this.#keys.length; i++) {
      const key = this.#keys[i];
      if (key !== 0) {
        const slot = slotOf(keys, key);
        keys[slot] = key;
        codes[slot] = this.#codes[i];
      }
    }
    // Last: before, a call may find no stack.
    this.#keys = keys;
    this.#codes = codes;
  }
}

function homeOf(key: number, mask: number): number {
  // Fibonacci hashing of the low half, the high half mixed in: ids differ in their low bits.
  const high = floor(key / 4294967296);
  return (imul((key >>> 0) ^ high, 0x9e3779b1) >>> 7) & mask;
}

/** Where the key stands, or would stand. */
function slotOf(keys: Float64Array, key: number): number {
  const mask = keys.length - 1;
  let slot = homeOf(key, mask);
  while (keys[slot] !== 0 && keys[slot] !== key) {
    slot = (slot + 1) & mask;
  }
  return slot;
}
