import { TracerError } from '../../errors';
import type { RecordCursor } from '../decode/cursor';
import { LongCallbacks, longCallbackFindings } from '../findings/long-callbacks';
import { MicrotaskChains, microtaskChainFindings } from '../findings/microtask-chains';
import { lostFindings } from '../findings/records-lost';
import { type FindingOptions, thresholds } from '../findings/thresholds';
import type { CodeOptions } from '../model/code-option';
import type { Operations } from '../model/operations';
import { Percentiles, round } from '../model/percentiles';
import type { Run } from '../model/run';
import { visitOperations } from '../model/visit-operations';
import { OperationVisitor } from '../model/visitor';
import { checkOptions, type ReadOptions } from '../read/options';
import type { LogSource } from '../read/source';
import type { LogReport } from '../report/log';
import type { SlowReport } from './report';

export interface SlowOptions extends ReadOptions, CodeOptions, Pick<FindingOptions, 'heldMs' | 'starvedMs'> {
  /** How many single callbacks and waits are listed. Default 20. */
  top?: number;
  /**
   * Whether timers and handles are listed among the waits. By default they are not: a timer waits on purpose, and a
   * server or socket waits for clients.
   */
  all?: boolean;
}

interface Wait {
  run: number;
  opid: number;
  group: number;
  init: number;
  wait: number;
}

/**
 * Which callbacks held the event loop, and which operations waited longest for their first callback.
 *
 * @throws TracerError as `readLog` does, ERR_ASYNC_TRACER_UNKNOWN_OPTION, and ERR_ASYNC_TRACER_OPTION for an option
 *   out of range
 */
export async function analyzeSlow(source: LogSource, options: SlowOptions = {}): Promise<SlowReport> {
  checkOptions('analyzeSlow', options, ['heldMs', 'starvedMs', 'top', 'all', 'code']);
  const { heldMs, starvedMs } = thresholds(options);
  const { top = 20, all = false } = options;
  if (!Number.isInteger(top) || top < 1) {
    throw new TracerError(
      'ERR_ASYNC_TRACER_OPTION',
      `top is ${String(top)}; expected a whole number above 0`,
    );
  }
  if (typeof all !== 'boolean') {
    throw new TracerError('ERR_ASYNC_TRACER_OPTION', `all is ${String(all)}; expected true or false`);
  }
  const { visitor, log } = await visitOperations(
    source,
    options,
    (operations) => new Slow(operations, { heldMs, starvedMs, top, all }),
  );
  return visitor.report(log);
}

/** The answer as a visitor, for passes that several answers share. */
export class Slow extends OperationVisitor {
  readonly #operations: Operations;
  readonly #options: Required<Omit<SlowOptions, 'onProgress' | 'code'>>;
  readonly #longCallbacks: LongCallbacks;
  readonly #chains: MicrotaskChains;
  readonly #waits = new Percentiles();
  /** The longest, the longest first. */
  readonly #longest: Wait[] = [];

  constructor(operations: Operations, options: Required<Omit<SlowOptions, 'onProgress' | 'code'>>) {
    super();
    this.#operations = operations;
    this.#options = options;
    this.#longCallbacks = new LongCallbacks(operations.groups, options.heldMs, options.top);
    this.#chains = new MicrotaskChains(operations.groups, options.starvedMs);
  }

  override firstBefore(run: Run, row: number, group: number, wait: number): void {
    const { kind } = this.#operations.groups;
    if (!this.#options.all && (kind[group] === 'timer' || kind[group] === 'handle')) {
      return;
    }
    this.#waits.add(group, wait);
    const longest = this.#longest;
    const { top } = this.#options;
    if (longest.length === top && wait <= longest[top - 1].wait) {
      return;
    }
    let at = longest.length;
    while (at > 0 && longest[at - 1].wait < wait) {
      at--;
    }
    longest.splice(at, 0, { run: run.index, opid: run.live.id[row], group, init: run.live.init[row], wait });
    if (longest.length > top) {
      longest.pop();
    }
  }

  override before(run: Run, _row: number, group: number, record: RecordCursor): void {
    this.#chains.before(run, group, record.time);
  }

  override after(run: Run, _row: number, record: RecordCursor): void {
    this.#longCallbacks.after(run, record.opid, record.time);
    this.#chains.after(run, record.time);
  }

  override leaveRun(run: Run): void {
    this.#longCallbacks.leaveRun(run);
    this.#chains.leaveRun(run);
  }

  report(log: LogReport): SlowReport {
    const { groups } = this.#operations;
    const { heldMs, starvedMs } = this.#options;
    const waiting: SlowReport['waiting'] = [];
    for (let group = 0; group < groups.size; group++) {
      const wait = this.#waits.get(group);
      if (wait.count > 0) {
        waiting.push({ ...groups.describe(group), wait });
      }
    }
    return {
      report: 'slow',
      log,
      threshold: heldMs,
      callbacks: this.#longCallbacks.longest.map((callback) => this.#longCallbacks.describe(callback)),
      held: [...this.#longCallbacks.overThreshold]
        .map(([group, { count, total, max }]) => ({
          ...groups.describe(group),
          count,
          total: round(total),
          max: round(max),
        }))
        .sort((a, b) => b.total - a.total),
      waits: this.#longest.map(({ run, opid, group, init, wait }) => ({
        ...groups.describe(group),
        opid,
        run,
        time: init,
        duration: round(wait),
      })),
      waiting: waiting.sort((a, b) => b.wait.max! - a.wait.max!),
      findings: [
        ...lostFindings(log, this.#operations.runs),
        ...longCallbackFindings(this.#longCallbacks, groups, heldMs),
        ...microtaskChainFindings(this.#chains, groups, starvedMs),
      ],
    };
  }
}
