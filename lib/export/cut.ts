import type { RecordCursor } from '../analyze/decode/cursor';
import type { Groups } from '../analyze/model/groups';
import { IdMap } from '../analyze/model/id-map';
import type { Run } from '../analyze/model/run';

/** Which part of a log is exported. */
export interface CutOptions {
  /** Only what began at this time or later. Milliseconds: below `EPOCH_MS` after the log's first record, else since the epoch. */
  from?: number | undefined;
  /** Only what began before this time, as in `from`. */
  until?: number | undefined;
  /** Only this operation, by its opid, and all that it triggered, directly or not. */
  root?: number | undefined;
  /** Only operations of which one of these matches the op or the area. */
  include?: readonly RegExp[] | undefined;
  /** No operations of which one of these matches the op or the area. It wins over `include`. */
  exclude?: readonly RegExp[] | undefined;
}

/** Smaller numbers are times after the first record: no log is from before September 2001, none lasts 31 years. */
export const EPOCH_MS = 1e12;

/** Decides what is exported: operations by their init, callbacks by their before. */
export class Cut {
  readonly #groups: Groups;
  readonly #options: CutOptions;
  readonly #isTimed: boolean;
  #from = Number.NEGATIVE_INFINITY;
  #until = Number.POSITIVE_INFINITY;
  #isDated = false;
  /** By group; undefined until it was asked for. */
  readonly #taken: boolean[] = [];
  /** By run, the operations that `root` triggered, itself included. */
  readonly #families: IdMap[] = [];

  constructor(groups: Groups, options: CutOptions) {
    this.#groups = groups;
    this.#options = options;
    this.#isTimed = options.from !== undefined || options.until !== undefined;
  }

  /** Whether the operation of an init is exported. Must be called for each one, since families grow with them. */
  takesOperation(run: Run, group: number, record: RecordCursor): boolean {
    const { root } = this.#options;
    if (root !== undefined) {
      const { opid, parentopid } = record;
      this.#families[run.index] ??= new IdMap();
      const family = this.#families[run.index];
      if (opid === root || parentopid === root || family.get(parentopid) >= 0) {
        family.set(opid, 0);
      } else {
        return false;
      }
    }
    return this.#isInTime(record.time) && this.#takes(group);
  }

  /** Whether a callback of the operation `opid` is exported, by the time of its before. */
  takesCallback(run: Run, opid: number, group: number, time: number): boolean {
    const { root } = this.#options;
    if (root !== undefined && opid !== root && !((this.#families[run.index]?.get(opid) ?? -1) >= 0)) {
      return false;
    }
    return this.#isInTime(time) && this.#takes(group);
  }

  #isInTime(time: number): boolean {
    if (!this.#isTimed) {
      return true;
    }
    if (!this.#isDated) {
      this.#isDated = true;
      const dated = (at: number) => (at < EPOCH_MS ? time + at : at);
      this.#from = dated(this.#options.from ?? Number.NEGATIVE_INFINITY);
      this.#until = dated(this.#options.until ?? Number.POSITIVE_INFINITY);
    }
    return time >= this.#from && time < this.#until;
  }

  #takes(group: number): boolean {
    const known = this.#taken[group];
    if (known !== undefined) {
      return known;
    }
    const names = [this.#groups.opOf(group), this.#groups.areaOf(group)];
    const isOneOf = (patterns: readonly RegExp[]) =>
      patterns.some((pattern) => names.some((name) => name !== undefined && pattern.test(name)));
    const { include, exclude } = this.#options;
    const taken = (include === undefined || isOneOf(include)) && !(exclude !== undefined && isOneOf(exclude));
    this.#taken[group] = taken;
    return taken;
  }
}
