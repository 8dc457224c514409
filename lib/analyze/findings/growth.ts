import { roomFor } from '../model/column';
import type { Groups } from '../model/groups';
import { RAN, SETTLED } from '../model/live-operations';
import type { Run } from '../model/run';

/** Windows a run is divided into; when all are full, pairs become one and the width doubles. */
const WINDOWS = 32;
const FIRST_WIDTH_MS = 1;
/** A run shorter than this shows no trend. */
export const GROWTH_MIN_MS = 1000;
/** The share of the later half's windows in which the floor must have risen. */
const RISING = 0.8;

/** A group whose unfinished operations grew in number to the end. */
export interface Grown {
  run: number;
  group: number;
  /** Unfinished in the middle of the run, and at its end. */
  middle: number;
  end: number;
  /** How long the later half took. */
  over: number;
}

/**
 * Watches the number of unfinished operations of each group. Of every window of time the least number is kept, the floor
 * that a burst or a garbage collection does not move; where the floor rises and rises to the end, the group grows.
 *
 *     floor  |            ▂▃▄▅▆▇█  grows           ▂▆█▃▇▅█▆  does not
 *
 * Only work that has an end of its own is counted: handles and timers until they are destroyed, all else until it first
 * ran, since the rest of its life is a matter of garbage collection; promises only where their settling is recorded.
 */
export class Growth {
  readonly grown: Grown[] = [];
  readonly #least: number;
  readonly #groups: Groups;
  #counted: number[] = [];
  #live = new Int32Array(16);
  #floor = new Int32Array(16);
  #floors = new Int32Array(16 * WINDOWS);
  #window = 0;
  #width = FIRST_WIDTH_MS;
  #next = Number.NaN;
  #start = 0;

  constructor(groups: Groups, least: number) {
    this.#groups = groups;
    this.#least = least;
  }

  started(group: number, time: number): void {
    if (!(time < this.#next)) {
      this.#roll(time);
    }
    if (this.#mode(group) === NEVER) {
      return;
    }
    if (group >= this.#live.length) {
      this.#live = roomFor(this.#live, group + 1);
      this.#floor = roomFor(this.#floor, this.#live.length);
      this.#floors = roomFor(this.#floors, this.#live.length * WINDOWS);
    }
    this.#live[group]++;
  }

  waited(run: Run, row: number, group: number): void {
    if (this.#mode(group) === UNTIL_RUN && (run.live.flags[row] & SETTLED) === 0) {
      this.#less(group);
    }
  }

  settled(run: Run, row: number, group: number): void {
    if (this.#mode(group) === UNTIL_RUN && (run.live.flags[row] & RAN) === 0) {
      this.#less(group);
    }
  }

  ended(run: Run, row: number, group: number): void {
    const mode = this.#mode(group);
    if (mode === UNTIL_END || (mode === UNTIL_RUN && (run.live.flags[row] & (RAN | SETTLED)) === 0)) {
      this.#less(group);
    }
  }

  paused(run: Run): void {
    const windows = this.#window;
    const half = windows >>> 1;
    if (run.to - this.#start >= GROWTH_MIN_MS) {
      for (let group = 0; group < this.#live.length; group++) {
        const live = this.#live[group];
        if (live < this.#least || (this.#groups.kind[group] === 'promise' && !run.resolves)) {
          continue;
        }
        const at = group * WINDOWS;
        let rises = 0;
        let most = 0;
        for (let i = half; i < windows; i++) {
          if (i > half && this.#floors[at + i] > this.#floors[at + i - 1]) {
            rises++;
          }
          most = Math.max(most, this.#floors[at + i]);
        }
        const middle = this.#floors[at + half];
        if (rises >= (windows - half - 1) * RISING && live >= most * 0.9 && live >= middle * 1.25) {
          this.grown.push({ run: run.index, group, middle, end: live, over: (windows - half) * this.#width });
        }
      }
    }
    this.#live.fill(0);
    this.#floor.fill(0);
    this.#floors.fill(0);
    this.#window = 0;
    this.#width = FIRST_WIDTH_MS;
    this.#next = Number.NaN;
  }

  #less(group: number): void {
    const live = --this.#live[group];
    if (live < this.#floor[group]) {
      this.#floor[group] = live;
    }
  }

  #roll(time: number): void {
    if (Number.isNaN(this.#next)) {
      this.#start = time;
      this.#next = time + this.#width;
      return;
    }
    while (time >= this.#next) {
      const groups = this.#live.length;
      for (let group = 0; group < groups; group++) {
        this.#floors[group * WINDOWS + this.#window] = this.#floor[group];
        this.#floor[group] = this.#live[group];
      }
      if (++this.#window === WINDOWS) {
        this.#halve();
      }
      this.#next = this.#start + (this.#window + 1) * this.#width;
    }
  }

  #halve(): void {
    const floors = this.#floors;
    for (let at = 0; at < floors.length; at += WINDOWS) {
      for (let i = 0; i < WINDOWS / 2; i++) {
        floors[at + i] = Math.min(floors[at + 2 * i], floors[at + 2 * i + 1]);
      }
    }
    this.#window = WINDOWS / 2;
    this.#width *= 2;
  }

  #mode(group: number): number {
    const known = this.#counted[group];
    if (known !== undefined) {
      return known;
    }
    const kind = this.#groups.kind[group];
    const mode =
      kind === null || kind === 'object'
        ? NEVER
        : kind === 'handle' || kind === 'timer' || (kind === 'request' && !this.#groups.oneShot[group])
          ? UNTIL_END
          : UNTIL_RUN;
    this.#counted[group] = mode;
    return mode;
  }
}

const NEVER = 0;
const UNTIL_END = 1;
const UNTIL_RUN = 2;
