import { roomFor } from '../model/column';
import type { Run } from '../model/run';

/** Operations of one group that one execution of a callback (or of the main script) started. */
export interface FanOut {
  /** How many executions started at least the threshold. */
  times: number;
  /** The most that one of them started, and the operation that was executing. */
  most: number;
  exec: number;
}

/** Counts what each execution starts, group by group; a few bytes a group. */
export class FanOuts {
  readonly found = new Map<number, FanOut>();
  readonly #threshold: number;
  #serial = new Float64Array(16);
  #count = new Uint32Array(16);

  constructor(threshold: number) {
    this.#threshold = threshold;
  }

  started(run: Run, group: number, exec: number): void {
    const serial = run.callbacks.serialOf(exec);
    // Outside of a callback that is known to be open, only the main script (1) is one execution: 0 is the native code
    // around them all, where connections arrive one by one, and others are callbacks that were filtered out.
    if (serial < 0 && exec !== 1) {
      return;
    }
    if (group >= this.#serial.length) {
      this.#serial = roomFor(this.#serial, group + 1);
      this.#count = roomFor(this.#count, this.#serial.length);
    }
    if (this.#serial[group] !== serial) {
      this.#serial[group] = serial;
      this.#count[group] = 1;
      return;
    }
    const count = ++this.#count[group];
    if (count < this.#threshold) {
      return;
    }
    const found = this.found.get(group);
    if (found === undefined) {
      this.found.set(group, { times: 1, most: count, exec });
    } else {
      if (count === this.#threshold) {
        found.times++;
      }
      if (count > found.most) {
        found.most = count;
        found.exec = exec;
      }
    }
  }

  paused(): void {
    this.#serial.fill(0);
  }
}
