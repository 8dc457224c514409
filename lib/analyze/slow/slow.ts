import { TracerError } from '../../errors';
import { Decoder } from '../decode/decoder';
import {
  type FindingOptions,
  heldFindings,
  lostFindings,
  starvedFindings,
  thresholds,
} from '../findings/findings';
import { Loop } from '../findings/loop';
import { Histograms, round } from '../model/histograms';
import { follow, Operations, Watcher } from '../model/operations';
import type { Run } from '../model/run';
import { checkOptions } from '../read/options';
import type { ReadOptions } from '../read/reader';
import type { LogSource } from '../read/source';
import type { LogReport, SlowReport } from '../report';

export interface SlowOptions extends ReadOptions, Pick<FindingOptions, 'heldMs' | 'starvedMs'> {
  /** How many single callbacks and waits are listed. Default 20. */
  top?: number;
  /**
   * Whether timers and handles stand among the waits. By default they do not: a timer waits by intention, and a server
   * or socket for whoever may come.
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
  checkOptions('analyzeSlow', options, ['heldMs', 'starvedMs', 'top', 'all']);
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
  const decoder = new Decoder();
  const slow = new Slow(decoder, { heldMs, starvedMs, top, all });
  return slow.report(await follow(source, options, decoder, slow.operations));
}

class Slow extends Watcher {
  readonly operations: Operations;
  readonly #options: Required<Omit<SlowOptions, 'onProgress'>>;
  readonly #loop: Loop;
  readonly #waits = new Histograms();
  /** The longest, the longest first. */
  readonly #longest: Wait[] = [];

  constructor(decoder: Decoder, options: Required<Omit<SlowOptions, 'onProgress'>>) {
    super();
    this.operations = new Operations(decoder, this);
    this.#options = options;
    this.#loop = new Loop(this.operations.groups, decoder, options);
  }

  override waited(run: Run, row: number, group: number, wait: number): void {
    const { kind } = this.operations.groups;
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

  override entered(run: Run, _row: number, group: number, time: number): void {
    this.#loop.entered(run, group, time);
  }

  override ran(run: Run, _row: number, opid: number, time: number): void {
    this.#loop.ran(run, opid, time);
  }

  override paused(run: Run): void {
    this.#loop.paused(run);
  }

  report(log: LogReport): SlowReport {
    const { groups } = this.operations;
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
      callbacks: this.#loop.longest.map((held) => this.#loop.describe(held)),
      held: [...this.#loop.held]
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
        ...lostFindings(log, this.operations.runs),
        ...heldFindings(this.#loop, groups, heldMs),
        ...starvedFindings(this.#loop, groups, starvedMs),
      ],
    };
  }
}
