import type { Decoder } from '../decode/decoder';
import type { Groups } from '../model/groups';
import { round } from '../model/histograms';
import type { Run } from '../model/run';
import type { Callback } from '../report';

/** A callback that held the event loop, as it is remembered. */
export interface Held {
  run: number;
  opid: number;
  group: number;
  start: number;
  total: number;
  self: number;
  inside: number;
  /** It had not ended when the log did; `total` is what is known. */
  open: boolean;
}

/** A stretch of ticks and promise callbacks during which the loop could not turn. */
export interface Chain {
  run: number;
  start: number;
  elapsed: number;
  count: number;
  /** The group that most of the callbacks, if any, were of. */
  group: number;
}

export interface LoopOptions {
  heldMs: number;
  starvedMs: number;
  /** How many of the longest callbacks are kept. */
  top: number;
}

/**
 * Between two microtasks of a chain lies next to nothing, unless the process was not given the processor. A longer pause
 * ends the chain, and so is one no chain whose pauses are longer on average: there the loop may have been at rest.
 */
const LONGEST_PAUSE_MS = 10;
const MEAN_PAUSE_MS = 0.2;
/** Fewer callbacks than this are no chain, however long: one of them held the loop, and that is another finding. */
const CHAIN_LINKS = 100;
/** Held callbacks inside one that never ends are not kept back longer than this. */
const MAX_NESTED = 1000;

/** Watches how long the event loop was kept from turning: by one callback, or by ticks and promises in a row. */
export class Loop {
  /** The longest callbacks, the longest first; none of them inside another. */
  readonly longest: Held[] = [];
  /** By group, of callbacks that took `heldMs` at least: count, sum and longest. */
  readonly held = new Map<number, { count: number; total: number; max: number }>();
  heldCount = 0;
  /** The longest chain of each group over the threshold, and how many there were. */
  readonly starved = new Map<number, { count: number; total: number; worst: Chain }>();

  readonly #options: LoopOptions;
  readonly #groups: Groups;
  readonly #decoder: Decoder;
  readonly #drained: boolean[] = [];
  /** Closed callbacks that may yet turn out to be nested in one that is open. */
  #recent: Held[] = [];
  /** The shortest that matters. */
  #least: number;

  #lastEnd = Number.NEGATIVE_INFINITY;
  #chainStart = 0;
  #chainEnd = Number.NEGATIVE_INFINITY;
  #links = 0;
  #chainBusy = 0;
  /** Boyer and Moore's majority vote over the groups of the links. */
  #candidate = -1;
  #votes = 0;

  constructor(groups: Groups, decoder: Decoder, options: LoopOptions) {
    this.#groups = groups;
    this.#decoder = decoder;
    this.#options = options;
    this.#least = options.top > 0 ? 0 : options.heldMs;
  }

  /** A callback begins. */
  entered(run: Run, group: number, time: number): void {
    const { topGroup } = run.callbacks;
    if (topGroup >= 0) {
      return;
    }
    if (!this.#isDrained(group) || time - this.#chainEnd > LONGEST_PAUSE_MS) {
      this.#endChain(run);
    }
  }

  /** A callback has ended; its figures are in `run.callbacks`. */
  ran(run: Run, opid: number, time: number): void {
    const { group, start, total, self, inside, insideSelf, depth } = run.callbacks;
    this.#lastEnd = time;
    if (depth === 0 && this.#isDrained(group)) {
      if (this.#links++ === 0) {
        this.#chainStart = start;
      }
      this.#chainBusy += total;
      this.#chainEnd = time;
      if (this.#votes === 0) {
        this.#candidate = group;
      }
      this.#votes += this.#candidate === group ? 1 : -1;
    }
    if (total >= this.#least) {
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
      this.#settle();
    }
  }

  paused(run: Run): void {
    this.#endChain(run);
    const open = run.callbacks.outermost();
    // Where others have ended since it began, its own after may just be missing.
    if (open !== undefined && run.to - open.start >= this.#options.heldMs && this.#lastEnd <= open.start) {
      const { id: opid, group, start } = open;
      const total = run.to - start;
      this.#recent.push({ run: run.index, opid, group, start, total, self: total, inside: -1, open: true });
    }
    this.#settle();
    this.#lastEnd = Number.NEGATIVE_INFINITY;
  }

  describe(held: Held): Callback {
    return {
      ...this.#groups.describe(held.group),
      opid: held.opid,
      run: held.run,
      time: held.start,
      duration: round(held.total),
      self: round(held.self),
      inside: held.inside < 0 ? null : this.#groups.describe(held.inside),
    };
  }

  #settle(): void {
    const { heldMs, top } = this.#options;
    for (const held of this.#recent) {
      if (held.total >= heldMs) {
        this.heldCount++;
        const sum = this.held.get(held.group);
        if (sum === undefined) {
          this.held.set(held.group, { count: 1, total: held.total, max: held.total });
        } else {
          sum.count++;
          sum.total += held.total;
          sum.max = Math.max(sum.max, held.total);
        }
      }
      let at = this.longest.length;
      while (at > 0 && this.longest[at - 1].total < held.total) {
        at--;
      }
      if (at >= top) {
        continue;
      }
      this.longest.splice(at, 0, held);
      if (this.longest.length > top) {
        this.longest.pop();
      }
      if (this.longest.length === top) {
        this.#least = Math.min(heldMs, this.longest[top - 1].total);
      }
    }
    this.#recent = [];
  }

  #endChain(run: Run): void {
    const elapsed = this.#chainEnd - this.#chainStart;
    const dense = elapsed - this.#chainBusy <= this.#links * MEAN_PAUSE_MS;
    if (dense && this.#links >= CHAIN_LINKS && elapsed >= this.#options.starvedMs && !run.filtered) {
      const group = this.#votes > 0 ? this.#candidate : -1;
      const worst: Chain = { run: run.index, start: this.#chainStart, elapsed, count: this.#links, group };
      const sum = this.starved.get(group);
      if (sum === undefined) {
        this.starved.set(group, { count: 1, total: elapsed, worst });
      } else {
        sum.count++;
        sum.total += elapsed;
        if (elapsed > sum.worst.elapsed) {
          sum.worst = worst;
        }
      }
    }
    this.#links = 0;
    this.#chainBusy = 0;
    this.#votes = 0;
    this.#chainEnd = Number.NEGATIVE_INFINITY;
  }

  /** Whether callbacks of the group run when the loop's phase is drained of ticks and promises, not in a turn. */
  #isDrained(group: number): boolean {
    let drained = this.#drained[group];
    if (drained === undefined) {
      const op = this.#groups.op[group];
      const area = op < 0 ? undefined : this.#decoder.ops.areas[op];
      drained = this.#drained[group] = area === 'ticks' || area === 'promises';
    }
    return drained;
  }
}
