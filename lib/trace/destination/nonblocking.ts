/** Descriptors that can be written without blocking, while the program's own descriptors stay as they are. */
import fs from 'node:fs';
import { connect } from 'node:net';
import { isatty } from 'node:tty';

const { openSync, constants, fstatSync, readFileSync } = fs;

const STDERR = 2;

export interface Opened {
  fd: number;
  /** Opened here, so it must be closed here. */
  isOpenedHere: boolean;
  interactive: boolean;
  /** A pipe or socket that others are likely to write to. */
  isShared: boolean;
}

/** Opens a FIFO or device by path. Without O_NONBLOCK, open(2) of a FIFO that nobody reads would hang. */
export function openPath(path: string): Opened {
  const fd = openSync(path, constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
  return { fd, isOpenedHere: true, interactive: isatty(fd), isShared: fstatSync(fd).isFIFO() };
}

/**
 * A descriptor of the program, made ready to be written without blocking. O_NONBLOCK is shared with other descriptors
 * (dup, fork), so it is not changed: a pipe or terminal is opened a second time through /proc, which Linux has.
 *
 * A socket cannot be opened a second time, nor can a pipe of another user. Such a descriptor is made non-blocking, as Node
 * does when a program uses process.stdout: otherwise a reader that stops would block the program for ever.
 *
 * @throws where it blocks and cannot be made non-blocking
 */
export function openNonBlocking(fd: number): Opened {
  const stat = fstatSync(fd);
  const interactive = isatty(fd);
  const mayStop = stat.isFIFO() || stat.isSocket();
  const isShared = mayStop && fd <= STDERR;
  if (stat.isFIFO() || interactive) {
    try {
      const reopened = openSync(
        `/proc/self/fd/${fd}`,
        constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY | constants.O_APPEND,
      );
      return { fd: reopened, isOpenedHere: true, interactive, isShared };
    } catch {
      // No /proc, or no permission.
    }
  }
  if (mayStop) {
    unblock(fd);
  }
  return { fd, isOpenedHere: false, interactive, isShared };
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

/** libuv's errors for a second descriptor of a handle, and for a descriptor that its loop has (and is non-blocking) already. */
const UV_EBUSY = -16;
const UV_EEXIST = -17;
/** A path at which no socket can be. */
const NOWHERE = '/dev/null/async-tracer';

/**
 * Makes libuv set O_NONBLOCK and then refuse the descriptor: uv_pipe_open does so for a handle that has a descriptor
 * already (libuv 1.46 to 1.52). If a handle owned the descriptor, it would close it at the end of its thread, while the
 * program still uses it.
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
      throw new Error(`it blocks its writer and cannot be made non-blocking${why}`);
    }
  } finally {
    socket.destroy();
  }
}
