import type { Groups } from '../model/groups';
import { round } from '../model/percentiles';
import type { Run } from '../model/run';
import { formatDuration } from '../report/duration';
import type { Finding } from '../report/finding';
import { count, findingsOf, nameOf } from './wording';

/** A stretch of ticks and promise callbacks during which the loop could not turn; times in milliseconds. */
export interface MicrotaskChain {
  run: number;
  start: number;
  elapsed: number;
  count: number;
  /** The group of more than half of the callbacks; -1 where there is none. */
  group: number;
}

/**
 * Between two callbacks of a chain there is next to no time, unless the process did not get the processor. A longer pause
 * ends the chain. A stretch with longer pauses on average is no chain, because the loop may have been at rest in them.
 */
const LONGEST_PAUSE_MS = 10;
const MEAN_PAUSE_MS = 0.2;
/** Fewer callbacks than this are no chain, however long: then one of them held the loop, which is another finding. */
const MIN_CALLBACKS = 100;

/** Finds the times in which ticks and promise callbacks in a row kept the event loop from turning. */
export class MicrotaskChains {
  /** By group, the chains over the threshold: how many, their sum, and the longest. */
  readonly found = new Map<number, { count: number; total: number; worst: MicrotaskChain }>();

  readonly #groups: Groups;
  readonly #starvedMs: number;
  readonly #isMicrotask: boolean[] = [];
  #start = 0;
  #end = Number.NEGATIVE_INFINITY;
  #count = 0;
  #busy = 0;
  /** Boyer and Moore's majority vote over the groups of the callbacks. */
  #candidate = -1;
  #votes = 0;

  constructor(groups: Groups, starvedMs: number) {
    this.#groups = groups;
    this.#starvedMs = starvedMs;
  }

  /** A callback begins. */
  before(run: Run, group: number, time: number): void {
    const { topGroup } = run.callbacks;
    if (topGroup >= 0) {
      return;
    }
    if (!this.#runsAsMicrotask(group) || time - this.#end > LONGEST_PAUSE_MS) {
      this.#endChain(run);
    }
  }

  /** A callback has ended; its figures are in `run.callbacks`. */
  after(run: Run, time: number): void {
    const { group, start, total, depth } = run.callbacks;
    if (depth !== 0 || !this.#runsAsMicrotask(group)) {
      return;
    }
    if (this.#count++ === 0) {
      this.#start = start;
    }
    this.#busy += total;
    this.#end = time;
    if (this.#votes === 0) {
      this.#candidate = group;
    }
    this.#votes += this.#candidate === group ? 1 : -1;
  }

  leaveRun(run: Run): void {
    this.#endChain(run);
  }

  #endChain(run: Run): void {
    const elapsed = this.#end - this.#start;
    const dense = elapsed - this.#busy <= this.#count * MEAN_PAUSE_MS;
    if (dense && this.#count >= MIN_CALLBACKS && elapsed >= this.#starvedMs && !run.filtered) {
      const group = this.#votes > 0 ? this.#candidate : -1;
      const worst: MicrotaskChain = {
        run: run.index,
        start: this.#start,
        elapsed,
        count: this.#count,
        group,
      };
      const sum = this.found.get(group);
      if (sum === undefined) {
        this.found.set(group, { count: 1, total: elapsed, worst });
      } else {
        sum.count++;
        sum.total += elapsed;
        if (elapsed > sum.worst.elapsed) {
          sum.worst = worst;
        }
      }
    }
    this.#count = 0;
    this.#busy = 0;
    this.#votes = 0;
    this.#end = Number.NEGATIVE_INFINITY;
  }

  /** Whether callbacks of the group run in the microtask or tick queue, not in a turn of the loop. */
  #runsAsMicrotask(group: number): boolean {
    let known = this.#isMicrotask[group];
    if (known === undefined) {
      const area = this.#groups.areaOf(group);
      known = this.#isMicrotask[group] = area === 'ticks' || area === 'promises';
    }
    return known;
  }
}

export function microtaskChainFindings(
  chains: MicrotaskChains,
  groups: Groups,
  starvedMs: number,
): Finding[] {
  const sums = [...chains.found].sort(([, a], [, b]) => b.worst.elapsed - a.worst.elapsed);
  return findingsOf(sums, ([group, { count: times, total, worst }]) => ({
    code: 'loop-starved',
    severity: 'warning',
    message:
      `${count(worst.count, 'callback', 'callbacks')} of ticks and promises in a row, ${chainName(worst, groups)}, ` +
      `kept the event loop from turning for ${formatDuration(worst.elapsed)}${times === 1 ? '' : `; ${times.toLocaleString('en-US')} such chains took ${formatDuration(total)} together`}.`,
    evidence: {
      ...(group < 0
        ? { op: null, area: null, kind: null, site: null, inherited: false }
        : groups.describe(group)),
      count: times,
      total: round(total),
      worst: { run: worst.run, time: worst.start, elapsed: round(worst.elapsed), callbacks: worst.count },
      threshold: starvedMs,
    },
  }));
}

function chainName(chain: MicrotaskChain, groups: Groups): string {
  return chain.group < 0 ? 'from many places' : `most of them of ${nameOf(groups.describe(chain.group))}`;
}
