import { roomFor } from '../model/column';
import type { Groups } from '../model/groups';
import type { Run } from '../model/run';
import type { Finding } from '../report/finding';
import { frameText } from '../site/frame';
import { count as counted, findingsOf, nameOf } from './wording';

/** Operations of one group that one execution of a callback (or of the main script) started. */
export interface FanOut {
  /** How many executions started at least the threshold. */
  times: number;
  /** The most that one of them started, and the operation that was executing. */
  most: number;
  executionId: number;
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

  init(run: Run, group: number, executionId: number): void {
    const serial = run.callbacks.serialOf(executionId);
    // Where no callback of the operation is open, only the main script (1) is one execution: 0 is the native code around
    // all others, where connections arrive one by one, and other ids are of callbacks that were filtered out.
    if (serial < 0 && executionId !== 1) {
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
      this.found.set(group, { times: 1, most: count, executionId });
    } else {
      if (count === this.#threshold) {
        found.times++;
      }
      if (count > found.most) {
        found.most = count;
        found.executionId = executionId;
      }
    }
  }

  leaveRun(): void {
    this.#serial.fill(0);
  }
}

/**
 * A fan-out of reads is also one of promises and ticks. Of those that start at one place only one is a finding, first of
 * all one that is neither promises nor ticks.
 */
export function fanOutFindings(fanOuts: FanOuts, groups: Groups, threshold: number): Finding[] {
  const rank = (group: number) => Number(groups.kind[group] === 'promise' || groups.kind[group] === 'tick');
  const found = [...fanOuts.found].sort(([a, x], [b, y]) => rank(a) - rank(b) || y.most - x.most);
  const places = new Set<string>();
  const distinct = found.filter(([group, { executionId }]) => {
    const { frame } = groups.siteOf(group) ?? {};
    const place = frame === undefined ? `in ${executionId}` : frameText(frame);
    const followsAnother = places.has(place) || (rank(group) === 1 && places.has(`in ${executionId}`));
    places.add(place).add(`in ${executionId}`);
    return !followsAnother;
  });
  return findingsOf(distinct, ([group, { times, most, executionId }]) => ({
    code: 'fan-out',
    severity: 'warning',
    message:
      `One execution of operation ${executionId} started ${counted(most, 'operation', 'operations')} of ${nameOf(groups.describe(group))} at once` +
      `${times === 1 ? '' : `, and ${times.toLocaleString('en-US')} executions started ${threshold.toLocaleString('en-US')} or more`}; a limit on how many are open at a time keeps memory and queues short.`,
    evidence: { ...groups.describe(group), most, times, exec: executionId, threshold },
  }));
}
