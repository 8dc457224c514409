/** A track on which spans stand one after another. */
export interface Lane {
  uuid: number;
  /** The end of its last span; infinite before the first. */
  end: number;
}

/**
 * Divides spans that overlap among as few lanes as their order lets: each goes to the lane that ended first, or to a new
 * one where that still runs. The lanes are a heap by their ends.
 */
export class Lanes {
  readonly #heap: Lane[] = [];
  readonly #create: () => number;

  constructor(create: () => number) {
    this.#create = create;
  }

  /** The lane of a span. */
  place(start: number, end: number): Lane {
    const heap = this.#heap;
    const first = heap[0];
    if (first !== undefined && first.end <= start) {
      first.end = end;
      this.#sink();
      return first;
    }
    const lane = { uuid: this.#create(), end };
    let at = heap.push(lane) - 1;
    for (let above = (at - 1) >> 1; at > 0 && heap[above].end > end; above = (at - 1) >> 1) {
      heap[at] = heap[above];
      at = above;
    }
    heap[at] = lane;
    return lane;
  }

  #sink(): void {
    const heap = this.#heap;
    const lane = heap[0];
    let at = 0;
    for (;;) {
      let below = at * 2 + 1;
      if (below + 1 < heap.length && heap[below + 1].end < heap[below].end) {
        below++;
      }
      if (below >= heap.length || heap[below].end >= lane.end) {
        break;
      }
      heap[at] = heap[below];
      at = below;
    }
    heap[at] = lane;
  }
}
