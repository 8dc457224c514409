import { Decoder } from '../decode/decoder';
import { INIT } from '../decode/record';
import { FanOuts } from '../findings/fan-out';
import {
  type FindingOptions,
  fanOutFindings,
  growthFindings,
  heldFindings,
  lostFindings,
  starvedFindings,
  THRESHOLDS,
  thresholds,
} from '../findings/findings';
import { Growth } from '../findings/growth';
import { Loop } from '../findings/loop';
import { roomFor } from '../model/column';
import { Histograms, round } from '../model/histograms';
import { follow, Operations, Watcher } from '../model/operations';
import type { Run } from '../model/run';
import { checkOptions } from '../read/options';
import type { ReadOptions } from '../read/reader';
import type { LogSource } from '../read/source';
import type { AreaRow, StatsReport, StatsRow } from '../report';

export interface StatsOptions extends ReadOptions, FindingOptions {}

/** Enough for the longest callback of each finding to be found again. */
const LONGEST = 50;

/**
 * What ran: by op and call site and by area how many operations there were, how long they waited and ran; how long the
 * event loop was held; and what of it is worth a look.
 *
 * @throws TracerError as `readLog` does, ERR_ASYNC_TRACER_UNKNOWN_OPTION, and ERR_ASYNC_TRACER_OPTION for a threshold
 *   that is no number above 0
 */
export async function analyzeStats(source: LogSource, options: StatsOptions = {}): Promise<StatsReport> {
  checkOptions('analyzeStats', options, THRESHOLDS);
  const limits = thresholds(options);
  const decoder = new Decoder();
  const stats = new Stats(decoder, limits);
  const log = await follow(source, options, decoder, stats.operations);
  return stats.report(log);
}

class Stats extends Watcher {
  readonly operations: Operations;
  readonly #limits: Required<FindingOptions>;
  readonly #loop: Loop;
  readonly #fanOuts: FanOuts;
  readonly #growth: Growth;
  readonly #waits = new Histograms();
  readonly #runs = new Histograms();
  #inits = new Float64Array(16);
  #ends = new Float64Array(16);

  constructor(decoder: Decoder, limits: Required<FindingOptions>) {
    super();
    this.operations = new Operations(decoder, this);
    const { groups } = this.operations;
    this.#limits = limits;
    this.#loop = new Loop(groups, decoder, { ...limits, top: LONGEST });
    this.#fanOuts = new FanOuts(limits.fanOut);
    this.#growth = new Growth(groups, limits.growth);
  }

  override started(run: Run, _row: number, group: number, exec: number, decoder: Decoder): void {
    if (group >= this.#inits.length) {
      this.#inits = roomFor(this.#inits, group + 1);
      this.#ends = roomFor(this.#ends, this.#inits.length);
    }
    this.#inits[group]++;
    this.#fanOuts.started(run, group, exec);
    this.#growth.started(group, decoder.time);
  }

  override waited(run: Run, row: number, group: number, wait: number): void {
    this.#waits.add(group, wait);
    this.#growth.waited(run, row, group);
  }

  override entered(run: Run, _row: number, group: number, time: number): void {
    this.#loop.entered(run, group, time);
  }

  override ran(run: Run, _row: number, opid: number, time: number): void {
    this.#runs.add(run.callbacks.group, run.callbacks.self);
    this.#loop.ran(run, opid, time);
  }

  override settled(run: Run, row: number, group: number): void {
    this.#growth.settled(run, row, group);
  }

  override ended(run: Run, row: number, group: number): void {
    this.#ends[group]++;
    this.#growth.ended(run, row, group);
  }

  override paused(run: Run): void {
    this.#loop.paused(run);
    this.#fanOuts.paused();
    this.#growth.paused(run);
  }

  report(log: StatsReport['log']): StatsReport {
    const { runs, groups, elapsed } = this.operations;
    const ofElapsed = (ms: number) => (elapsed > 0 ? ms / elapsed : 0);
    // Without a single destroy of a promise, nothing is known of how many live.
    const promisesKnown = runs.every((run) => run.promiseDestroys || run.counts[INIT] === 0);
    const ops: StatsRow[] = [];
    for (let group = 0; group < groups.size; group++) {
      const count = this.#inits[group] ?? 0;
      const known = groups.kind[group] !== 'promise' || promisesKnown;
      const run = this.#runs.get(group);
      // A group may have been made for records that in the end counted elsewhere.
      if (count === 0 && run.count === 0) {
        continue;
      }
      ops.push({
        ...groups.describe(group),
        count,
        live: known ? count - (this.#ends[group] ?? 0) : null,
        wait: this.#waits.get(group),
        run: { ...run, share: ofElapsed(run.total) },
      });
    }
    ops.sort((a, b) => b.run.total - a.run.total || b.count - a.count);
    const { held, longest } = { held: this.#loop.heldCount, longest: this.#loop.longest[0] };
    const busy = runs.reduce((sum, run) => sum + run.busy, 0);
    const { heldMs, starvedMs, fanOut } = this.#limits;
    return {
      report: 'stats',
      log,
      ops,
      areas: areasOf(ops, ofElapsed),
      loop: {
        busy: round(busy),
        share: ofElapsed(busy),
        longest: longest === undefined ? null : this.#loop.describe(longest),
        held,
        threshold: heldMs,
      },
      findings: [
        ...lostFindings(log, this.operations.runs),
        ...heldFindings(this.#loop, groups, heldMs),
        ...starvedFindings(this.#loop, groups, starvedMs),
        ...fanOutFindings(this.#fanOuts, groups, fanOut),
        ...growthFindings(this.#growth, groups),
      ],
    };
  }
}

function areasOf(ops: readonly StatsRow[], ofElapsed: (ms: number) => number): AreaRow[] {
  const areas = new Map<string | null, AreaRow>();
  for (const { area, count, live, run } of ops) {
    let row = areas.get(area);
    if (row === undefined) {
      row = { area, count: 0, live: 0, run: { count: 0, total: 0, share: 0 } };
      areas.set(area, row);
    }
    row.count += count;
    row.live = row.live === null || live === null ? null : row.live + live;
    row.run.count += run.count;
    row.run.total = round(row.run.total + run.total);
  }
  for (const row of areas.values()) {
    row.run.share = ofElapsed(row.run.total);
  }
  return [...areas.values()].sort((a, b) => b.run.total - a.run.total || b.count - a.count);
}
