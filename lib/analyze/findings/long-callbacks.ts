import type { Groups } from '../model/groups';
import { round } from '../model/percentiles';
import type { Run } from '../model/run';
import { formatDuration } from '../report/duration';
import type { Finding } from '../report/finding';
import type { Callback } from '../report/operation';
import { count, findingsOf, nameOf } from './wording';

/** A callback that held the event loop; times in milliseconds. */
export interface LongCallback {
  run: number;
  opid: number;
  group: number;
  start: number;
  total: number;
  self: number;
  /** The nested group in which most of the time was spent; -1 where it was in the callback itself. */
  inside: number;
  /** It had not ended when the log did; `total` is the time up to there. */
  open: boolean;
}

/** When this many callbacks wait for the end of one around them, they are counted without waiting longer. */
const MAX_NESTED = 1000;

/**
 * Finds the callbacks that held the event loop longest. A callback inside a long one is not counted, because the outer
 * one holds the loop; so a long callback is counted only when those around it have ended.
 */
export class LongCallbacks {
  /** The longest callbacks, the longest first; none of them inside another. */
  readonly longest: LongCallback[] = [];
  /** By group, of callbacks that took `heldMs` at least: count, sum and longest. */
  readonly overThreshold = new Map<number, { count: number; total: number; max: number }>();
  /** How many callbacks took `heldMs` at least. */
  count = 0;

  readonly #groups: Groups;
  readonly #heldMs: number;
  readonly #top: number;
  /** Closed callbacks that may be nested in one that is still open. */
  #recent: LongCallback[] = [];
  /** The shortest duration that can still be listed. */
  #minimum: number;
  #lastEnd = Number.NEGATIVE_INFINITY;

  /** @param top how many of the longest callbacks are kept */
  constructor(groups: Groups, heldMs: number, top: number) {
    this.#groups = groups;
    this.#heldMs = heldMs;
    this.#top = top;
    this.#minimum = top > 0 ? 0 : heldMs;
  }

  /** A callback has ended; its figures are in `run.callbacks`. */
  after(run: Run, opid: number, time: number): void {
    const { group, start, total, self, inside, insideSelf, depth } = run.callbacks;
    this.#lastEnd = time;
    if (total >= this.#minimum) {
      const recent = this.#recent;
      while (recent.length > 0 && recent[recent.length - 1].start >= start) {
        recent.pop();
      }
      recent.push({
        run: run.index,
        opid,
        group,
        start,
        total,
        self,
        inside: insideSelf > self ? inside : -1,
        open: false,
      });
    }
    if (this.#recent.length > 0 && (depth === 0 || this.#recent.length > MAX_NESTED)) {
      this.#countRecent();
    }
  }

  leaveRun(run: Run): void {
    const open = run.callbacks.outermost();
    // Where others have ended since it began, only its after may be missing.
    if (open !== undefined && run.to - open.start >= this.#heldMs && this.#lastEnd <= open.start) {
      const { id: opid, group, start } = open;
      const total = run.to - start;
      this.#recent.push({ run: run.index, opid, group, start, total, self: total, inside: -1, open: true });
    }
    this.#countRecent();
    this.#lastEnd = Number.NEGATIVE_INFINITY;
  }

  describe(callback: LongCallback): Callback {
    return {
      ...this.#groups.describe(callback.group),
      opid: callback.opid,
      run: callback.run,
      time: callback.start,
      duration: round(callback.total),
      self: round(callback.self),
      inside: callback.inside < 0 ? null : this.#groups.describe(callback.inside),
    };
  }

  #countRecent(): void {
    const heldMs = this.#heldMs;
    const top = this.#top;
    for (const callback of this.#recent) {
      if (callback.total >= heldMs) {
        this.count++;
        const sum = this.overThreshold.get(callback.group);
        if (sum === undefined) {
          this.overThreshold.set(callback.group, { count: 1, total: callback.total, max: callback.total });
        } else {
          sum.count++;
          sum.total += callback.total;
          sum.max = Math.max(sum.max, callback.total);
        }
      }
      let at = this.longest.length;
      while (at > 0 && this.longest[at - 1].total < callback.total) {
        at--;
      }
      if (at >= top) {
        continue;
      }
      this.longest.splice(at, 0, callback);
      if (this.longest.length > top) {
        this.longest.pop();
      }
      if (this.longest.length === top) {
        this.#minimum = Math.min(heldMs, this.longest[top - 1].total);
      }
    }
    this.#recent = [];
  }
}

export function longCallbackFindings(callbacks: LongCallbacks, groups: Groups, heldMs: number): Finding[] {
  const sums = [...callbacks.overThreshold].sort(([, a], [, b]) => b.max - a.max);
  return findingsOf(sums, ([group, { count: times, total, max }]) => {
    const longest = callbacks.longest.find((callback) => callback.group === group && callback.total === max);
    const inside = longest === undefined || longest.inside < 0 ? undefined : groups.describe(longest.inside);
    const what = nameOf(groups.describe(group));
    const ended = longest?.open ? ' and had not ended when the log did' : '';
    return {
      code: 'loop-held',
      severity: 'warning',
      message:
        `A callback of ${what} held the event loop for ${formatDuration(max)}${ended}` +
        `${inside === undefined ? '' : `, most of it inside ${nameOf(inside)}`}` +
        `${times === 1 ? '' : `; ${count(times, 'callback', 'callbacks')} of it took ${formatDuration(heldMs)} or more, ${formatDuration(total)} together`}.`,
      evidence: {
        ...groups.describe(group),
        count: times,
        total: round(total),
        max: round(max),
        threshold: heldMs,
        longest: longest === undefined ? null : callbacks.describe(longest),
      },
    };
  });
}
