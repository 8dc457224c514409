/** Real nesting this deep is a stack overflow, so these are callbacks whose after is missing. Half are abandoned. */
export const MAX_OPEN = 10_000;

const NO_GROUP = -1;

/**
 * The callbacks that have begun and not ended, innermost last. They are matched by id, not by place: an `after` closes
 * the innermost open callback of its id, and those above it, whose `after` is missing, are abandoned.
 *
 *     before 5 ─┐                       total(5) = t4 - t1
 *     before 6  │ ─┐                    self(5)  = total(5) - total(6)
 *     after  6  │ ─┘                    self(6)  = total(6)
 *     after  5 ─┘
 *
 * Invariant: the sum of all `self` never exceeds the time that passed, since no instant belongs to two callbacks.
 */
export class CallbackStack {
  readonly #ids: number[] = [];
  readonly #groups: number[] = [];
  readonly #starts: number[] = [];
  readonly #serials: number[] = [];
  /** Time inside closed callbacks that were nested in this one. */
  readonly #nested: number[] = [];
  /** The nested group with the longest single `self`, and that time. */
  readonly #heaviest: number[] = [];
  readonly #weight: number[] = [];
  #serial = 0;

  /** Of the callback that `close` closed last, in milliseconds. `inside` is the nested group with the longest `self`. */
  group = NO_GROUP;
  start = 0;
  total = 0;
  self = 0;
  inside = NO_GROUP;
  insideSelf = 0;

  /** How many callbacks were abandoned so far. */
  abandoned = 0;

  get depth(): number {
    return this.#ids.length;
  }

  /** The group of the innermost open callback, or -1. */
  get topGroup(): number {
    const depth = this.#ids.length;
    return depth === 0 ? NO_GROUP : this.#groups[depth - 1];
  }

  open(id: number, group: number, time: number): void {
    if (this.#ids.length >= MAX_OPEN) {
      this.#abandonOutermost();
    }
    this.#ids.push(id);
    this.#groups.push(group);
    this.#starts.push(time);
    this.#serials.push(++this.#serial);
    this.#nested.push(0);
    this.#heaviest.push(NO_GROUP);
    this.#weight.push(0);
  }

  /** Closes the callback of `id` and sets the fields; false where none was open. */
  close(id: number, time: number): boolean {
    const ids = this.#ids;
    let at = ids.length - 1;
    while (at >= 0 && ids[at] !== id) {
      at--;
    }
    if (at < 0) {
      return false;
    }
    while (ids.length - 1 > at) {
      this.abandoned++;
      const nested = this.#pop();
      this.#nested[ids.length - 1] += nested;
    }
    this.group = this.#groups[at];
    this.start = this.#starts[at];
    this.inside = this.#heaviest[at];
    this.insideSelf = this.#weight[at];
    const nested = this.#pop();
    this.total = Math.max(0, time - this.start);
    this.self = Math.max(0, this.total - nested);
    if (at > 0) {
      const outer = at - 1;
      this.#nested[outer] += this.total;
      const heavier = this.self >= this.insideSelf;
      const weight = heavier ? this.self : this.insideSelf;
      if (weight > this.#weight[outer]) {
        this.#weight[outer] = weight;
        this.#heaviest[outer] = heavier ? this.group : this.inside;
      }
    }
    return true;
  }

  /**
   * A number for the execution that operation `id` is in; each run has a new one. It is negative where no callback of it
   * is open, as for the main script, and then it changes with each callback.
   */
  serialOf(id: number): number {
    const top = this.#ids.length - 1;
    return top >= 0 && this.#ids[top] === id ? this.#serials[top] : -1 - this.#serial;
  }

  /** Abandons all: where records are missing, an open callback may have ended. */
  abandonAll(): void {
    this.abandoned += this.#ids.length;
    while (this.#ids.length > 0) {
      this.#pop();
    }
  }

  /** The outermost open callback. */
  outermost(): { id: number; group: number; start: number } | undefined {
    return this.#ids.length === 0
      ? undefined
      : { id: this.#ids[0], group: this.#groups[0], start: this.#starts[0] };
  }

  #pop(): number {
    this.#ids.pop();
    this.#groups.pop();
    this.#starts.pop();
    this.#serials.pop();
    this.#heaviest.pop();
    this.#weight.pop();
    return this.#nested.pop()!;
  }

  #abandonOutermost(): void {
    const half = MAX_OPEN / 2;
    this.abandoned += half;
    this.#ids.splice(0, half);
    this.#groups.splice(0, half);
    this.#starts.splice(0, half);
    this.#serials.splice(0, half);
    this.#nested.splice(0, half);
    this.#heaviest.splice(0, half);
    this.#weight.splice(0, half);
  }
}
