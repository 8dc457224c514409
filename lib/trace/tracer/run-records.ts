/** The `start` and `end` records of a run, and what the end of the process asks of a tracer. */
import type { Encoder } from '../encode/encoder';
import type { Ending, ExitHandler } from '../lifecycle/exit';
import type * as Header from '../lifecycle/header';
import type * as Unmatched from '../lifecycle/unmatched-names';
import type { ResolvedOptions } from '../options/tracer-options';
import { runAsOwnTagged } from '../runtime/own-operations';
import type { TracerStats } from './stats';

/** Loaded where the option `header` needs it. */
const loadHeader = (): typeof Header => require('../lifecycle/header');

const loadUnmatched = (): typeof Unmatched => require('../lifecycle/unmatched-names');

/** What the records need of a log. */
interface Log {
  readonly encoder: Encoder;
  flushSync(): void;
  /** Returns whether everything is written. */
  drainAtExit(mayWait: boolean): boolean;
  onTooSlow(): void;
  warnOfOption(message: string): void;
}

export class RunRecords implements ExitHandler {
  readonly #log: Log;
  readonly #options: ResolvedOptions;
  readonly #stats: () => TracerStats;
  readonly #hasMet: (op: string) => boolean;
  #hasExited = false;
  #active: Header.ActiveResources | undefined;

  /** @param hasMet whether an operation with this op was seen */
  constructor(log: Log, options: ResolvedOptions, stats: () => TracerStats, hasMet: (op: string) => boolean) {
    this.#log = log;
    this.#options = options;
    this.#stats = stats;
    this.#hasMet = hasMet;
  }

  /** Writes the `start` record. At once, so that even a log that is cut short identifies its process. */
  writeStart(): void {
    if (this.#options.header) {
      const { encoder } = this.#log;
      encoder.line(loadHeader().startFields(this.#options));
      runAsOwnTagged(() => encoder.flush());
    }
  }

  /** Makes the `end` record of a close, unless the process is ending: its end has a record already. */
  addEndOfClose(): void {
    if (this.#hasExited) {
      return;
    }
    if (this.#options.header) {
      this.#log.encoder.line(loadHeader().endFields(undefined, this.#stats()));
    }
    this.#warnOfUnmatched();
  }

  /**
   * Not under `register`, which sets the variable: each process of a tree would print what another one has matched.
   * `async-tracer run` looks at the logs of all of them instead.
   */
  #warnOfUnmatched(): void {
    const { include, exclude } = this.#options;
    if ((include === undefined && exclude.length === 0) || process.env['ASYNC_TRACER_BEGAN'] !== undefined) {
      return;
    }
    try {
      for (const message of loadUnmatched().unmatchedNames(this.#options, this.#hasMet)) {
        this.#log.warnOfOption(message);
      }
    } catch {
      // The module cannot be loaded: the process has no descriptor left.
    }
  }

  /** Events may follow this: later exit listeners of the program still run. */
  onExit(ending: Ending): void {
    const log = this.#log;
    this.#hasExited = true;
    this.#warnOfUnmatched();
    log.encoder.flush();
    const arrived = log.drainAtExit(true);
    if (this.#options.header) {
      // Once: the trailer of each later record must not ask again.
      this.#active = loadHeader().activeResources();
    }
    this.onEndingChanged(ending);
    if (!log.drainAtExit(arrived)) {
      log.onTooSlow();
    }
  }

  /** Writes an `end` record. Every later record is written at once, with another `end` record after it. */
  onEndingChanged(ending: Ending): void {
    const { encoder } = this.#log;
    const { header } = this.#options;
    const fields = (): string => loadHeader().endFields(ending, this.#stats(), this.#active);
    // Without a trailer: there may be no record for it to follow.
    encoder.writeThrough();
    if (header) {
      encoder.line(fields());
    }
    // A `lost` record may be in the chunk.
    encoder.flush();
    encoder.writeThrough(header ? fields : undefined);
  }

  flush(): void {
    runAsOwnTagged(() => this.#log.flushSync());
  }
}
