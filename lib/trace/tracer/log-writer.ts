/** The log of one tracer: clock, encoder and destination, the counts of what they took and lost, and the one warning. */
import { TracerError } from '../../errors';
import { anchor, requireClock } from '../clock/anchor';
import type { Clock } from '../clock/clock';
import { createClock } from '../clock/create-clock';
import type * as Context from '../context/context';
import { type Destination, DROPPED, type Outcome } from '../destination/destination';
import { openDestination, type Target } from '../destination/open';
import { createEncoder } from '../encode/create-encoder';
import type { Encoder, EncoderOptions } from '../encode/encoder';
import { isExiting } from '../lifecycle/exit';
import { countLostRecords } from '../lifecycle/lost-records';
import { printWarning, warn } from '../lifecycle/warning';
import type { ResolvedOptions } from '../options/tracer-options';
import { show } from '../options/value';
import { runAsOwn, runAsOwnTagged } from '../runtime/own-operations';
import type * as Stack from '../stack/stack';
import type { TracerState } from './state';

/** How long the end of a process waits for a reader that does not move, in milliseconds. */
const EXIT_WAIT_MS = 2000;
const TOO_SLOW = 'its reader did not take it in time';
const BUFFER_FULL = 'its reader does not keep up, and maxBuffer is reached';

/** Loaded where an option needs them: most traces do not, and they load node:vm. */
const loadStack = (): typeof Stack => require('../stack/stack');
const loadContext = (): typeof Context => require('../context/context');

function chunkSizeOf(
  { bufferSize, maxBuffer }: ResolvedOptions,
  { interactive, queues }: Destination,
): number {
  if (interactive) {
    // A terminal gets each record at once, between the lines that the program prints.
    return 1;
  }
  return queues ? Math.max(1, Math.min(bufferSize, Math.floor(maxBuffer / 4))) : bufferSize;
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

export class LogWriter {
  readonly encoder: Encoder;
  readonly #destination: Destination;
  readonly #clock: Clock;
  readonly #state: TracerState;
  readonly #onFatal: () => void;
  #bytes = 0;
  /** Records that the destination took and then lost. */
  #lostLater = 0;
  #isWriting = false;
  /** Calls of `drain` that wait for the destination. */
  #drains = 0;
  #hasWarned = false;

  /**
   * @param onFatal called when a write has failed for good, perhaps before this returns
   * @throws TracerError with nothing left open
   */
  constructor(target: Target, options: ResolvedOptions, state: TracerState, onFatal: () => void) {
    this.#state = state;
    this.#onFatal = onFatal;
    const { contexts, stacks, send } = options;
    if (send) {
      requireClock(anchor);
    }
    // What can be refused comes first, so that a refusal leaves nothing open.
    const stack = stacks > 0 ? loadStack().createStackPayload(stacks) : undefined;
    const context = contexts === false ? undefined : loadContext().createContextPayload(contexts);
    const destination = runAsOwnTagged(() =>
      openDestination(
        target,
        options,
        {
          onLost: (lines) => this.#onLost(lines),
          onError: (error, fatal) => this.onError(error, fatal),
        },
        // Operations that it starts later, in timers, are tagged as own: no hook of this tracer may be enabled then.
        runAsOwnTagged,
      ),
    );
    this.#destination = destination;
    let clock: Clock | undefined;
    try {
      clock = runAsOwnTagged(() => createClock(send ? options.clock : 'still'));
      this.#clock = clock;
      this.encoder = startEncoder({
        clock,
        prefix: options.prefix,
        suffix: options.suffix,
        chunkSize: chunkSizeOf(options, destination),
        stack,
        context,
        send,
        write: (lines) => this.#write(lines),
      });
    } catch (error) {
      clock?.stop();
      void destination.close();
      throw error;
    }
  }

  /** Bytes that the destination has taken. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Records that are not in the log and never will be. */
  get lost(): number {
    return this.encoder.lost + this.#lostLater;
  }

  /** Whether the destination is taking a chunk: a stream's write may run code that calls the tracer. */
  get isWriting(): boolean {
    return this.#isWriting;
  }

  /** Whether nothing that the destination took is still in progress. */
  readonly isIdle = (): boolean => this.#destination.isIdle();

  /**
   * Waits for the destination; see `Destination.flush`. Meanwhile no write waits longer than 2 seconds for a reader, or a
   * write in the hook would hold the event loop, and with it this promise, for good.
   */
  drain(): Promise<boolean> {
    this.#drains++;
    this.limitWaits();
    const settle = (arrived: boolean): boolean => {
      this.#drains--;
      this.#liftLimit();
      return arrived;
    };
    return this.#destination.flush().then(settle, () => settle(false));
  }

  #liftLimit(): void {
    if (this.#drains === 0) {
      this.#destination.setWaitLimit?.(Number.POSITIVE_INFINITY, false);
    }
  }

  /**
   * Encodes what is buffered and writes it. Waits at most 2 seconds for a reader that does not move, also with
   * `overflow: 'block'`: one chunk is queued beyond `maxBuffer` then, and more are dropped and counted.
   */
  flush(): void {
    this.limitWaits();
    try {
      this.encoder.flush();
    } finally {
      this.#liftLimit();
    }
  }

  /**
   * Encodes what is buffered and writes it, unless that would wait for a reader: with `overflow: 'block'` only a chunk that
   * is full may hold the program.
   */
  flushIfRoom(): void {
    if (this.#destination.hasRoom?.() !== false) {
      this.flush();
    }
  }

  /** Writes what is buffered, without the event loop. */
  flushSync(): void {
    this.limitWaits();
    try {
      this.encoder.flush();
      if (!this.#state.isClosed) {
        this.drainSync(true);
      }
    } finally {
      this.#liftLimit();
    }
  }

  /** From here on no write waits longer than the end of a process does. */
  limitWaits(): void {
    this.#destination.setWaitLimit?.(EXIT_WAIT_MS, false);
  }

  /** @param mayWait for a reader that does not move */
  drainSync(mayWait: boolean): boolean {
    return this.#destination.flushSync(mayWait ? EXIT_WAIT_MS : 0, false);
  }

  /** The same where the event loop will never turn again. */
  drainAtExit(mayWait: boolean): boolean {
    return this.#destination.flushSync(mayWait ? EXIT_WAIT_MS : 0, true);
  }

  get canReopen(): boolean {
    return this.#destination.reopen !== undefined;
  }

  /** @throws TracerError ERR_ASYNC_TRACER_DESTINATION where the file cannot be opened: the log continues in the old one */
  reopen(path: string | undefined): void {
    this.encoder.flush();
    try {
      this.#destination.reopen?.(path);
    } catch (error) {
      throw new TracerError(
        'ERR_ASYNC_TRACER_DESTINATION',
        `The log cannot be reopened${path === undefined ? '' : ` at ${show(path)}`}: ${(error as Error).message}. It goes on in the old file.`,
        { cause: error },
      );
    }
  }

  release(): Promise<void> {
    this.#clock.stop();
    return this.#destination.close();
  }

  warnOfOption(message: string): void {
    printWarning('ERR_ASYNC_TRACER_OPTION', message, isExiting());
  }

  onTooSlow(): void {
    this.onError(new Error(TOO_SLOW), false);
  }

  onError(error: unknown, fatal: boolean): void {
    if (!this.#hasWarned) {
      this.#hasWarned = true;
      warn(error, fatal, isExiting());
    }
    if (fatal) {
      this.#onFatal();
    }
  }

  /** Called from within a hook: no operation that the destination starts may be recorded. */
  #write(lines: Buffer): Outcome {
    if (this.#state.isClosed) {
      return DROPPED;
    }
    return runAsOwn(() => {
      if (isExiting()) {
        // Exit listeners before ours may cause writes too.
        this.#destination.setWaitLimit?.(EXIT_WAIT_MS, true);
      }
      const outcome = this.#take(lines);
      if (outcome === DROPPED) {
        this.onError(new Error(BUFFER_FULL), false);
      } else {
        this.#bytes += lines.length;
      }
      return outcome;
    });
  }

  #take(lines: Buffer): Outcome {
    this.#isWriting = true;
    try {
      return this.#destination.write(lines);
    } finally {
      this.#isWriting = false;
    }
  }

  #onLost(lines: Buffer): void {
    const records = countLostRecords(lines);
    this.#lostLater += records;
    if (records > 0) {
      this.onTooSlow();
    }
  }
}
