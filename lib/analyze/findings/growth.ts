import { roomFor } from '../model/column';
import type { Groups } from '../model/groups';
import { RAN, SETTLED } from '../model/live-operations';
import type { Run } from '../model/run';
import { formatDuration } from '../report/duration';
import type { Finding } from '../report/finding';
import { findingsOf, nameOf } from './wording';

/** How many windows of time a run is divided into. When all are full, pairs are merged and the width doubles. */
const WINDOWS = 32;
const FIRST_WIDTH_MS = 1;
/** A run shorter than this shows no trend. */
export const GROWTH_MIN_MS = 1000;
/** In what share of the windows of the later half the floor must have risen. */
const RISING = 0.8;

/** Until when the operations of a group count as unfinished. */
const NEVER = 0;
const UNTIL_DESTROY = 1;
const UNTIL_RUN = 2;

/** A group of which more and more operations were unfinished, up to the end. */
export interface GrowingGroup {
  run: number;
  group: number;
  /** Unfinished in the middle of the run, and at its end. */
  middle: number;
  end: number;
  /** How long the later half took. */
  over: number;
}

/**
 * Measures the number of unfinished operations of each group. For every window of time it keeps the lowest number, the
 * floor, because a burst or a garbage collection does not move it. A group grows if its floor rises up to the end.
 *
 *     floor  |            ▂▃▄▅▆▇█  grows           ▂▆█▃▇▅█▆  does not
 *
 * Handles and timers are counted until their destroy. All others are counted until they first run, because when they
 * are destroyed depends on garbage collection; promises only where their settling is recorded.
 */
export class Growth {
  readonly found: GrowingGroup[] = [];
  readonly #minimum: number;
  readonly #groups: Groups;
  #counted: number[] = [];
  #live = new Int32Array(16);
  #floor = new Int32Array(16);
  #floors = new Int32Array(16 * WINDOWS);
  #window = 0;
  #width = FIRST_WIDTH_MS;
  #next = Number.NaN;
  #start = 0;

  constructor(groups: Groups, minimum: number) {
    this.#groups = groups;
    this.#minimum = minimum;
  }

  init(group: number, time: number): void {
    if (!(time < this.#next)) {
      this.#advance(time);
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

  firstBefore(run: Run, row: number, group: number): void {
    if (this.#mode(group) === UNTIL_RUN && (run.live.flags[row] & SETTLED) === 0) {
      this.#decrement(group);
    }
  }

  resolve(run: Run, row: number, group: number): void {
    if (this.#mode(group) === UNTIL_RUN && (run.live.flags[row] & RAN) === 0) {
      this.#decrement(group);
    }
  }

  destroy(run: Run, row: number, group: number): void {
    const mode = this.#mode(group);
    if (mode === UNTIL_DESTROY || (mode === UNTIL_RUN && (run.live.flags[row] & (RAN | SETTLED)) === 0)) {
      this.#decrement(group);
    }
  }

  leaveRun(run: Run): void {
    const windows = this.#window;
    const half = windows >>> 1;
    if (run.to - this.#start >= GROWTH_MIN_MS) {
      for (let group = 0; group < this.#live.length; group++) {
        const live = this.#live[group];
        if (live < this.#minimum || (this.#groups.kind[group] === 'promise' && !run.resolves)) {
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
          this.found.push({ run: run.index, group, middle, end: live, over: (windows - half) * this.#width });
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

  #decrement(group: number): void {
    const live = --this.#live[group];
    if (live < this.#floor[group]) {
      this.#floor[group] = live;
    }
  }

  #advance(time: number): void {
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
        this.#mergePairs();
      }
      this.#next = this.#start + (this.#window + 1) * this.#width;
    }
  }

  #mergePairs(): void {
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
          ? UNTIL_DESTROY
          : UNTIL_RUN;
    this.#counted[group] = mode;
    return mode;
  }
}

export function growthFindings(growth: Growth, groups: Groups): Finding[] {
  const growing = [...growth.found].sort((a, b) => b.end - a.end);
  return findingsOf(growing, ({ group, run, middle, end, over }: GrowingGroup) => ({
    code: 'growth',
    severity: 'warning',
    message: `The unfinished operations of ${nameOf(groups.describe(group))} grew all the time, from ${middle.toLocaleString('en-US')} to ${end.toLocaleString('en-US')} in the last ${formatDuration(over)}.`,
    evidence: { ...groups.describe(group), run, middle, end, over },
  }));
}
