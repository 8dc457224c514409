/** Descriptors that are written without ever waiting, and without changing how the program's own behave. */
import fs from 'node:fs';
import { Socket } from 'node:net';
import { isatty } from 'node:tty';
import { isMainThread } from 'node:worker_threads';
import { identify } from './identity';

const { openSync, constants, fstatSync } = fs;

export interface Opened {
  fd: number;
  /** Opened here, so closed here. */
  mine: boolean;
  interactive: boolean;
}

/** A FIFO or device by path. Without O_NONBLOCK a FIFO that nobody reads would hang in open(2). */
export function openPath(path: string): Opened {
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
export function openApart(fd: number): Opened {
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
    unblock(fd);
  }
  return { fd, mine: false, interactive };
}

/** Sockets that were made non-blocking, so that one is made so once however many tracers write to it. */
const unblocked: (string | undefined)[] = [];

function unblock(fd: number): void {
  const identity = identify(fd);
  if (unblocked[fd] === identity) {
    return;
  }
  try {
    // Never closed: that would close the program's descriptor.
    new Socket({ fd, readable: false, writable: true }).unref();
    unblocked[fd] = identity;
  } catch {
    // A socket that libuv cannot take: as it is.
  }
}
