/** One trace: hook, encoder and destination put together, and their life from the call to the end. */
import { TracerError } from '../../errors';
import type { PhaseCounts } from '../../log/event';
import { anchor, requireClock } from '../clock/anchor';
import type { Clock } from '../clock/clock';
import { createClock } from '../clock/create-clock';
import type * as Contexts from '../context/context';
import { type Destination, DROPPED, type Outcome } from '../destination/destination';
import { openDestination, type Target } from '../destination/open';
import { PhaseIndex } from '../encode/codes';
import { createEncoder } from '../encode/create-encoder';
import type { Encoder, EncoderOptions } from '../encode/encoder';
import { createTraceHook, type Hook } from '../hook/hook';
import { addExitHandler, type Ending, type ExitHandler, forget, isExiting } from '../lifecycle/exit';
import type * as Header from '../lifecycle/header';
import { countLostRecords } from '../lifecycle/lost-records';
import { warn } from '../lifecycle/warning';
import { isResolved, isSelected } from '../options/resolve';
import type { ResolvedOptions } from '../options/tracer-options';
import { show } from '../options/value';
import { requireHooks, requireLittleEndian } from '../runtime/features';
import { own, runAsOwn, runAsOwnTagged } from '../runtime/own-operations';
import { follow, unfollow } from '../runtime/own-tracker';
import { setUnrefTimeout } from '../runtime/timeout';
import type * as Stacks from '../stack/stack';

/** What a tracer has recorded so far. */
export interface TracerStats {
  /** Operation records made since the call, by phase. */
  events: PhaseCounts;
  /** Bytes that the destination has taken. */
  bytes: number;
  /** Records among `events` that are not in the log, and never will be. */
  lost: number;
  /**
   * Operations whose init was seen and whose destroy was not, also those that `include` and `exclude` leave out;
   * promises only where their destroys are traced.
   */
  live: number;
}

/** How long the end of a process waits for a reader that does not move, in milliseconds. */
const EXIT_WAIT_MS = 2000;
const TOO_SLOW = 'its reader did not take it in time';
/** No `finally` sees the end of a script that is terminated: what stands raised when the event loop turns stays so. */
const BROKEN_OFF =
  'a script was terminated (by a timeout of node:vm, say) in the midst of a write of the log';

// Taken at load: the program may put fake timers in their place.
const { nextTick: soon } = process;

function chunkSizeOf(
  { bufferSize, maxBuffer }: ResolvedOptions,
  { interactive, holds }: Destination,
): number {
  if (interactive) {
    // A terminal gets each record at once, between the lines that the program prints.
    return 1;
  }
  return holds ? Math.max(1, Math.min(bufferSize, Math.floor(maxBuffer / 4))) : bufferSize;
}

function startEncoder(options: EncoderOptions): Encoder {
  try {
    return createEncoder(options);
  } catch (error) {
    throw new TracerError(
      'ERR_ASYNC_TRACER_OPTION',
      `There is no memory for a chunk of ${options.chunkSize} bytes: ${(error as Error).message}. Give a smaller bufferSize.`,
      { cause: error },
    );
  }
}

/** Loaded where an option asks for them: most traces do without, and they bring node:vm with them. */
const stackPayloads = (): typeof Stacks => require('../stack/stack');
const contextPayloads = (): typeof Contexts => require('../context/context');
const header = (): typeof Header => require('../lifecycle/header');

/** What `require('async-tracer')(...)` returns. */
export class Tracer implements Disposable, AsyncDisposable {
  readonly #options: ResolvedOptions;
  readonly #destination: Destination;
  readonly #clock: Clock;
  readonly #encoder: Encoder;
  readonly #hook: Hook;
  readonly #finisher: ExitHandler;
  readonly #reopenable: boolean;
  readonly #isIdle = (): boolean => this.#destination.isIdle();
  #stopFlushing: (() => void) | undefined;
  #enabled = false;
  #closing: Promise<void> | undefined;
  #closed = false;
  #bytes = 0;
  /** Records that were taken and then lost. */
  #lostLater = 0;
  #warned = false;
  /** The destination has failed for good, perhaps at the first line. */
  #stopped = false;
  /** The destination is taking a chunk. */
  #writing = false;
  /** The next tick hands on what there is. */
  #isDue = false;
  #exiting = false;

  /**
   * Made by the function that the package exports; the class is there for `instanceof`.
   *
   * @throws TracerError ERR_ASYNC_TRACER_OPTION where anybody else makes one
   */
  constructor(target: Target, options: ResolvedOptions) {
    if (!isResolved(options)) {
      throw new TracerError(
        'ERR_ASYNC_TRACER_OPTION',
        'A Tracer is not made with `new`: call the function that the package exports, asyncTracer(destination, options).',
      );
    }
    this.#options = options;
    this.#reopenable = typeof target === 'string';
    const { contexts, stacks } = options;
    requireHooks();
    requireLittleEndian();
    if (options.send) {
      requireClock(anchor);
    }
    // What can be refused comes first, so that a refusal leaves nothing behind.
    const stack = stacks > 0 ? stackPayloads().createStackPayload(stacks) : undefined;
    const context = contexts === false ? undefined : contextPayloads().createContextPayload(contexts);
    const destination = runAsOwnTagged(() =>
      openDestination(
        target,
        options,
        {
          onLost: (lines) => this.#onLost(lines),
          onError: (error, fatal) => this.#onError(error, fatal),
        },
        // What it starts later, in timers, is known for ours though no hook of ours may be enabled then.
        runAsOwnTagged,
      ),
    );
    this.#destination = destination;
    let clock: Clock | undefined;
    try {
      clock = runAsOwnTagged(() => createClock(options.send ? options.clock : 'still'));
      this.#clock = clock;
      this.#encoder = startEncoder({
        clock,
        prefix: options.prefix,
        suffix: options.suffix,
        chunkSize: chunkSizeOf(options, destination),
        stack,
        context,
        send: options.send,
        write: (lines) => this.#write(lines),
      });
    } catch (error) {
      clock?.stop();
      void destination.close();
      throw error;
    }
    this.#hook = createTraceHook({
      encoder: this.#encoder,
      promises: options.promises,
      promiseDestroy: options.promiseDestroy,
      resolve: options.resolve,
      contexts: contexts !== false,
      select: (op, area) => isSelected(options, op, area),
      selectUnknown: options.include === undefined,
    });
    this.#finisher = {
      finish: (ending) => this.#addExitHandler(ending),
      amend: (ending) => this.#sayEnd(ending),
      flush: () => this.flushSync(),
    };
    if (options.header) {
      // At once: a log that is cut short says at least of whom it is.
      this.#encoder.line(header().startFields(options));
      runAsOwnTagged(() => this.#encoder.flush());
    }
    runAsOwnTagged(() => addExitHandler(this.#finisher));
    if (options.autostart && !this.#stopped) {
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
      unfollow(this.#isIdle);
      this.#hook.enable();
      this.#flushLater();
    }
    return this;
  }

  /** Stops recording and hands on what is in the buffer. Does nothing where it is not recording. */
  disable(): this {
    if (this.#enabled) {
      this.#enabled = false;
      this.#hook.disable();
      this.#stopFlushing?.();
      this.#handOn();
    }
    return this;
  }

  /**
   * Hands on what is in the buffer. Resolves when all of it is with the operating system, or with the stream's sink;
   * also when its reader has not moved for 10 seconds. Never rejects: what cannot be written is counted as lost.
   */
  flush(): Promise<void> {
    return runAsOwnTagged(() => {
      this.#handOn();
      return this.#closing ?? this.#destination.flush().then(() => undefined);
    });
  }

  /**
   * The same at once, without the event loop. Complete for paths and descriptors; waits at most 2 seconds for a reader
   * that does not move. A stream has taken the bytes, and no more is known; one with a method flushSync (SonicBoom) is
   * asked.
   */
  flushSync(): void {
    runAsOwnTagged(() => {
      this.#destination.limitWaits?.(EXIT_WAIT_MS, false);
      try {
        this.#encoder.flush();
        if (!this.#closed) {
          this.#destination.flushSync(EXIT_WAIT_MS, false);
        }
      } finally {
        this.#destination.limitWaits?.(Number.POSITIVE_INFINITY, false);
      }
    });
  }

  /**
   * Stops for good: flushes, writes the `end` record where there is a header, and closes the file if it was given as
   * a path. A stream or descriptor of the program stays open. Safe to call again; never rejects.
   */
  close(): Promise<void> {
    this.#closing ??= runAsOwnTagged(() => {
      this.disable();
      this.#encoder.flush();
      // What is lost and how it ended is said behind the rest, where a slow reader has made room for it.
      return this.#destination
        .flush()
        .then((arrived) => runAsOwnTagged(() => this.#end(arrived)))
        .then(
          () => runAsOwnTagged(() => this.#release()),
          () => runAsOwnTagged(() => this.#release()),
        );
    });
    return this.#closing;
  }

  /**
   * Writes to the path anew from here on, or to another one: for log rotation by renaming. Flushes first, so that no
   * line is cut. Where the path still is the file that is being written, because nobody has renamed it, the log goes on
   * behind what is there, with or without `append`: nothing of it is lost.
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
    runAsOwnTagged(() => {
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
    const events = {
      init: counts[PhaseIndex.init],
      before: counts[PhaseIndex.before],
      after: counts[PhaseIndex.after],
      destroy: counts[PhaseIndex.destroy],
      resolve: counts[PhaseIndex.resolve],
    };
    return { events, bytes: this.#bytes, lost: lost + this.#lostLater, live: this.#hook.live };
  }

  /** `close` without waiting: what a reader has not taken within 2 seconds is lost. */
  [Symbol.dispose](): void {
    if (this.#writing) {
      // The stream has not taken what it was given: the end comes behind that.
      void this.close();
    } else if (this.#closing === undefined) {
      this.#closing = runAsOwnTagged(() => {
        this.#destination.limitWaits?.(EXIT_WAIT_MS, false);
        this.disable();
        this.#encoder.flush();
        const arrived = this.#destination.flushSync(EXIT_WAIT_MS, false);
        void this.#end(arrived);
        this.#destination.flushSync(arrived ? EXIT_WAIT_MS : 0, false);
        return this.#release();
      });
    }
  }

  /** The same as `close`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /**
   * Asked for from within a stream's own write, what that write adds is handed on behind it, and once: a stream that asks
   * each time and makes records each time would never come to an end.
   */
  #handOn(): void {
    if (!this.#writing) {
      runAsOwnTagged(() => this.#encoder.flush());
      this.#followWrites();
    } else if (!this.#isDue) {
      this.#isDue = true;
      runAsOwnTagged(() =>
        soon.call(process, () => {
          this.#handOn();
          this.#isDue = false;
        }),
      );
    }
  }

  /** While no hook of ours is enabled, what the destination starts is the tracer's own all the same. */
  #followWrites(): void {
    if (!this.#enabled) {
      follow(this.#isIdle);
    }
  }

  #flushLater(): void {
    this.#stopFlushing = setUnrefTimeout(this.#options.flushInterval, () => {
      if (own.depth > 0 || this.#encoder.busy) {
        own.depth = 0;
        this.#hook.abandon();
        this.#onError(new Error(BROKEN_OFF), true);
        return;
      }
      this.#flushLater();
      this.#encoder.flush();
    });
  }

  #refuseClosed(call: string): void {
    if (this.#closing !== undefined) {
      throw new TracerError('ERR_ASYNC_TRACER_CLOSED', `${call}() was called on a tracer that is closed.`);
    }
  }

  /** The last lines. */
  #end(arrived: boolean): Promise<unknown> {
    if (this.#options.header && !this.#exiting) {
      this.#encoder.line(header().endFields(undefined, this.stats()));
    }
    this.#encoder.flush();
    this.#followWrites();
    return arrived ? this.#destination.flush() : Promise.resolve();
  }

  #release(): Promise<void> {
    this.#closed = true;
    forget(this.#finisher);
    this.#clock.stop();
    return this.#destination.close();
  }

  /** Events may still come after this one: exit listeners that run later go on working. */
  #addExitHandler(ending: Ending): void {
    this.#exiting = true;
    this.#encoder.flush();
    const arrived = this.#destination.flushSync(EXIT_WAIT_MS, true);
    this.#sayEnd(ending);
    if (!this.#destination.flushSync(arrived ? EXIT_WAIT_MS : 0, true)) {
      this.#onError(new Error(TOO_SLOW), false);
    }
  }

  /** What comes behind this is written at once, each time with another `end` behind it. */
  #sayEnd(ending: Ending): void {
    // Not by the trailer: there may be nothing for it to stand behind.
    this.#encoder.writeThrough();
    const fields = (): string => header().endFields(ending, this.stats());
    if (this.#options.header) {
      this.#encoder.line(fields());
    }
    // A `lost` record may stand in the chunk.
    this.#encoder.flush();
    this.#encoder.writeThrough(this.#options.header ? fields : undefined);
  }

  /** Called from within a hook: whatever the destination does must stay here. */
  #write(lines: Buffer): Outcome {
    if (this.#closed) {
      return DROPPED;
    }
    return runAsOwn(() => {
      if (isExiting()) {
        // Exit listeners that stand before ours may hand on chunks, too.
        this.#destination.limitWaits?.(EXIT_WAIT_MS, true);
      }
      const outcome = this.#take(lines);
      if (outcome === DROPPED) {
        this.#onError(new Error('its reader does not keep up, and maxBuffer is reached'), false);
      } else {
        this.#bytes += lines.length;
      }
      return outcome;
    });
  }

  #take(lines: Buffer): Outcome {
    this.#writing = true;
    try {
      return this.#destination.write(lines);
    } finally {
      this.#writing = false;
    }
  }

  #onLost(lines: Buffer): void {
    const records = countLostRecords(lines);
    this.#lostLater += records;
    if (records > 0) {
      this.#onError(new Error(TOO_SLOW), false);
    }
  }

  #onError(error: unknown, fatal: boolean): void {
    if (!this.#warned) {
      this.#warned = true;
      warn(error, fatal, this.#exiting || isExiting());
    }
    if (fatal) {
      this.#stopped = true;
      this.disable();
    }
  }
}
