/** Descriptors that are written without ever waiting, and without changing how the program's own behave. */
import fs from 'node:fs';
import { connect } from 'node:net';
import { isatty } from 'node:tty';

const { openSync, constants, fstatSync, readFileSync } = fs;

const STDERR = 2;

export interface Opened {
  fd: number;
  /** Opened here, so closed here. */
  mine: boolean;
  interactive: boolean;
  /** A pipe or socket that others are likely to write to. */
  shared: boolean;
}

/** A FIFO or device by path. Without O_NONBLOCK a FIFO that nobody reads would hang in open(2). */
export function openPath(path: string): Opened {
  const fd = openSync(path, constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
  return { fd, mine: true, interactive: isatty(fd), shared: fstatSync(fd).isFIFO() };
}

/**
 * A descriptor of the program. Whether it blocks is a property that it shares with others (dup, fork), so it is left
 * as it is: a pipe or terminal is opened once more, to write without blocking. Linux can do that through /proc.
 *
 * A socket cannot be opened again, nor can a pipe of another user's. There the descriptor is made non-blocking, as Node
 * does by itself when a program touches process.stdout: a reader that stops would hold the program for ever.
 *
 * @throws where it blocks and cannot be kept from it
 */
export function openNonBlocking(fd: number): Opened {
  const stat = fstatSync(fd);
  const interactive = isatty(fd);
  const mayStop = stat.isFIFO() || stat.isSocket();
  const shared = mayStop && fd <= STDERR;
  if (stat.isFIFO() || interactive) {
    try {
      const apart = openSync(
        `/proc/self/fd/${fd}`,
        constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY | constants.O_APPEND,
      );
      return { fd: apart, mine: true, interactive, shared };
    } catch {
      // No /proc, or no permission.
    }
  }
  if (mayStop) {
    unblock(fd);
  }
  return { fd, mine: false, interactive, shared };
}

function isBlocking(fd: number): boolean {
  try {
    const [, flags] = /^flags:\s*([0-7]+)$/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, 'utf8')) ?? [];
    return (Number.parseInt(flags, 8) & constants.O_NONBLOCK) === 0;
  } catch {
    return true;
  }
}

interface Handle {
  open?(fd: number): number;
}

/** What libuv says to a second descriptor for a handle, and to one that is in its loop, and so non-blocking, already. */
const UV_EBUSY = -16;
const UV_EEXIST = -17;
/** No socket can be there. */
const NOWHERE = '/dev/null/async-tracer';

/**
 * Has libuv make it non-blocking without taking it: before it refuses a handle that has a descriptor already
 * (uv_pipe_open of libuv 1.46 to 1.52). A handle of its own would close the descriptor when its thread ends, under a
 * program that goes on.
 */
function unblock(fd: number): void {
  if (!isBlocking(fd)) {
    return;
  }
  const socket = connect(NOWHERE);
  try {
    socket.on('error', () => {});
    const answer = (socket as unknown as { _handle: Handle | null })._handle?.open?.(fd);
    if (answer !== UV_EBUSY && answer !== UV_EEXIST) {
      const why = socket.errored === null ? '' : `: ${socket.errored.message}`;
      throw new Error(`it blocks its writer, and cannot be kept from it here${why}`);
    }
  } finally {
    socket.destroy();
  }
}
