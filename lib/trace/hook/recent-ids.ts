/**
 * What became of the ids that were given out lately and that the op table does not hold, two bits an id.
 *
 * ```
 *  numbers   [ 512 | 513 | 258 | 259 | ... ]     which 16,384 ids the slot's page is about, in turns of SLOTS
 *  pages     [  |  |  |  |  -  |  |  | ... ]     made when the first of them is marked
 * ```
 * Invariant: a slot belongs to the newest page that was marked in it. So of an id whose page the slot has, or whose page
 * is newer, all marks are known; of an id whose page is older, none is.
 *
 * One mebibyte at most, whatever is traced. A table of all that ended would grow with the run, and one of the promises
 * too, since their end is not known where their garbage collection is not tracked.
 */

const PAGE_BITS = 14;
export const PAGE_SIZE = 1 << PAGE_BITS;
/** 4.2 million ids, some seconds at full load; what is asked for later is older by far, or never comes. */
export const SLOTS = 256;
const WORDS = PAGE_SIZE / 16;
const INT31 = 2 ** 31;

const { floor } = Math;

// biome-ignore lint/suspicious/noConstEnum: as in codes.ts
export const enum Mark {
  none,
  /** It was destroyed. */
  ended,
  /** The tracer's own. */
  own,
  /** It is too long ago: it may have had any mark, or none. */
  forgotten,
}

function pageNumber(id: number): number {
  return id < INT31 ? id >> PAGE_BITS : floor(id / PAGE_SIZE);
}

export class RecentIds {
  readonly #numbers = new Float64Array(SLOTS);
  readonly #pages: (Int32Array | undefined)[] = [];

  constructor() {
    for (let i = 0; i < SLOTS; i++) {
      this.#pages[i] = undefined;
    }
  }

  /** Any number may be asked for. */
  get(id: number): number {
    const number = pageNumber(id);
    const slot = number & (SLOTS - 1);
    const page = this.#pages[slot];
    if (page === undefined) {
      return Mark.none;
    }
    const owner = this.#numbers[slot];
    if (owner === number) {
      return (page[(id & (PAGE_SIZE - 1)) >> 4] >>> ((id & 15) << 1)) & 3;
    }
    return owner > number ? Mark.forgotten : Mark.none;
  }

  /** `mark` is Mark.ended or Mark.own, of an id from 0 that has none or the same. */
  set(id: number, mark: number): void {
    const number = pageNumber(id);
    const slot = number & (SLOTS - 1);
    let page = this.#pages[slot];
    if (page === undefined || this.#numbers[slot] < number) {
      page = this.#turn(slot, number);
    }
    // Of an older page nothing is known any more.
    if (this.#numbers[slot] === number) {
      page[(id & (PAGE_SIZE - 1)) >> 4] |= mark << ((id & 15) << 1);
    }
  }

  #turn(slot: number, number: number): Int32Array {
    let page = this.#pages[slot];
    if (page === undefined) {
      page = new Int32Array(WORDS);
      this.#pages[slot] = page;
    } else {
      for (let i = 0; i < WORDS; i++) {
        page[i] = 0;
      }
    }
    this.#numbers[slot] = number;
    return page;
  }
}
