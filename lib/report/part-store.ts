/** Numbers of a part: see `PartStore.add`. */
export const STRIDE = 5;
export const GROUP = 0;
export const START = 1;
export const FIRST_BEFORE = 2;
export const END = 3;
export const RAN = 4;

/** Requests that began last: all of these keep their parts, since any may become one of the slowest. */
const WINDOW = 4096;
/** Parts of one request; further ones are counted only. */
const MAX_PARTS = 1000;

/**
 * The parts of requests, as flat arrays of numbers: those of the latest `WINDOW` requests, and of the slowest among the
 * earlier ones. So memory does not grow with the log.
 */
export class PartStore {
  readonly #parts: (number[] | undefined)[] = [];
  readonly #slowest: number[] = [];
  readonly #keep: number;
  readonly #elapsedOf: (request: number) => number;
  #aged = 0;

  /** @param keep how many of the slowest requests keep their parts */
  constructor(keep: number, elapsedOf: (request: number) => number) {
    this.#keep = keep;
    this.#elapsedOf = elapsedOf;
  }

  open(request: number): void {
    this.#parts[request] = [];
    if (request - this.#aged >= WINDOW) {
      this.#age(this.#aged++);
    }
  }

  /** Gives the number of the new part in its request, or -1 where it is not kept. */
  add(request: number, group: number, time: number): number {
    const parts = this.#parts[request];
    if (parts === undefined || parts.length >= MAX_PARTS * STRIDE) {
      return -1;
    }
    return (parts.push(group, time, Number.NaN, time, 0) - STRIDE) / STRIDE;
  }

  at(request: number): number[] | undefined {
    return this.#parts[request];
  }

  /** A request leaves the window. It keeps its parts where it is one of the slowest so far. */
  #age(request: number): void {
    const slowest = this.#slowest;
    const elapsed = this.#elapsedOf(request);
    if (slowest.length === this.#keep) {
      if (elapsed <= this.#elapsedOf(slowest[slowest.length - 1])) {
        this.#parts[request] = undefined;
        return;
      }
      this.#parts[slowest.pop()!] = undefined;
    }
    let at = slowest.length;
    while (at > 0 && this.#elapsedOf(slowest[at - 1]) < elapsed) {
      at--;
    }
    slowest.splice(at, 0, request);
  }
}
