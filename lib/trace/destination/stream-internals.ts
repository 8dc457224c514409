/** What Node keeps inside a stream, as far as it shows how much has been written and allows to write without the event loop. */
import fs from 'node:fs';
import type { Writable } from 'node:stream';
import { uncurryThis } from '../runtime/intrinsics';

const { writeSync, WriteStream } = fs;
const { write: writeOfFile } = WriteStream.prototype;
// Taken at load: a write runs inside of hooks.
const subarray = uncurryThis(Buffer.prototype.subarray);

interface Internals {
  fd?: unknown;
  pos?: unknown;
  write?: unknown;
  bytesWritten?: number;
  _handle?: { fd?: unknown; writeQueueSize?: unknown } | null;
  _writableState?: { writelen?: unknown };
  /** Of a SonicBoom. */
  flushSync?: unknown;
}

function internalsOf(stream: Writable): Internals {
  return stream as unknown as Internals;
}

/** Whether it is a file stream whose `write` is Node's and which appends. */
function isFile(stream: Writable): boolean {
  const { write, pos } = internalsOf(stream);
  return stream instanceof WriteStream && write === writeOfFile && pos === undefined;
}

/** Whether it is a file stream that is not open yet. */
export function isOpeningFile(stream: Writable): boolean {
  return isFile(stream) && typeof internalsOf(stream).fd !== 'number';
}

/** Whether it is a file stream that has nothing queued and no write in progress. */
export function isIdleFile(stream: Writable): boolean {
  return isFile(stream) && typeof internalsOf(stream).fd === 'number' && stream.writableLength === 0;
}

/** Writes to the descriptor of an idle file stream. Returns what was not written. */
export function writeDirectly(stream: Writable, lines: Buffer): Buffer {
  const internals = internalsOf(stream);
  try {
    const written = writeSync(internals.fd as number, lines);
    internals.bytesWritten = (internals.bytesWritten ?? 0) + written;
    return subarray(lines, written);
  } catch {
    // The stream's own write fails in the same way, and reports that as the program expects.
    return lines;
  }
}

/** The descriptor of a file, socket or pipe; undefined where there is none. */
export function descriptorOf(stream: Writable): number | undefined {
  const { fd, _handle } = internalsOf(stream);
  const descriptor = fd ?? _handle?.fd;
  return typeof descriptor === 'number' && descriptor >= 0 ? descriptor : undefined;
}

/**
 * The part of `queued`, which is all that the stream has queued, that the operating system has not taken yet; undefined
 * where that is unknown.
 */
export function unwrittenPart(stream: Writable, queued: Buffer): Buffer | undefined {
  const { _handle, _writableState } = internalsOf(stream);
  const inFlight = _writableState?.writelen;
  const left = _handle?.writeQueueSize;
  if (typeof inFlight !== 'number' || typeof left !== 'number' || left > inFlight) {
    return undefined;
  }
  return subarray(queued, inFlight - left);
}

/** The synchronous flush of a SonicBoom; undefined for any other stream. */
export function flushSyncOf(stream: Writable): (() => void) | undefined {
  const { flushSync } = internalsOf(stream);
  return typeof flushSync === 'function' ? () => flushSync.call(stream) : undefined;
}
