/** One trace, from the call to its end. */
import { TracerError } from '../../errors';
import type { Target } from '../destination/open';
import { PhaseIndex } from '../encode/codes';
import { createTraceHook, type Hook } from '../hook/hook';
import { addExitHandler, removeExitHandler } from '../lifecycle/exit';
import { isResolved, isSelected } from '../options/resolve';
import type { ResolvedOptions } from '../options/tracer-options';
import { show } from '../options/value';
import { requireHooks, requireLittleEndian } from '../runtime/features';
import { own, runAsOwnTagged } from '../runtime/own-operations';
import { stopTracking, trackOwnOperations } from '../runtime/own-tracker';
import { setUnrefTimeout } from '../runtime/timeout';
import { LogWriter } from './log-writer';
import { RunRecords } from './run-records';
import { TracerState } from './state';
import type { TracerStats } from './stats';

export type { TracerStats } from './stats';

/** No `finally` runs when a script is terminated, so what it would reset is still set when the event loop turns. */
const TERMINATED =
  'a script was terminated (by a timeout of node:vm, say) in the midst of a write of the log';

// Taken at load: the program may put fake timers in its place.
const { nextTick } = process;
const { defineProperty } = Object;

/** What `require('async-tracer')(...)` returns. */
export class Tracer implements Disposable, AsyncDisposable {
  readonly #options: ResolvedOptions;
  readonly #state = new TracerState();
  readonly #log: LogWriter;
  readonly #hook: Hook;
  readonly #records: RunRecords;
  readonly #isPath: boolean;
  #cancelFlush: (() => void) | undefined;
  /** A flush is scheduled for the next tick. */
  #isFlushScheduled = false;
  /** Set once `close` or `Symbol.dispose` has started. */
  #closing: Promise<void> | undefined;

  /**
   * Made by the function that the package exports; the class is exported for `instanceof`. Its methods are
   * properties that work without the tracer: taken out of it, as a listener, in a copy (as in async-tracer 0.6.1). In a copy
   * `enabled` is what it was when the copy was made.
   *
   * @throws TracerError ERR_ASYNC_TRACER_OPTION where any other code calls it
   */
  constructor(target: Target, options: ResolvedOptions) {
    if (!isResolved(options)) {
      throw new TracerError(
        'ERR_ASYNC_TRACER_OPTION',
        'A Tracer is not made with `new`: call the function that the package exports, asyncTracer(destination, options).',
      );
    }
    // Its own, not of the class, so that a copy has it.
    defineProperty(this, 'enabled', { get: () => this.#state.isRecording, enumerable: true });
    this.#options = options;
    this.#isPath = typeof target === 'string';
    requireHooks();
    requireLittleEndian();
    this.#log = new LogWriter(target, options, this.#state, () => this.#onFatal());
    this.#hook = createTraceHook({
      encoder: this.#log.encoder,
      promises: options.promises,
      promiseDestroy: options.promiseDestroy,
      resolve: options.resolve,
      contexts: options.contexts !== false,
      select: (op, area) => isSelected(options, op, area),
      selectUnknown: options.include === undefined,
    });
    this.#records = new RunRecords(this.#log, options, () => this.stats(), this.#hook.hasMet);
    this.#records.writeStart();
    runAsOwnTagged(() => addExitHandler(this.#records));
    if (options.autostart && this.#state.isIdle) {
      this.enable();
    }
  }

  /** Whether operations are being recorded. */
  declare readonly enabled: boolean;

  /**
   * Begins to record, or continues after `disable`. Does nothing while it is recording.
   *
   * @throws TracerError ERR_ASYNC_TRACER_CLOSED after `close`
   */
  enable = (): this => {
    this.#refuseClosed('enable');
    if (!this.#state.isRecording) {
      this.#state.enable();
      stopTracking(this.#log.isIdle);
      this.#hook.enable();
      this.#startFlushing();
    }
    return this;
  };

  /**
   * Stops recording and writes what is buffered. Does nothing while it is not recording. Waits at most 2 seconds for a
   * reader that does not move, also with `overflow: 'block'`.
   */
  disable = (): this => {
    if (this.#state.disable()) {
      this.#stopRecording();
    }
    return this;
  };

  /**
   * Writes what is buffered. Resolves when all of it has reached the operating system or the stream's sink, or when the
   * reader has not moved for 10 seconds. The call itself waits at most 2 seconds, with `overflow: 'block'`. Never rejects:
   * what cannot be written is counted as lost.
   */
  flush = (): Promise<void> => {
    return runAsOwnTagged(() => {
      this.#flush();
      return this.#closing ?? this.#log.drain().then(() => undefined);
    });
  };

  /**
   * The same at once, without the event loop. Complete for paths and descriptors; waits at most 2 seconds for a reader
   * that does not move. A stream has taken the bytes, and no more is known; the method flushSync of a stream that has one
   * (SonicBoom) is called.
   */
  flushSync = (): void => {
    runAsOwnTagged(() => this.#log.flushSync());
  };

  /**
   * Stops for good: flushes, writes the `end` record where there is a header, and closes the file if it was given as
   * a path. A stream or descriptor of the program stays open. May be called again; never rejects. Waits for a reader that
   * does not move as `flush` does, and counts what it has not taken as lost.
   */
  close = (): Promise<void> => {
    if (!this.#state.isClosing) {
      this.#closing = this.#startClose(() => {
        const release = (): Promise<void> => runAsOwnTagged(() => this.#release());
        // What is lost and how the run ended is written last, when a slow reader has made room for it.
        return this.#log
          .drain()
          .then((arrived) => runAsOwnTagged(() => this.#end(arrived)))
          .then(release, release);
      });
    }
    // Called from a stream's write within the call above, it is not assigned yet.
    return this.#closing ?? runAsOwnTagged(() => Promise.resolve().then(() => this.#closing));
  };

  /**
   * Opens the path again, or another one, and continues there: for log rotation by renaming. Flushes first, so that no
   * line is cut. If nobody has renamed the file, the log continues after what the file has, with or without `append`:
   * nothing of it is lost. As a listener for a signal it opens the same path again.
   *
   * @throws TracerError ERR_ASYNC_TRACER_CLOSED after `close`; ERR_ASYNC_TRACER_DESTINATION where the destination is
   * not a path or the file cannot be opened (the log then continues in the old one)
   */
  reopen: (path?: string) => void = (given?: string, signal?: number) => {
    this.#refuseClosed('reopen');
    // A listener for a signal is called with its name and number, and the name is no path.
    const path = typeof signal === 'number' && /^SIG[A-Z0-9]+$/.test(String(given)) ? undefined : given;
    if (!this.#isPath || !this.#log.canReopen) {
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
    runAsOwnTagged(() => this.#log.reopen(path));
  };

  /** What has been recorded so far. */
  stats = (): TracerStats => {
    const { counts } = this.#log.encoder;
    const events = {
      init: counts[PhaseIndex.init],
      before: counts[PhaseIndex.before],
      after: counts[PhaseIndex.after],
      destroy: counts[PhaseIndex.destroy],
      resolve: counts[PhaseIndex.resolve],
    };
    return { events, bytes: this.#log.bytes, lost: this.#log.lost, live: this.#hook.live };
  };

  /** `close` without waiting: what a reader has not taken within 2 seconds is lost. */
  [Symbol.dispose] = (): void => {
    if (this.#log.isWriting) {
      // The stream is still taking a chunk: the end must follow it.
      void this.close();
    } else if (!this.#state.isClosing) {
      this.#closing = this.#startClose(() => {
        const arrived = this.#log.drainSync(true);
        void this.#end(arrived);
        this.#log.drainSync(arrived);
        return this.#release();
      });
    }
  };

  /** The same as `close`. */
  [Symbol.asyncDispose] = (): Promise<void> => {
    return this.close();
  };

  #refuseClosed(call: string): void {
    if (this.#state.isClosing) {
      throw new TracerError('ERR_ASYNC_TRACER_CLOSED', `${call}() was called on a tracer that is closed.`);
    }
  }

  #onFatal(): void {
    if (this.#state.fail()) {
      this.#stopRecording();
    }
  }

  #stopRecording(): void {
    this.#hook.disable();
    this.#cancelFlush?.();
    this.#flush();
  }

  #startFlushing(): void {
    this.#cancelFlush = setUnrefTimeout(this.#options.flushInterval, () => {
      const { encoder } = this.#log;
      if (own.depth > 0 || encoder.busy) {
        own.depth = 0;
        this.#hook.abandon();
        this.#log.onError(new Error(TERMINATED), true);
        return;
      }
      this.#startFlushing();
      this.#log.flushIfRoom();
    });
  }

  /**
   * Writes what is buffered. Within a stream's own write it is scheduled instead, once: a stream that flushes and records
   * during each write would never come to an end.
   */
  #flush(): void {
    if (!this.#log.isWriting) {
      runAsOwnTagged(() => this.#log.flush());
      this.#trackWrites();
    } else if (!this.#isFlushScheduled) {
      this.#isFlushScheduled = true;
      runAsOwnTagged(() =>
        nextTick.call(process, () => {
          this.#flush();
          this.#isFlushScheduled = false;
        }),
      );
    }
  }

  /** While the hook is disabled, operations that the destination starts are still the tracer's own. */
  #trackWrites(): void {
    if (!this.#state.isRecording) {
      trackOwnOperations(this.#log.isIdle);
    }
  }

  /** @throws where there is no stack for it; then the next close tries again */
  #startClose(finish: () => Promise<void>): Promise<void> {
    this.#state.close();
    try {
      return runAsOwnTagged(() => {
        this.#stopRecording();
        this.#log.flush();
        return finish();
      });
    } catch (error) {
      this.#state.cancelClose();
      throw error;
    }
  }

  /** Writes the last lines. */
  #end(arrived: boolean): Promise<unknown> {
    this.#records.addEndOfClose();
    this.#log.flush();
    this.#trackWrites();
    return arrived ? this.#log.drain() : Promise.resolve();
  }

  #release(): Promise<void> {
    this.#state.release();
    removeExitHandler(this.#records);
    return this.#log.release();
  }
}
