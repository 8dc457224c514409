import { type EndRecord, OPERATION_PHASES, type StartRecord } from '../../log/event';
import { INIT, RESOLVE } from '../decode/record';
import type { RunReport } from '../report/log';
import { CallbackStack } from './callback-stack';
import { roomFor } from './column';
import { LiveOperations } from './live-operations';
import { round } from './percentiles';

/**
 * How many promises a run keeps at a time until it has a record of a promise's destroy. Without destroys no promise ends,
 * so memory would grow with the log; with this window it stays below 60 MB. A promise that has not run when 1,000,000
 * later ones have begun loses its wait time and its call site, and counts as `forgotten`.
 */
export const PROMISE_WINDOW = 1_000_000;

/** Node reports inits nearly in the order of their ids. An id farther behind the last one than this begins a new run. */
const LATE_INITS = 64;

/** One run of a program, a process or a thread of it: its header, its live operations, its open callbacks. */
export class Run {
  readonly live = new LiveOperations();
  readonly callbacks = new CallbackStack();
  end: EndRecord | undefined;
  from = Number.NaN;
  to = Number.NaN;
  /** Records of operations, by phase code. */
  readonly counts = [0, 0, 0, 0, 0];
  /** Time inside callbacks. */
  busy = 0;
  /** When the loop last called into the program, except to drain ticks and promises. */
  lastLoopTurn = Number.NaN;
  promiseDestroys: boolean;
  forgotten = 0;
  /** The sum of its `lost` records. */
  lost = 0;
  /** The most frames that a stack can have, by the header. */
  readonly stackLimit: number;

  #firstId = Number.POSITIVE_INFINITY;
  #lastId = Number.NEGATIVE_INFINITY;
  /** Bit n: the init of `#lastId - n` was read; two words for `LATE_INITS`. */
  readonly #recentInits = new Uint32Array(2);
  #promises = new Float64Array(0);
  #promiseCount = 0;

  constructor(
    readonly index: number,
    readonly start: StartRecord | undefined,
  ) {
    // By the header; without one, by the first destroy of a promise.
    this.promiseDestroys = start?.options?.['promiseDestroy'] === true;
    const limit = start?.options?.['stacks'];
    this.stackLimit = typeof limit === 'number' ? limit : Number.POSITIVE_INFINITY;
  }

  /**
   * Whether tracing begins with the header. With `autostart: false`, as in a window of time, it begins later, at a time
   * that only the next record shows. The time before must not count as time in which nothing ran.
   */
  get tracesFromStart(): boolean {
    return this.start?.options?.['autostart'] !== false;
  }

  /** Includes the time of a record in the run. */
  extendTo(time: number): void {
    if (!(time >= this.from)) {
      this.from = time;
    }
    if (!(time <= this.to)) {
      this.to = time;
    }
  }

  get records(): number {
    const { counts } = this;
    return counts[0] + counts[1] + counts[2] + counts[3] + counts[4];
  }

  /** Whether `include` or `exclude` left ops out, so that callbacks may be missing between others. */
  get filtered(): boolean {
    return this.#listed('include').length + this.#listed('exclude').length > 0;
  }

  /** Whether the settling of promises is recorded. */
  get resolves(): boolean {
    return this.counts[RESOLVE] > 0 || this.start?.options?.['resolve'] === true;
  }

  /** Whether an init of `id` begins another run, because ids rise in a run except for the last few. */
  isOfNextRun(id: number): boolean {
    if (id > this.#lastId) {
      return false;
    }
    const behind = this.#lastId - id;
    if (behind >= LATE_INITS) {
      return true;
    }
    if ((this.#recentInits[behind >>> 5] >>> (behind & 31)) & 1) {
      return true;
    }
    return id < this.#firstId && this.counts[INIT] >= LATE_INITS / 4;
  }

  /** Records that the init of `id` was read. */
  addInit(id: number): void {
    const recent = this.#recentInits;
    if (id > this.#lastId) {
      const by = id - this.#lastId;
      if (by < 32) {
        recent[1] = (recent[1] << by) | (recent[0] >>> (32 - by));
        recent[0] = (recent[0] << by) | 1;
      } else {
        recent[1] = by < LATE_INITS ? recent[0] << (by - 32) : 0;
        recent[0] = 1;
      }
      this.#lastId = id;
    } else {
      const behind = this.#lastId - id;
      recent[behind >>> 5] |= 1 << (behind & 31);
    }
    if (id < this.#firstId) {
      this.#firstId = id;
    }
  }

  /** Adds a promise to the window; gives the id of the promise that leaves it, or NaN. See `PROMISE_WINDOW`. */
  addPromise(id: number): number {
    const count = this.#promiseCount++;
    const at = count % PROMISE_WINDOW;
    this.#promises = roomFor(this.#promises, at + 1);
    const oldest = count < PROMISE_WINDOW ? Number.NaN : this.#promises[at];
    this.#promises[at] = id;
    return oldest;
  }

  promiseDestroyed(): void {
    this.promiseDestroys = true;
    this.#promises = new Float64Array(0);
  }

  #listed(option: 'include' | 'exclude'): string[] {
    const list = this.start?.options?.[option];
    return Array.isArray(list) ? list.map(String) : [];
  }

  report(): RunReport {
    const { start, end } = this;
    return {
      pid: start?.pid ?? null,
      thread: start?.thread ?? null,
      node: start?.node ?? null,
      from: this.from,
      to: this.to,
      elapsed: round(this.to - this.from),
      records: this.records,
      include: this.#listed('include'),
      exclude: this.#listed('exclude'),
      end: end?.reason ?? null,
      exitcode: end?.exitcode ?? null,
      error: end?.error ?? null,
      complete:
        end === undefined
          ? null
          : OPERATION_PHASES.every((phase, code) => end.counts?.[phase] === this.counts[code]),
    };
  }
}
