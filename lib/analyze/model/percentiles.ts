import type { Distribution } from '../report/distribution';
import { roomFor } from './column';

/** Into how many steps an octave is divided. The middle of a step is at most 1/64 = 1.6 % off any value in it. */
const STEPS = 32;
const STEP_BITS = 5;
/** Octaves above the first, which holds 0 to 31 us one by one: 2^46 us are two years. */
const OCTAVES = 42;

const NONE = 0;

/**
 * Histograms of durations, from which percentiles are read; each has the number of the group it belongs to. Durations are
 * counted in microseconds, the unit of the log, in steps that grow with the duration:
 *
 *     0 .. 31 us exactly | 32 .. 63 in 32 steps of 1 us | 64 .. 127 in 32 steps of 2 us | ...
 *
 * so percentiles are exact up to 63 us and within 1.6 % beyond; count, total and max are exact. A histogram takes 200
 * bytes, and 128 for each octave in which it has values, whatever the number of values.
 */
export class Percentiles {
  #count = new Float64Array(16);
  #total = new Float64Array(16);
  #max = new Float64Array(16);
  /** By number and octave, the page that counts its steps; page 0 means none. */
  #pages = new Int32Array(16 * OCTAVES);
  #steps = new Uint32Array(64 * STEPS);
  #used = 1;

  add(number: number, ms: number): void {
    if (number >= this.#count.length) {
      this.#grow(number + 1);
    }
    this.#count[number]++;
    this.#total[number] += ms;
    if (ms > this.#max[number]) {
      this.#max[number] = ms;
    }
    const us = Math.round(ms * 1000);
    // Durations up to 2^31 us, 36 minutes, stay in 32-bit arithmetic.
    const octave =
      us < STEPS
        ? 0
        : Math.min(
            OCTAVES - 1,
            (us < 0x80000000 ? 31 - Math.clz32(us) : Math.floor(Math.log2(us))) - STEP_BITS + 1,
          );
    const step = octave === 0 ? us : Math.min(STEPS - 1, Math.floor(us / 2 ** (octave - 1)) - STEPS);
    const index = number * OCTAVES + octave;
    let page = this.#pages[index];
    if (page === NONE) {
      page = this.#used++;
      this.#pages[index] = page;
      this.#steps = roomFor(this.#steps, this.#used * STEPS);
    }
    this.#steps[page * STEPS + step]++;
  }

  get(number: number): Distribution {
    if (number >= this.#count.length || this.#count[number] === 0) {
      return { count: 0, total: 0, p50: null, p95: null, p99: null, max: null };
    }
    return {
      count: this.#count[number],
      total: round(this.#total[number]),
      p50: this.percentile(number, 0.5),
      p95: this.percentile(number, 0.95),
      p99: this.percentile(number, 0.99),
      max: round(this.#max[number]),
    };
  }

  /** The smallest value that at least `share` of the values do not exceed. */
  percentile(number: number, share: number): number {
    const rank = Math.max(1, Math.ceil(this.#count[number] * share));
    let seen = 0;
    for (let octave = 0; octave < OCTAVES; octave++) {
      const page = this.#pages[number * OCTAVES + octave];
      if (page === NONE) {
        continue;
      }
      for (let step = 0; step < STEPS; step++) {
        seen += this.#steps[page * STEPS + step];
        if (seen >= rank) {
          return Math.min(round(this.#max[number]), middle(octave, step));
        }
      }
    }
    return round(this.#max[number]);
  }

  #grow(length: number): void {
    this.#count = roomFor(this.#count, length);
    this.#total = roomFor(this.#total, this.#count.length);
    this.#max = roomFor(this.#max, this.#count.length);
    this.#pages = roomFor(this.#pages, this.#count.length * OCTAVES);
  }
}

/** Milliseconds in the middle of a step. */
function middle(octave: number, step: number): number {
  if (octave <= 1) {
    return (octave === 0 ? step : STEPS + step) / 1000;
  }
  const width = 2 ** (octave - 1);
  return round(((STEPS + step) * width + (width - 1) / 2) / 1000);
}

/** Rounds to microseconds, the precision of the log: sums and differences of doubles show more digits than are true. */
export function round(ms: number): number {
  return Math.round(ms * 1000) / 1000;
}
