/**
 * A pipe, socket, terminal or device. Its reader may be slow, stop, or go away, and the program must not notice:
 *
 * ```
 *  write(lines) --- queue empty ---> write(2) --- all ---> TAKEN
 *       |                               |
 *       | queue waits                   | EAGAIN, short write: the rest is held (a copy)
 *       v                               v
 *    queue [rest][lines][lines] <= maxBuffer, written on after a while and by every later write
 * ```
 * Invariant: what is held are whole lines, except that the first buffer may begin inside one, whose beginning is
 * written already. It is finished before anything else is written; where it cannot be, nothing is written again.
 *
 * SonicBoom would sleep 100 ms at every EAGAIN (31-35 MB/s against more than 1.5 GB/s), and a blocking descriptor
 * whose reader has stopped would hold the program for ever: see apart.ts.
 */
import fs from 'node:fs';
import { uncurryThis } from '../runtime/intrinsics';
import { setUnrefTimeout } from '../runtime/timeout';
import { type Destination, DROPPED, type Observer, type Outcome, TAKEN } from './destination';
import { identify } from './file-identity';
import { type Opened, openNonBlocking, openPath } from './nonblocking';
import { Queue } from './queue';
import { retryUntil, whenDrained } from './wait';

export interface PipeOptions {
  maxBuffer: number;
  overflow: 'drop' | 'block';
}

/** How often a held rest is tried again while the program does not trace anything. */
const RETRY_MS = 10;
/** A full disk or device may have room again; what else is wrong with a descriptor does not pass. */
function isBusy(code: string): boolean {
  return code === 'EAGAIN' || code === 'EBUSY' || code === 'EINTR';
}
function isFull(code: string): boolean {
  return code === 'ENOSPC' || code === 'EDQUOT' || code === 'EFBIG';
}

// Taken at load: the program may put mocks and fake timers in their place, and all but `close` runs inside of hooks.
const { writeSync, closeSync } = fs;
const indexOf = uncurryThis(Buffer.prototype.indexOf) as (
  bytes: Buffer,
  what: number,
  from: number,
) => number;
const lastIndexOf = uncurryThis(Buffer.prototype.lastIndexOf) as typeof indexOf;
const subarray = uncurryThis(Buffer.prototype.subarray);
const NEWLINE = 10;
/** Bytes that a pipe takes in one piece on Linux (pipe(7)); so does a socket of the same machine, in one buffer. */
const PIPE_BUF = 4096;

/**
 * Where a write from here on may end, so that what others write to the pipe comes between lines: it is taken whole or
 * not at all, unless a single line is longer. The many small writes cost 80 to 130 ns an event beside 310 to 390 on a
 * machine with other work (Node 20), so they are made only where others are likely to write.
 */
function endOfPiece(bytes: Buffer, from: number): number {
  if (bytes.length - from <= PIPE_BUF) {
    return bytes.length;
  }
  const last = lastIndexOf(bytes, NEWLINE, from + PIPE_BUF - 1);
  if (last >= from) {
    return last + 1;
  }
  const next = indexOf(bytes, NEWLINE, from + PIPE_BUF);
  return next === -1 ? bytes.length : next + 1;
}

/** @param runAsOwnTagged runs what starts operations that are not to be traced. */
export function createPipeDestination(
  file: string | number,
  options: PipeOptions,
  observer: Observer,
  runAsOwnTagged: <T>(work: () => T) => T,
): Destination {
  const { fd, mine, interactive, shared }: Opened =
    typeof file === 'string' ? openPath(file) : openNonBlocking(file);
  /** The descriptor by which the program knows it. */
  const given = typeof file === 'number' ? file : fd;
  const identity = identify(given);
  const queue = new Queue();
  let dead = false;
  /** The last write met a full disk or device: nothing is held for it, but the rest of a line that has begun. */
  let full = false;
  const blocks = options.overflow === 'block';
  /** The longest wait of a write: see Destination.limitWaits. */
  let limitMs = Number.POSITIVE_INFINITY;
  let isExiting = false;
  /** The reader has taken nothing since it was waited for. */
  let hasStopped = false;
  /** What a reader did not take in time was let go. */
  let gaveUp = false;
  let stopWaiting: (() => void) | undefined;

  function die(error: unknown): void {
    dead = true;
    observer.onError(error, true);
    abandon();
    release();
  }

  function abandon(): void {
    queue.clear((lines) => observer.onLost(lines));
    stopWaiting?.();
    stopWaiting = undefined;
  }

  function giveUp(): void {
    if (!dead) {
      gaveUp = queue.first !== undefined;
      // Before what is lost is told: nothing may come behind half a line.
      dead = true;
      abandon();
      release();
    }
  }

  /** Closes what was opened here, unless it is closed and something else's by now. */
  function release(): void {
    if (mine && identify(fd) === identity) {
      closeSync(fd);
    }
  }

  function isStillOurs(): boolean {
    const found = identify(given);
    if (found === identity) {
      return true;
    }
    // Where the program has closed a pipe, its reader waits for the end: ours is closed, too.
    die(
      new Error(
        `descriptor ${given} was closed${found === undefined ? '' : ' and now stands for something else'}`,
      ),
    );
    return false;
  }

  /**
   * Writes as much as goes; returns how much that was, -1 where the descriptor is of no use any more. Where that shows
   * behind the first piece, the next try says so, and what is lost is the rest alone.
   */
  function push(bytes: Buffer): number {
    let written = 0;
    try {
      while (written < bytes.length) {
        const end = shared ? endOfPiece(bytes, written) : bytes.length;
        written += writeSync(fd, bytes, written, end - written);
        hasStopped = false;
      }
    } catch (error) {
      const { code = '' } = error as NodeJS.ErrnoException;
      if (isFull(code)) {
        full = true;
        observer.onError(error, false);
      } else if (!isBusy(code) && written === 0) {
        die(error);
        return -1;
      }
    }
    return written;
  }

  /** Writes on what is held. */
  function drain(): void {
    while (queue.first !== undefined && !dead) {
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

  function hold(lines: Buffer): void {
    queue.add(lines);
    stopWaiting ??= setUnrefTimeout(RETRY_MS, retry);
  }

  function retry(): void {
    stopWaiting = undefined;
    if (isStillOurs()) {
      drain();
    }
    if (queue.first !== undefined) {
      stopWaiting = setUnrefTimeout(RETRY_MS, retry);
    }
  }

  function isEmpty(): boolean {
    return queue.first === undefined;
  }

  /**
   * Writes on until `done`, or until nothing has moved for `waitMs`: to false then. A reader that has not moved for a
   * whole wait is not waited for again before it does: an uncaught error asks for two flushes, and each one that is
   * handled for one.
   */
  function drainUntil(done: () => boolean, waitMs: number): boolean {
    const isDone = retryUntil(
      () => {
        const before = queue.bytes;
        drain();
        return dead || done() ? 'done' : queue.bytes < before ? 'moved' : 'stuck';
      },
      hasStopped && waitMs !== Number.POSITIVE_INFINITY ? 0 : waitMs,
    );
    hasStopped ||= !isDone && waitMs > 0;
    return isDone;
  }

  function write(lines: Buffer): Outcome {
    if (dead || !isStillOurs()) {
      return DROPPED;
    }
    full = false;
    drain();
    if (isExiting) {
      settleAtExit();
    }
    if (dead) {
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
        // The rest of a line that has begun is always kept, whatever the bound.
        hold(subarray(lines, written));
        if (isExiting) {
          settleAtExit();
        }
        return TAKEN;
      }
    }
    if (full) {
      return DROPPED;
    }
    if (!isExiting && queue.bytes + lines.length > options.maxBuffer) {
      if (!blocks) {
        return DROPPED;
      }
      const hasRoom = (): boolean =>
        queue.bytes + lines.length <= options.maxBuffer || queue.first === undefined;
      // Where the wait is limited and in vain it is held beyond the bound: 'block' loses nothing.
      drainUntil(hasRoom, limitMs);
      if (dead) {
        return DROPPED;
      }
    }
    hold(lines);
    // Where it dies here, what is held has been counted as lost.
    drain();
    if (isExiting) {
      settleAtExit();
    }
    return TAKEN;
  }

  /** What would write on after a while never will. */
  function settleAtExit(): void {
    if (queue.first !== undefined && !drainUntil(isEmpty, limitMs)) {
      // It will not be waited for again. What exit listeners still make must not come behind half a line.
      giveUp();
    }
  }

  function limitWaits(waitMs: number, exiting: boolean): void {
    if (exiting || !isExiting) {
      limitMs = waitMs;
      isExiting = exiting;
    }
  }

  return {
    interactive,
    holds: true,
    isIdle: isEmpty,
    write,
    flush() {
      if (queue.first !== undefined && isStillOurs()) {
        drain();
      }
      return whenDrained(() => queue.bytes, runAsOwnTagged);
    },
    flushSync(waitMs, exiting) {
      if (exiting) {
        limitWaits(waitMs, true);
      }
      if (queue.first !== undefined && isStillOurs()) {
        if (exiting) {
          settleAtExit();
        } else {
          drainUntil(isEmpty, waitMs);
        }
      }
      return queue.first === undefined && !gaveUp;
    },
    limitWaits,
    close() {
      if (queue.first !== undefined && isStillOurs()) {
        drain();
      }
      giveUp();
      return Promise.resolve();
    },
  };
}
