/**
 * A pipe, socket, terminal or device. Its reader may be slow, stop, or go away, and the program must not notice:
 *
 * ```
 *  write(lines) --- queue empty ---> write(2) --- all ---> TAKEN
 *       |                               |
 *       | queue not empty               | EAGAIN, short write: a copy of the rest is queued
 *       v                               v
 *    queue [rest][lines][lines] <= maxBuffer, written by a timer and by every later write
 * ```
 * Invariant: the queue contains whole lines, except that the first buffer may begin inside a line whose beginning is
 * written already. That line is finished before anything else is written; where it cannot be, nothing is written again.
 *
 * SonicBoom would sleep 100 ms at every EAGAIN (31-35 MB/s against more than 1.5 GB/s), and a blocking descriptor
 * whose reader has stopped would block the program for ever: see nonblocking.ts.
 */
import fs from 'node:fs';
import { identify } from '../runtime/file-identity';
import { uncurryThis } from '../runtime/intrinsics';
import { setUnrefTimeout } from '../runtime/timeout';
import { type Destination, DROPPED, type Observer, type Outcome, TAKEN } from './destination';
import { type Opened, openNonBlocking, openPath } from './nonblocking';
import { type WriteObserver, writeAvailable } from './pipe-write';
import { Queue } from './queue';
import { retryUntil, whenDrained } from './wait';

export interface PipeOptions {
  maxBuffer: number;
  overflow: 'drop' | 'block';
}

/** How often the queue is retried while the program does not trace anything. */
const RETRY_MS = 10;
// Taken at load: the program may put mocks in their place.
const { closeSync } = fs;
const subarray = uncurryThis(Buffer.prototype.subarray);

/** @param runAsOwnTagged runs work whose operations are not to be traced */
export function createPipeDestination(
  file: string | number,
  options: PipeOptions,
  observer: Observer,
  runAsOwnTagged: <T>(work: () => T) => T,
): Destination {
  const { fd, isOpenedHere, interactive, isShared }: Opened =
    typeof file === 'string' ? openPath(file) : openNonBlocking(file);
  /** The descriptor that the program has. */
  const given = typeof file === 'number' ? file : fd;
  const identity = identify(given);
  const queue = new Queue();
  /** Failed or closed: nothing is written again. */
  let isDead = false;
  /** The disk or device was full at the last write: only the rest of a line that has begun is queued then. */
  let isFull = false;
  const blocks = options.overflow === 'block';
  /** The longest wait of a write: see Destination.setWaitLimit. */
  let limitMs = Number.POSITIVE_INFINITY;
  let isExiting = false;
  /** The reader has taken nothing since the last wait for it. */
  let hasStopped = false;
  /** Lines that the reader did not take in time were dropped. */
  let gaveUp = false;
  let cancelRetry: (() => void) | undefined;

  function fail(error: unknown): void {
    isDead = true;
    observer.onError(error, true);
    abandon();
    release();
  }

  function abandon(): void {
    queue.clear((lines) => observer.onLost(lines));
    cancelRetry?.();
    cancelRetry = undefined;
  }

  function giveUp(): void {
    if (!isDead) {
      gaveUp = queue.first !== undefined;
      // Before the loss is reported, since nothing may follow half a line.
      isDead = true;
      abandon();
      release();
    }
  }

  /** Closes what was opened here, unless the descriptor was closed and is something else by now. */
  function release(): void {
    if (isOpenedHere && identify(fd) === identity) {
      closeSync(fd);
    }
  }

  function isSameFile(): boolean {
    const found = identify(given);
    if (found === identity) {
      return true;
    }
    // The reader of a pipe that the program has closed waits for its end, so the second descriptor is closed too.
    fail(
      new Error(
        `descriptor ${given} was closed${found === undefined ? '' : ' and now stands for something else'}`,
      ),
    );
    return false;
  }

  const writeObserver: WriteObserver = {
    onFull(error) {
      isFull = true;
      observer.onError(error, false);
    },
    onFailure: fail,
  };

  /** Writes as much as the descriptor takes; returns the number of bytes, -1 where it cannot be used any more. */
  function push(bytes: Buffer): number {
    const written = writeAvailable(fd, bytes, isShared, writeObserver);
    if (written > 0) {
      hasStopped = false;
    }
    return written;
  }

  /** Writes what is queued, as far as the descriptor takes it. */
  function drain(): void {
    while (queue.first !== undefined && !isDead) {
      const { length } = queue.first;
      const written = push(queue.first);
      if (written < 0) {
        return;
      }
      queue.advance(written);
      if (written < length) {
        return;
      }
    }
  }

  function enqueue(lines: Buffer): void {
    queue.add(lines);
    cancelRetry ??= setUnrefTimeout(RETRY_MS, retry);
  }

  function retry(): void {
    cancelRetry = undefined;
    if (isSameFile()) {
      drain();
    }
    if (queue.first !== undefined) {
      cancelRetry = setUnrefTimeout(RETRY_MS, retry);
    }
  }

  function isEmpty(): boolean {
    return queue.first === undefined;
  }

  /**
   * Writes what is queued until `done` returns true, or until nothing has moved for `waitMs`: returns false then. A reader
   * that has not moved for a whole wait is not waited for again before it moves: an uncaught error causes two flushes, and
   * each handled one causes one.
   */
  function drainUntil(done: () => boolean, waitMs: number): boolean {
    const isDone = retryUntil(
      () => {
        const before = queue.bytes;
        drain();
        return isDead || done() ? 'done' : queue.bytes < before ? 'moved' : 'stuck';
      },
      hasStopped && waitMs !== Number.POSITIVE_INFINITY ? 0 : waitMs,
    );
    hasStopped ||= !isDone && waitMs > 0;
    return isDone;
  }

  function write(lines: Buffer): Outcome {
    if (isDead || !isSameFile()) {
      return DROPPED;
    }
    isFull = false;
    drain();
    if (isExiting) {
      drainAtExit();
    }
    if (isDead) {
      return DROPPED;
    }
    if (queue.first === undefined) {
      const written = push(lines);
      if (written < 0) {
        return DROPPED;
      }
      if (written === lines.length) {
        return TAKEN;
      }
      if (written > 0) {
        // The rest of a line that has begun is always queued, whatever the bound.
        enqueue(subarray(lines, written));
        if (isExiting) {
          drainAtExit();
        }
        return TAKEN;
      }
    }
    if (isFull) {
      return DROPPED;
    }
    if (!isExiting && queue.bytes + lines.length > options.maxBuffer) {
      if (!blocks) {
        return DROPPED;
      }
      const hasRoom = (): boolean =>
        queue.bytes + lines.length <= options.maxBuffer || queue.first === undefined;
      // If a limited wait ends without room, the lines are queued beyond the bound, so that 'block' loses none of them.
      // Once: more would grow without bound while a flush waits.
      const isBeyond = queue.bytes > options.maxBuffer;
      if ((!drainUntil(hasRoom, limitMs) && isBeyond) || isDead) {
        return DROPPED;
      }
    }
    enqueue(lines);
    // If the write fails here, the queued lines have been counted as lost.
    drain();
    if (isExiting) {
      drainAtExit();
    }
    return TAKEN;
  }

  /** Writes the queue now, since no timer will fire any more. */
  function drainAtExit(): void {
    if (queue.first !== undefined && !drainUntil(isEmpty, limitMs)) {
      // There is no later wait. Records of later exit listeners must not follow half a line.
      giveUp();
    }
  }

  function setWaitLimit(waitMs: number, exiting: boolean): void {
    if (exiting || !isExiting) {
      limitMs = waitMs;
      isExiting = exiting;
    }
  }

  return {
    interactive,
    queues: true,
    isIdle: isEmpty,
    // A chunk is at most a quarter of maxBuffer.
    hasRoom: () => !blocks || queue.bytes <= options.maxBuffer * 0.75,
    write,
    flush() {
      if (queue.first !== undefined && isSameFile()) {
        drain();
      }
      return whenDrained(() => queue.bytes, runAsOwnTagged);
    },
    flushSync(waitMs, exiting) {
      if (exiting) {
        setWaitLimit(waitMs, true);
      }
      if (queue.first !== undefined && isSameFile()) {
        if (exiting) {
          drainAtExit();
        } else {
          drainUntil(isEmpty, waitMs);
        }
      }
      return queue.first === undefined && !gaveUp;
    },
    setWaitLimit,
    close() {
      if (queue.first !== undefined && isSameFile()) {
        drain();
      }
      giveUp();
      return Promise.resolve();
    },
  };
}
