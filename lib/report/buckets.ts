/**
 * Figures over time in a bounded number of buckets, whatever the length of the run. Buckets begin narrow; where time goes
 * beyond the last one, neighbours are joined and all become twice as wide.
 */

/** As many as a wide screen has pixels, and some to zoom into. */
const FIRST_WIDTH_MS = 0.05;

/** The time that something took, by bucket. */
export class TimeBuckets {
  width = FIRST_WIDTH_MS;
  #values = new Float64Array(64);
  #used = 0;

  constructor(readonly max: number) {}

  /** @param start and `end`: milliseconds from the begin of the run */
  add(start: number, end: number): void {
    if (!(end > start)) {
      return;
    }
    while (end >= this.width * this.max) {
      this.#join();
    }
    const { width } = this;
    const first = Math.max(0, Math.floor(start / width));
    const last = Math.floor(end / width);
    this.#reserve(last + 1);
    if (first === last) {
      this.#values[first] += end - start;
      return;
    }
    this.#values[first] += (first + 1) * width - Math.max(0, start);
    for (let bucket = first + 1; bucket < last; bucket++) {
      this.#values[bucket] += width;
    }
    this.#values[last] += end - last * width;
  }

  /** The values as buckets of this width, which is the present one times a power of two. */
  values(width: number): number[] {
    while (this.width < width) {
      this.#join();
    }
    return Array.from(this.#values.subarray(0, this.#used));
  }

  #reserve(length: number): void {
    if (length > this.#values.length) {
      const larger = new Float64Array(Math.min(this.max, Math.max(length, this.#values.length * 2)));
      larger.set(this.#values);
      this.#values = larger;
    }
    this.#used = Math.max(this.#used, length);
  }

  #join(): void {
    const values = this.#values;
    const half = Math.ceil(this.#used / 2);
    for (let i = 0; i < half; i++) {
      values[i] = values[2 * i] + (2 * i + 1 < this.#used ? values[2 * i + 1] : 0);
    }
    values.fill(0, half, this.#used);
    this.#used = half;
    this.width *= 2;
  }
}

const UNSET = -1;

/** A number that changes over time, as it is at the end of each bucket. */
export class LevelBuckets {
  width = FIRST_WIDTH_MS;
  #values = new Float64Array(64).fill(UNSET);
  #used = 0;

  constructor(readonly max: number) {}

  /** @param time milliseconds from the begin of the run */
  set(time: number, level: number): void {
    while (time >= this.width * this.max) {
      this.#join();
    }
    const bucket = Math.max(0, Math.floor(time / this.width));
    if (bucket >= this.#values.length) {
      const larger = new Float64Array(Math.min(this.max, Math.max(bucket + 1, this.#values.length * 2)));
      larger.fill(UNSET);
      larger.set(this.#values);
      this.#values = larger;
    }
    this.#values[bucket] = level;
    this.#used = Math.max(this.#used, bucket + 1);
  }

  /** The levels up to `end`, as buckets of this width, which is the present one times a power of two. */
  values(width: number, end: number): number[] {
    while (this.width < width) {
      this.#join();
    }
    const levels: number[] = [];
    let level = 0;
    for (let bucket = 0; bucket <= Math.min(this.max - 1, Math.floor(end / width)); bucket++) {
      const value = bucket < this.#used ? this.#values[bucket] : UNSET;
      level = value === UNSET ? level : value;
      levels.push(level);
    }
    return levels;
  }

  #join(): void {
    const values = this.#values;
    const half = Math.ceil(this.#used / 2);
    for (let i = 0; i < half; i++) {
      const later = 2 * i + 1 < this.#used ? values[2 * i + 1] : UNSET;
      values[i] = later === UNSET ? values[2 * i] : later;
    }
    values.fill(UNSET, half, this.#used);
    this.#used = half;
    this.width *= 2;
  }
}
