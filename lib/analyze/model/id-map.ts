const PAGE_BITS = 6;
const PAGE = 1 << PAGE_BITS;
const SLAB_PAGES = 4096;

/** What `get` gives for an id that was never set. */
export const UNKNOWN = -1;

/**
 * A number of 31 bits for each id of a run, whether its operation is live or not. Ids have few gaps, so the id is the
 * index: five bytes an operation, where a Map takes fifty. With only every hundredth id, each costs a page of 64.
 *
 *     id >>> 6 -> page -> slabs[page >>> 12][(page & 4095) * 64 + (id & 63)]
 */
export class IdMap {
  readonly #pages = new Map<number, number>();
  readonly #slabs: Int32Array[] = [];
  #lastKey = Number.NaN;
  #lastPage = 0;

  get(id: number): number {
    const key = Math.floor(id / PAGE);
    const page = this.#find(key);
    return page < 0
      ? UNKNOWN
      : this.#slabs[page >>> 12][(page & (SLAB_PAGES - 1)) * PAGE + (id - key * PAGE)] - 1;
  }

  set(id: number, value: number): void {
    const key = Math.floor(id / PAGE);
    let page = this.#find(key);
    if (page < 0) {
      page = this.#pages.size;
      this.#pages.set(key, page);
      if (page % SLAB_PAGES === 0) {
        // A short run takes one page; slabs after the first have full size.
        this.#slabs.push(new Int32Array((page === 0 ? 1 : SLAB_PAGES) * PAGE));
      }
      const slab = page >>> 12;
      const needed = ((page & (SLAB_PAGES - 1)) + 1) * PAGE;
      if (needed > this.#slabs[slab].length) {
        const larger = new Int32Array(this.#slabs[slab].length * 2);
        larger.set(this.#slabs[slab]);
        this.#slabs[slab] = larger;
      }
      this.#lastKey = key;
      this.#lastPage = page;
    }
    this.#slabs[page >>> 12][(page & (SLAB_PAGES - 1)) * PAGE + (id - key * PAGE)] = value + 1;
  }

  #find(key: number): number {
    if (key === this.#lastKey) {
      return this.#lastPage;
    }
    const page = this.#pages.get(key);
    if (page === undefined) {
      return -1;
    }
    this.#lastKey = key;
    this.#lastPage = page;
    return page;
  }
}
