/**
 * A pipe, socket, terminal or device. Its reader may be slow, stop, or go away, and the program must not notice:
 *
 * ```
 *  write(lines) --- queue empty ---> write(2) --- all ---> TAKEN
 *       |                               |
 *       | queue waits                   | EAGAIN, short write: the rest is held (a copy)
 *       v                               v
 *    queue [rest][lines][lines] <= maxBuffer, written on by a timer and by every later write
 * ```
 * Invariant: what is held are whole lines, except that the first buffer may begin inside one, whose beginning is
 * written already. It is finished before anything else is written; where it cannot be, nothing is written again.
 *
 * SonicBoom would sleep 100 ms at every EAGAIN (31-35 MB/s against more than 1.5 GB/s), and a blocking descriptor
 * whose reader has stopped would hold the program for ever: see `openApart`.
 */
import fs from 'node:fs';
import { Socket } from 'node:net';
import { isatty } from 'node:tty';
import { isMainThread } from 'node:worker_threads';
import { type Destination, DROPPED, type Observer, type Outcome, TAKEN } from './destination';
import { arrival, persist } from './patience';

export interface PipeOptions {
  maxBuffer: number;
  overflow: 'drop' | 'block';
}

/** How often a held rest is tried again while the program does not trace anything. */
const RETRY_MS = 10;

// Taken at load: the program may put mocks and fake timers in their place.
const { writeSync, openSync, closeSync, constants, fstatSync } = fs;
const startTimer = setTimeout;
const stopTimer = clearTimeout;
const bufferFrom = Buffer.from;

/** @param asOwn runs what starts operations that are not to be traced. */
export function createPipeDestination(
  file: string | number,
  options: PipeOptions,
  observer: Observer,
  asOwn: <T>(work: () => T) => T,
): Destination {
  const opened = typeof file === 'string' ? openPath(file) : openApart(file);
  const { fd, mine, interactive } = opened;
  const identity = identify(fd);
  const queue: Buffer[] = [];
  let heldBytes = 0;
  let dead = false;
  let timer: NodeJS.Timeout | undefined;

  function die(error: unknown): void {
    dead = true;
    observer.onError(error, true);
    abandon();
  }

  function abandon(): void {
    for (const lines of queue.splice(0)) {
      observer.onLost(lines);
    }
    heldBytes = 0;
    if (timer !== undefined) {
      stopTimer(timer);
      timer = undefined;
    }
  }

  /** Writes as much as goes; returns how much that was, -1 where the descriptor is of no use any more. */
  function push(bytes: Buffer): number {
    let written = 0;
    try {
      while (written < bytes.length) {
        written += writeSync(fd, bytes, written, bytes.length - written);
      }
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code !== 'EAGAIN' && code !== 'EINTR' && code !== 'EBUSY') {
        // A full disk or device may have room again; a closed one does not come back.
        const fatal = code !== 'ENOSPC' && code !== 'EDQUOT' && code !== 'EFBIG';
        if (fatal) {
          die(error);
          return -1;
        }
        observer.onError(error, false);
      }
    }
    return written;
  }

  /** Writes on what is held. */
  function drain(): void {
    while (queue.length > 0 && !dead) {
      const written = push(queue[0]);
      if (written < 0) {
        return;
      }
      heldBytes -= written;
      if (written < queue[0].length) {
        queue[0] = queue[0].subarray(written);
        return;
      }
      queue.shift();
    }
  }

  function hold(lines: Buffer): void {
    queue.push(bufferFrom(lines));
    heldBytes += lines.length;
    if (timer === undefined) {
      timer = asOwn(() => startTimer(retry, RETRY_MS).unref());
    }
  }

  function retry(): void {
    timer = undefined;
    drain();
    if (queue.length > 0) {
      timer = asOwn(() => startTimer(retry, RETRY_MS).unref());
    }
  }

  /** Writes on until `done`, or until nothing has moved for `waitMs`. */
  function drainUntil(done: () => boolean, waitMs: number): void {
    persist(() => {
      const before = heldBytes;
      drain();
      return dead || done() ? 'done' : heldBytes < before ? 'moved' : 'stuck';
    }, waitMs);
  }

  function write(lines: Buffer): Outcome {
    if (dead) {
      return DROPPED;
    }
    if (identify(fd) !== identity) {
      die(new Error(`descriptor ${fd} was closed and now stands for something else`));
      return DROPPED;
    }
    drain();
    if (dead) {
      return DROPPED;
    }
    if (queue.length === 0) {
      const written = push(lines);
      if (written < 0) {
        return DROPPED;
      }
      if (written === lines.length) {
        return TAKEN;
      }
      if (written > 0) {
        // The rest of a line that has begun is always kept, whatever the bound.
        hold(lines.subarray(written));
        return TAKEN;
      }
    }
    if (heldBytes + lines.length > options.maxBuffer) {
      if (options.overflow === 'drop') {
        return DROPPED;
      }
      drainUntil(
        () => heldBytes + lines.length <= options.maxBuffer || queue.length === 0,
        Number.POSITIVE_INFINITY,
      );
      if (dead) {
        return DROPPED;
      }
    }
    hold(lines);
    drain();
    return dead ? DROPPED : TAKEN;
  }

  return {
    interactive,
    write,
    flush() {
      drain();
      return arrival(() => (dead ? 0 : heldBytes), asOwn);
    },
    flushSync(waitMs) {
      drainUntil(() => queue.length === 0, waitMs);
    },
    close() {
      drain();
      abandon();
      dead = true;
      if (mine) {
        closeSync(fd);
      }
      return Promise.resolve();
    },
  };
}

function identify(fd: number): string {
  try {
    const { dev, ino } = fstatSync(fd);
    return `${dev}:${ino}`;
  } catch {
    return 'closed';
  }
}

interface Opened {
  fd: number;
  /** Opened here, so closed here. */
  mine: boolean;
  interactive: boolean;
}

/** A FIFO or device by path. Without O_NONBLOCK a FIFO that nobody reads would hang in open(2). */
function openPath(path: string): Opened {
  const fd = openSync(path, constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
  return { fd, mine: true, interactive: isatty(fd) };
}

/**
 * A descriptor of the program. Whether it blocks is a property that it shares with others (dup, fork), so it is left
 * as it is: a pipe or terminal is opened once more, to write without blocking. Linux can do that through /proc.
 *
 * A socket cannot be opened again. There the descriptor is made non-blocking, as Node does by itself when a program
 * touches process.stdout; in a worker it is left alone, since what does it would close the descriptor with the worker.
 */
function openApart(fd: number): Opened {
  const stat = fstatSync(fd);
  const interactive = isatty(fd);
  if (stat.isFIFO() || interactive) {
    try {
      const apart = openSync(
        `/proc/self/fd/${fd}`,
        constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY | constants.O_APPEND,
      );
      return { fd: apart, mine: true, interactive };
    } catch {
      // No /proc, or no permission: the descriptor as it is.
    }
  } else if (stat.isSocket() && isMainThread) {
    try {
      // Never closed: that would close the program's descriptor.
      new Socket({ fd, readable: false, writable: true }).unref();
    } catch {
      // A socket that libuv cannot take: as it is.
    }
  }
  return { fd, mine: false, interactive };
}
