import { splitTime } from '../model/busy-time';
import { roomFor } from '../model/column';
import type { Groups } from '../model/groups';
import { round } from '../model/percentiles';
import type { OpGroup } from '../report/operation';
import type { Root, TimeSplit } from './report';

/** Roots beyond this number are counted only. */
export const MAX_ROOTS = 1 << 20;

/** The root of what belongs to none, and of all beyond `MAX_ROOTS`. */
export const NO_ROOT = 0;

const UNKNOWN_GROUP: OpGroup = { op: null, area: null, kind: null, site: null, inherited: false };

/** The roots of a log in columns, 68 bytes each. */
export class RootTable {
  opid = new Float64Array(16);
  run = new Int32Array(16);
  /** From 1; 0 where it is no request. */
  request = new Int32Array(16);
  /** -1 where the init of its operation is not in the log. */
  group = new Int32Array(16);
  operations = new Float64Array(16);
  from = new Float64Array(16);
  folded = 0;
  #to = new Float64Array(16);
  /** For how long any callback had run at `from` and `to`. */
  #busyFrom = new Float64Array(16);
  #busyTo = new Float64Array(16);
  #ran = new Float64Array(16);
  #size = 1;

  /** Roots are the numbers from 1 below it. */
  get size(): number {
    return this.#size;
  }

  add(run: number, opid: number, request: number, group: number, time: number, busy: number): number {
    if (this.#size > MAX_ROOTS) {
      this.folded++;
      return NO_ROOT;
    }
    const root = this.#size++;
    if (root >= this.opid.length) {
      this.#grow(this.#size);
    }
    this.opid[root] = opid;
    this.run[root] = run;
    this.request[root] = request;
    this.group[root] = group;
    this.from[root] = time;
    this.#to[root] = time;
    this.#busyFrom[root] = busy;
    this.#busyTo[root] = busy;
    return root;
  }

  /** A member did something at `time`. */
  extend(root: number, time: number, busy: number): void {
    if (root !== NO_ROOT && time >= this.#to[root]) {
      this.#to[root] = time;
      this.#busyTo[root] = busy;
    }
  }

  addRun(root: number, self: number): void {
    this.#ran[root] += self;
  }

  timeOf(root: number): TimeSplit {
    return splitTime(
      Math.max(0, this.#to[root] - this.from[root]),
      this.#ran[root],
      this.#busyTo[root] - this.#busyFrom[root],
    );
  }

  describe(root: number, groups: Groups): Root {
    const { elapsed, ran, queued, waited } = this.timeOf(root);
    const group = this.group[root];
    return {
      ...(group < 0 ? UNKNOWN_GROUP : groups.describe(group)),
      opid: this.opid[root],
      request: this.request[root] === 0 ? null : this.request[root],
      run: this.run[root],
      time: this.from[root],
      operations: this.operations[root],
      elapsed: round(elapsed),
      ran: round(ran),
      queued: round(queued),
      waited: round(waited),
    };
  }

  #grow(length: number): void {
    this.opid = roomFor(this.opid, length);
    this.run = roomFor(this.run, length);
    this.request = roomFor(this.request, length);
    this.group = roomFor(this.group, length);
    this.operations = roomFor(this.operations, length);
    this.from = roomFor(this.from, length);
    this.#to = roomFor(this.#to, length);
    this.#busyFrom = roomFor(this.#busyFrom, length);
    this.#busyTo = roomFor(this.#busyTo, length);
    this.#ran = roomFor(this.#ran, length);
  }
}
