/** One attempt to write to a non-blocking descriptor. */
import fs from 'node:fs';
import { uncurryThis } from '../runtime/intrinsics';

// Taken at load: the program may put mocks in their place, and this runs inside of hooks.
const { writeSync } = fs;
const indexOf = uncurryThis(Buffer.prototype.indexOf) as (
  bytes: Buffer,
  what: number,
  from: number,
) => number;
const lastIndexOf = uncurryThis(Buffer.prototype.lastIndexOf) as typeof indexOf;
const NEWLINE = 10;

/** Bytes that a pipe takes whole or not at all on Linux (pipe(7)); so does a socket of the same machine, in one buffer. */
const PIPE_BUF = 4096;

/** The descriptor accepts no more bytes at the moment. */
function isBusy(code: string): boolean {
  return code === 'EAGAIN' || code === 'EBUSY' || code === 'EINTR';
}

/** A disk or device that is full may have room again later. Any other error of a descriptor is permanent. */
function isFull(code: string): boolean {
  return code === 'ENOSPC' || code === 'EDQUOT' || code === 'EFBIG';
}

/**
 * Where the next write ends, so that lines of other processes come between lines: a write of at most PIPE_BUF bytes is
 * taken whole or not at all; only a single line may be longer. The many small writes cost 80 to 130 ns an event beside 310
 * to 390 on a machine with other work (Node 20), so they are made only where others are likely to write.
 */
function endOfWrite(bytes: Buffer, from: number): number {
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

/** How a write reports errors. */
export interface WriteObserver {
  /** The disk or device is full. */
  onFull(error: unknown): void;
  /** The descriptor cannot be used any more. */
  onFailure(error: unknown): void;
}

/**
 * Writes as much as the descriptor takes. Returns the number of bytes, or -1 where the descriptor cannot be used any more.
 * If that shows after the first bytes, the next call reports it, so that only the rest is lost.
 *
 * @param isShared others write to the same pipe
 */
export function writeAvailable(
  fd: number,
  bytes: Buffer,
  isShared: boolean,
  observer: WriteObserver,
): number {
  let written = 0;
  try {
    while (written < bytes.length) {
      const end = isShared ? endOfWrite(bytes, written) : bytes.length;
      written += writeSync(fd, bytes, written, end - written);
    }
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (isFull(code)) {
      observer.onFull(error);
    } else if (!isBusy(code) && written === 0) {
      observer.onFailure(error);
      return -1;
    }
  }
  return written;
}
