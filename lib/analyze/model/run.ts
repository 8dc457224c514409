import { type EndRecord, OPERATION_PHASES, type StartRecord } from '../../log/event';
import { INIT, RESOLVE } from '../decode/record';
import type { RunReport } from '../report';
import { Callbacks } from './callback-stack';
import { roomFor } from './column';
import { round } from './histograms';
import { Live } from './live-operations';

/**
 * How many promises are held at a time while a run has shown no destroy of a promise. Without destroys nothing ends a
 * promise, so memory would grow with the log; with this window it stays below 60 MB. One that is still to run when
 * 1,000,000 later ones have begun loses its wait time and its call site, and counts as `forgotten`.
 */
export const PROMISE_WINDOW = 1_000_000;

/** Node gives an id and tells of its init at once, give or take a few: an id farther back than this begins a new run. */
const LATE_INITS = 64;

/** What is known of one run: its header, its live operations, its open callbacks. */
export class Run {
  readonly live = new Live();
  readonly callbacks = new Callbacks();
  end: EndRecord | undefined;
  from = Number.NaN;
  to = Number.NaN;
  /** By phase code, as far as operations go. */
  readonly counts = [0, 0, 0, 0, 0];
  /** Time inside callbacks. */
  busy = 0;
  /** When the loop last called into the program, other than to drain ticks and promises. */
  lastTurn = Number.NaN;
  promiseDestroys: boolean;
  forgotten = 0;
  /** Records that its `lost` records tell of. */
  lost = 0;
  /** The most frames that its stacks have, as its header says. */
  readonly stackLimit: number;

  #firstId = Number.POSITIVE_INFINITY;
  #lastId = Number.NEGATIVE_INFINITY;
  /** Bit n: the init of `#lastId - n` was met; two words for `LATE_INITS`. */
  readonly #met = new Uint32Array(2);
  #promises = new Float64Array(0);
  #promiseCount = 0;

  constructor(
    readonly index: number,
    readonly start: StartRecord | undefined,
  ) {
    // A header that says so is trusted; without one, the first destroy of a promise tells.
    this.promiseDestroys = start?.options?.['promiseDestroy'] === true;
    const limit = start?.options?.['stacks'];
    this.stackLimit = typeof limit === 'number' ? limit : Number.POSITIVE_INFINITY;
  }

  /**
   * Whether tracing begins with the header. With `autostart: false`, as in a window of time, it begins later, and only the
   * first record that follows shows when: the time before must not count as time in which nothing ran.
   */
  get tracesFromStart(): boolean {
    return this.start?.options?.['autostart'] !== false;
  }

  /** Something was recorded at that time. */
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

  /** Whether some ops were left out by `include` or `exclude`, so that callbacks may be missing between others. */
  get filtered(): boolean {
    return this.#listed('include').length + this.#listed('exclude').length > 0;
  }

  /** Whether it is recorded when promises settle. */
  get resolves(): boolean {
    return this.counts[RESOLVE] > 0 || this.start?.options?.['resolve'] === true;
  }

  /** Whether an init of `id` shows that another run has begun: ids only rise, but for the last few. */
  beginsAnew(id: number): boolean {
    if (id > this.#lastId) {
      return false;
    }
    const behind = this.#lastId - id;
    if (behind >= LATE_INITS) {
      return true;
    }
    if ((this.#met[behind >>> 5] >>> (behind & 31)) & 1) {
      return true;
    }
    return id < this.#firstId && this.counts[INIT] >= LATE_INITS / 4;
  }

  /** Notes the init of `id`. */
  met(id: number): void {
    const met = this.#met;
    if (id > this.#lastId) {
      const by = id - this.#lastId;
      if (by < 32) {
        met[1] = (met[1] << by) | (met[0] >>> (32 - by));
        met[0] = (met[0] << by) | 1;
      } else {
        met[1] = by < LATE_INITS ? met[0] << (by - 32) : 0;
        met[0] = 1;
      }
      this.#lastId = id;
    } else {
      const behind = this.#lastId - id;
      met[behind >>> 5] |= 1 << (behind & 31);
    }
    if (id < this.#firstId) {
      this.#firstId = id;
    }
  }

  /** Notes the init of a promise while no destroy of one was met; gives the id of the one to forget for it, or NaN. */
  windowed(id: number): number {
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
