/** One trace: hook, encoder and destination put together, and their life from the call to the end. */
import { TracerError } from '../errors';
import type { OperationPhase, PhaseCounts } from '../log/event';
import { type Clock, createClock } from './clock';
import { type Destination, DROPPED, type Outcome } from './destination/destination';
import { openDestination, type Target } from './destination/open';
import { createEncoder, type Encoder } from './encoder';
import { type Ending, type Finisher, finishAtExit, forget } from './exit';
import type * as Header from './header';
import { createTraceHook, type Hook, requireHooks } from './hook';
import { countRecords } from './loss';
import { isSelected, type ResolvedOptions, show } from './options';
import { asClaimed, asOwn } from './own';
import type * as Payloads from './payload';
import { warn } from './warning';

export interface TracerStats {
  /** Operation records made since the call, by phase. */
  events: PhaseCounts;
  /** Bytes that the destination has taken. */
  bytes: number;
  /** Records among `events` that are not in the log, and never will be. */
  lost: number;
  /** Operations whose init was seen and whose destroy was not. */
  live: number;
}

/** How long the end of a process waits for a reader that does not move, in milliseconds. */
const EXIT_WAIT_MS = 2000;
const PHASES: readonly OperationPhase[] = ['init', 'before', 'after', 'destroy', 'resolve'];

// Taken at load: the program may put fake timers in their place.
const startInterval = setInterval;
const stopInterval = clearInterval;

/** Loaded where an option asks for them: twelve files that most traces do without (benchmark: `startup`). */
const payloads = (): typeof Payloads => require('./payload');
const header = (): typeof Header => require('./header');

/** What `require('async-tracer')(...)` returns. */
export class Tracer implements Disposable, AsyncDisposable {
  readonly #options: ResolvedOptions;
  readonly #destination: Destination;
  readonly #clock: Clock;
  readonly #encoder: Encoder;
  readonly #hook: Hook;
  readonly #finisher: Finisher;
  readonly #reopenable: boolean;
  #timer: NodeJS.Timeout | undefined;
  #enabled = false;
  #closing: Promise<void> | undefined;
  #bytes = 0;
  /** Records that were taken and then lost. */
  #lostLater = 0;
  #warned = false;
  #exiting = false;

  /** Made by the function that the package exports. */
  constructor(target: Target, options: ResolvedOptions) {
    this.#options = options;
    this.#reopenable = typeof target === 'string';
    const { contexts, stacks } = options;
    requireHooks();
    // What can be refused comes first, so that a refusal leaves nothing behind.
    const stack = stacks > 0 ? payloads().createStackPayload(stacks) : undefined;
    const context = contexts === false ? undefined : payloads().createContextPayload(contexts);
    this.#destination = asClaimed(() =>
      openDestination(
        target,
        options,
        {
          onLost: (lines) => {
            this.#lostLater += countRecords(lines);
          },
          onError: (error, fatal) => this.#onError(error, fatal),
        },
        asOwn,
      ),
    );
    const clock = asClaimed(() => createClock(options.send ? options.clock : 'still'));
    this.#clock = clock;
    this.#encoder = createEncoder({
      clock,
      prefix: options.prefix,
      suffix: options.suffix,
      // A terminal gets each record at once, between the lines that the program prints.
      chunkSize: this.#destination.interactive ? 1 : options.bufferSize,
      stack,
      context,
      send: options.send,
      write: (lines) => this.#write(lines),
    });
    this.#hook = createTraceHook({
      clock,
      encoder: this.#encoder,
      promises: options.promises,
      promiseDestroy: options.promiseDestroy,
      resolve: options.resolve,
      contexts: contexts !== false,
      select: (op, area) => isSelected(options, op, area),
      selectUnknown: options.include === undefined,
    });
    this.#finisher = {
      wantsError: options.header,
      finish: (ending) => this.#finishAtExit(ending),
    };
    if (options.header) {
      this.#encoder.line(header().startFields(options));
    }
    asClaimed(() => finishAtExit(this.#finisher));
    if (options.autostart) {
      this.enable();
    }
  }

  /** Whether operations are being recorded. */
  get enabled(): boolean {
    return this.#enabled;
  }

  /**
   * Begins to record, or goes on after `disable`. Does nothing where it is recording already.
   *
   * @throws TracerError ERR_ASYNC_TRACER_CLOSED after `close`
   */
  enable(): this {
    this.#refuseClosed('enable');
    if (!this.#enabled) {
      this.#enabled = true;
      this.#hook.enable();
      const interval = this.#options.flushInterval;
      asClaimed(() => {
        this.#timer = startInterval(() => this.#encoder.flush(), interval);
        this.#timer.unref();
      });
    }
    return this;
  }

  /** Stops recording and hands on what is in the buffer. Does nothing where it is not recording. */
  disable(): this {
    if (this.#enabled) {
      this.#enabled = false;
      this.#hook.disable();
      stopInterval(this.#timer);
      this.#timer = undefined;
      this.#encoder.flush();
    }
    return this;
  }

  /**
   * Hands on what is in the buffer. Resolves when all of it is with the operating system, or with the stream's sink;
   * also when its reader has not moved for 10 seconds. Never rejects: what cannot be written is counted as lost.
   */
  flush(): Promise<void> {
    return asClaimed(() => {
      this.#encoder.flush();
      return this.#closing ?? this.#destination.flush();
    });
  }

  /**
   * The same at once, without the event loop. Complete for paths, descriptors and streams with a descriptor; waits
   * at most 2 seconds for a reader that does not move. Any other stream has taken the bytes, no more is known.
   */
  flushSync(): void {
    asClaimed(() => {
      this.#encoder.flush();
      if (this.#closing === undefined) {
        this.#destination.flushSync(EXIT_WAIT_MS);
      }
    });
  }

  /**
   * Stops for good: flushes, writes the `end` record where there is a header, and closes the file if it was given as
   * a path. A stream or descriptor of the program stays open. Safe to call again; never rejects.
   */
  close(): Promise<void> {
    if (this.#closing === undefined) {
      asClaimed(() => {
        this.#finish();
        this.#closing = this.#destination.flush().then(() => asOwn(() => this.#destination.close()));
      });
    }
    return this.#closing as unknown as Promise<void>;
  }

  /**
   * Writes to the path anew from here on, or to another one: for log rotation by renaming. Flushes first, so that no
   * line is cut.
   *
   * @throws TracerError ERR_ASYNC_TRACER_CLOSED after `close`; ERR_ASYNC_TRACER_DESTINATION where the destination is
   * no path or the file cannot be opened (the log then goes on in the old one)
   */
  reopen(path?: string): void {
    this.#refuseClosed('reopen');
    const { reopen } = this.#destination;
    if (!this.#reopenable || reopen === undefined) {
      throw new TracerError(
        'ERR_ASYNC_TRACER_DESTINATION',
        'reopen() needs a tracer that writes to the path of a file; this one was given a stream, a descriptor or a device.',
      );
    }
    if (path !== undefined && (typeof path !== 'string' || path === '')) {
      throw new TracerError(
        'ERR_ASYNC_TRACER_DESTINATION',
        `reopen() takes a path, or nothing for the same one; got ${show(path)}.`,
      );
    }
    asClaimed(() => {
      this.#encoder.flush();
      try {
        reopen(path);
      } catch (error) {
        throw new TracerError(
          'ERR_ASYNC_TRACER_DESTINATION',
          `The log cannot be reopened${path === undefined ? '' : ` at ${show(path)}`}: ${(error as Error).message}. It goes on in the old file.`,
          { cause: error },
        );
      }
    });
  }

  /** What has been recorded so far. */
  stats(): TracerStats {
    const { counts, lost } = this.#encoder;
    const events = Object.fromEntries(PHASES.map((phase, i) => [phase, counts[i]])) as PhaseCounts;
    return { events, bytes: this.#bytes, lost: lost + this.#lostLater, live: this.#hook.live };
  }

  /** `close` without waiting: what a reader has not taken within 2 seconds is lost. */
  [Symbol.dispose](): void {
    if (this.#closing === undefined) {
      asClaimed(() => {
        this.#finish();
        this.#destination.flushSync(EXIT_WAIT_MS);
        this.#closing = this.#destination.close();
      });
    }
  }

  /** The same as `close`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #refuseClosed(call: string): void {
    if (this.#closing !== undefined) {
      throw new TracerError('ERR_ASYNC_TRACER_CLOSED', `${call}() was called on a tracer that is closed.`);
    }
  }

  #finish(): void {
    forget(this.#finisher);
    this.disable();
    if (this.#options.header) {
      this.#encoder.line(header().endFields(undefined, this.stats()));
    }
    this.#encoder.flush();
    this.#clock.stop();
  }

  /** Events may still come after this one: exit listeners that run later go on working. */
  #finishAtExit(ending: Ending): void {
    if (this.#options.header) {
      const fields = (): string => header().endFields(ending, this.stats());
      this.#encoder.line(fields());
      this.#encoder.flush();
      this.#encoder.writeThrough(fields);
    } else {
      this.#encoder.flush();
      this.#encoder.writeThrough();
    }
    this.#destination.flushSync(EXIT_WAIT_MS);
    this.#exiting = true;
    if (this.#lostLater > 0 && !this.#warned) {
      this.#onError(new Error('its reader did not take it in time'), false);
    }
  }

  /** Called from within a hook: whatever the destination does must stay here. */
  #write(lines: Buffer): Outcome {
    if (this.#closing !== undefined) {
      return DROPPED;
    }
    return asOwn(() => {
      const outcome = this.#destination.write(lines);
      if (outcome === DROPPED) {
        this.#onError(new Error('its reader does not keep up, and maxBuffer is reached'), false);
      } else {
        this.#bytes += lines.length;
      }
      return outcome;
    });
  }

  #onError(error: unknown, fatal: boolean): void {
    if (fatal) {
      this.disable();
    }
    if (!this.#warned) {
      this.#warned = true;
      warn(error, fatal, this.#exiting);
    }
  }
}
