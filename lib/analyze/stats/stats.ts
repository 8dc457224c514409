import type { RecordCursor } from '../decode/cursor';
import { INIT } from '../decode/record';
import { FanOuts, fanOutFindings } from '../findings/fan-out';
import { Growth, growthFindings } from '../findings/growth';
import { LongCallbacks, longCallbackFindings } from '../findings/long-callbacks';
import { MicrotaskChains, microtaskChainFindings } from '../findings/microtask-chains';
import { lostFindings } from '../findings/records-lost';
import { type FindingOptions, THRESHOLDS, thresholds } from '../findings/thresholds';
import type { CodeOptions } from '../model/code-option';
import { roomFor } from '../model/column';
import { elapsedOf } from '../model/log-report';
import type { Operations } from '../model/operations';
import { Percentiles, round } from '../model/percentiles';
import type { Run } from '../model/run';
import { visitOperations } from '../model/visit-operations';
import { OperationVisitor } from '../model/visitor';
import { checkOptions, type ReadOptions } from '../read/options';
import type { LogSource } from '../read/source';
import type { LogReport } from '../report/log';
import type { AreaRow, StatsReport, StatsRow } from './report';

export interface StatsOptions extends ReadOptions, CodeOptions, FindingOptions {}

/** How many of the longest callbacks are kept, so that each finding can name its longest. */
const LONGEST = 50;

/**
 * What ran: how many operations there were, by op and call site and by area, and how long they waited and ran; how long
 * the event loop was held; and the findings.
 *
 * @throws TracerError as `readLog` does, ERR_ASYNC_TRACER_UNKNOWN_OPTION, and ERR_ASYNC_TRACER_OPTION for a threshold
 *   that is no number above 0
 */
export async function analyzeStats(source: LogSource, options: StatsOptions = {}): Promise<StatsReport> {
  checkOptions('analyzeStats', options, [...THRESHOLDS, 'code']);
  const limits = thresholds(options);
  const { visitor, log } = await visitOperations(
    source,
    options,
    (operations) => new Stats(operations, limits),
  );
  return visitor.report(log);
}

/** The answer as a visitor, for passes that several answers share. */
export class Stats extends OperationVisitor {
  readonly #operations: Operations;
  readonly #limits: Required<FindingOptions>;
  readonly #longCallbacks: LongCallbacks;
  readonly #chains: MicrotaskChains;
  readonly #fanOuts: FanOuts;
  readonly #growth: Growth;
  readonly #waits = new Percentiles();
  readonly #runs = new Percentiles();
  #inits = new Float64Array(16);
  #destroys = new Float64Array(16);

  constructor(operations: Operations, limits: Required<FindingOptions>) {
    super();
    this.#operations = operations;
    const { groups } = operations;
    this.#limits = limits;
    this.#longCallbacks = new LongCallbacks(groups, limits.heldMs, LONGEST);
    this.#chains = new MicrotaskChains(groups, limits.starvedMs);
    this.#fanOuts = new FanOuts(limits.fanOut);
    this.#growth = new Growth(groups, limits.growth);
  }

  override init(run: Run, _row: number, group: number, executionId: number, record: RecordCursor): void {
    if (group >= this.#inits.length) {
      this.#inits = roomFor(this.#inits, group + 1);
      this.#destroys = roomFor(this.#destroys, this.#inits.length);
    }
    this.#inits[group]++;
    this.#fanOuts.init(run, group, executionId);
    this.#growth.init(group, record.time);
  }

  override firstBefore(run: Run, row: number, group: number, wait: number): void {
    this.#waits.add(group, wait);
    this.#growth.firstBefore(run, row, group);
  }

  override before(run: Run, _row: number, group: number, record: RecordCursor): void {
    this.#chains.before(run, group, record.time);
  }

  override after(run: Run, _row: number, record: RecordCursor): void {
    this.#runs.add(run.callbacks.group, run.callbacks.self);
    this.#longCallbacks.after(run, record.opid, record.time);
    this.#chains.after(run, record.time);
  }

  override resolve(run: Run, row: number, group: number): void {
    this.#growth.resolve(run, row, group);
  }

  override destroy(run: Run, row: number, group: number): void {
    this.#destroys[group]++;
    this.#growth.destroy(run, row, group);
  }

  override leaveRun(run: Run): void {
    this.#longCallbacks.leaveRun(run);
    this.#chains.leaveRun(run);
    this.#fanOuts.leaveRun();
    this.#growth.leaveRun(run);
  }

  report(log: LogReport): StatsReport {
    const { runs, groups } = this.#operations;
    const elapsed = elapsedOf(runs);
    const ofElapsed = (ms: number) => (elapsed > 0 ? ms / elapsed : 0);
    // Without any destroy of a promise, it is unknown how many are live.
    const promisesKnown = runs.every((run) => run.promiseDestroys || run.counts[INIT] === 0);
    const ops: StatsRow[] = [];
    for (let group = 0; group < groups.size; group++) {
      const count = this.#inits[group] ?? 0;
      const known = groups.kind[group] !== 'promise' || promisesKnown;
      const run = this.#runs.get(group);
      // A group may have been made for records that were then counted in another group.
      if (count === 0 && run.count === 0) {
        continue;
      }
      ops.push({
        ...groups.describe(group),
        count,
        live: known ? count - (this.#destroys[group] ?? 0) : null,
        wait: this.#waits.get(group),
        run: { ...run, share: ofElapsed(run.total) },
      });
    }
    ops.sort((a, b) => b.run.total - a.run.total || b.count - a.count);
    const longest = this.#longCallbacks.longest[0];
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
        longest: longest === undefined ? null : this.#longCallbacks.describe(longest),
        held: this.#longCallbacks.count,
        threshold: heldMs,
      },
      findings: [
        ...lostFindings(log, runs),
        ...longCallbackFindings(this.#longCallbacks, groups, heldMs),
        ...microtaskChainFindings(this.#chains, groups, starvedMs),
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
