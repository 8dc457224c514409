const SLOTS = 1 << 17;

/**
 * The groups of operations that ended, so that those which they trigger later still find their place: 2 MB, for the last
 * 131,072 ids at least. An operation takes the slot of an older one whose id has the same low bits.
 */
export class RecentlyEnded {
  #ids = new Float64Array(0);
  #runs = new Int32Array(0);
  #groups = new Int32Array(0);

  add(run: number, id: number, group: number): void {
    if (this.#ids.length === 0) {
      this.#ids = new Float64Array(SLOTS).fill(Number.NaN);
      this.#runs = new Int32Array(SLOTS);
      this.#groups = new Int32Array(SLOTS);
    }
    const slot = id & (SLOTS - 1);
    this.#ids[slot] = id;
    this.#runs[slot] = run;
    this.#groups[slot] = group;
  }

  /** -1 where it is not known. */
  groupOf(run: number, id: number): number {
    const slot = id & (SLOTS - 1);
    return this.#ids[slot] === id && this.#runs[slot] === run ? this.#groups[slot] : -1;
  }
}
