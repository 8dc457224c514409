/** The part of the time that charts show. Charts with the same range zoom together. */
export class TimeRange {
  from: number;
  to: number;
  readonly #listeners: (() => void)[] = [];

  /** @param minFrom and `maxTo`: all of the time, in milliseconds */
  constructor(
    readonly minFrom: number,
    readonly maxTo: number,
    readonly narrowest: number,
  ) {
    this.from = minFrom;
    this.to = maxTo;
  }

  get span(): number {
    return this.to - this.from;
  }

  get isWhole(): boolean {
    return this.from === this.minFrom && this.to === this.maxTo;
  }

  onChange(listener: () => void): void {
    this.#listeners.push(listener);
  }

  set(from: number, to: number): void {
    const whole = this.maxTo - this.minFrom;
    const span = Math.min(whole, Math.max(this.narrowest, to - from));
    const middle = (from + to) / 2;
    this.from = Math.min(Math.max(this.minFrom, middle - span / 2), this.maxTo - span);
    this.to = this.from + span;
    if (span === whole) {
      this.from = this.minFrom;
      this.to = this.maxTo;
    }
    for (const listener of this.#listeners) {
      listener();
    }
  }

  reset(): void {
    this.set(this.minFrom, this.maxTo);
  }

  /** Makes the span `factor` times as long; the time `around` stays where it is. */
  zoom(factor: number, around = (this.from + this.to) / 2): void {
    this.set(around - (around - this.from) * factor, around + (this.to - around) * factor);
  }

  /** Moves by a part of the span. */
  move(part: number): void {
    const by = Math.min(Math.max(part * this.span, this.minFrom - this.from), this.maxTo - this.to);
    this.set(this.from + by, this.to + by);
  }
}
