/**
 * The program's own stream. It gets copies of whole chunks through its `write`, like from anybody else, so that what
 * the program writes to it keeps its place. What is not confirmed yet counts as held.
 *
 * At exit a stream cannot be waited for. Where there is a descriptor behind it and nothing but our lines is waiting,
 * they are written there directly: see `flushSync`.
 */
import { errorMonitor } from 'node:events';
import fs from 'node:fs';
import type { Writable } from 'node:stream';
import { uncurryThis } from '../runtime/intrinsics';
import { type Destination, DROPPED, type Observer, type Outcome, TAKEN } from './destination';
import { retryUntil, whenDrained } from './wait';

const { writeSync, WriteStream } = fs;
const { write: writeOfFile } = WriteStream.prototype;
// Taken at load: all that is on the way of a write runs inside of hooks.
const { from: bufferFrom, concat } = Buffer;
const subarray = uncurryThis(Buffer.prototype.subarray);
const add = uncurryThis(Set.prototype.add as (this: Set<Pending>, entry: Pending) => unknown);
const remove = uncurryThis(Set.prototype.delete as (this: Set<Pending>, entry: Pending) => boolean);

interface Pending {
  lines: Buffer;
  /** Nothing of the program's was waiting before it. */
  first: boolean;
}

/** What Node keeps inside of a stream, as far as it helps to tell how much of it has been written. */
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

export function createStreamDestination(
  stream: Writable,
  maxBuffer: number,
  observer: Observer,
  runAsOwnTagged: <T>(work: () => T) => T,
): Destination {
  const internals = stream as unknown as Internals;
  const pending = new Set<Pending>();
  let heldBytes = 0;
  let dead = false;
  /** The error that our own write met. */
  let ours: unknown;
  /** A stream that does not count what it holds (an older kind, a SonicBoom) may not call back, but has 'drain'. */
  const counts = typeof stream.writableLength === 'number';
  let full = false;
  /**
   * A file stream that is not open yet. Its own queue would begin with a write of a thread of the pool, and under load
   * each further one would wait behind another: what comes until then is kept here, for `isIdleFile`.
   */
  let opening: Pending[] | undefined = isFile() && typeof internals.fd !== 'number' ? [] : undefined;
  /** It said while it took a chunk that it did not (SonicBoom, over its maxLength). */
  let refused = false;

  function settle(entry: Pending, error: unknown): void {
    if (!remove(pending, entry)) {
      return;
    }
    heldBytes -= entry.lines.length;
    if (error) {
      if (entry.first) {
        ours ??= error;
      }
      die(error);
      observer.onLost(entry.lines);
    }
  }

  function die(error: unknown): void {
    if (!dead) {
      dead = true;
      observer.onError(error, true);
    }
  }

  /**
   * Sees errors without handling them: one that nobody listens for ends the program, as it does bare. Except the one
   * that our own write caused: it is handled, by a listener that stands for this one time.
   */
  function onError(error: unknown): void {
    die(error);
    if (error === ours && stream.listenerCount('error') === 0) {
      stream.once('error', () => {});
    }
  }

  function onClose(): void {
    die(new Error('the stream was closed'));
    abandon();
  }

  function onOpen(): void {
    const waiting = opening ?? [];
    opening = undefined;
    for (const entry of waiting) {
      if (remove(pending, entry)) {
        heldBytes -= entry.lines.length;
        if (write(entry.lines) === DROPPED) {
          observer.onLost(entry.lines);
        }
      }
    }
  }

  function onDrain(): void {
    full = false;
    heldBytes = 0;
  }

  function onDrop(): void {
    refused = true;
  }

  function abandon(): void {
    const lost = [...pending];
    opening = undefined;
    pending.clear();
    heldBytes = 0;
    for (const entry of lost) {
      observer.onLost(entry.lines);
    }
  }

  stream.on(errorMonitor, onError);
  stream.on('close', onClose);
  if (opening !== undefined) {
    stream.once('open', onOpen);
  }
  if (!counts) {
    stream.on('drain', onDrain);
    stream.on('drop', onDrop);
  }

  /**
   * A file stream with nothing in flight: its descriptor is written directly, in the same order as its `write` would.
   * Otherwise a write of a thread of the pool would be under way at exit, and nobody could say how far it came.
   */
  function isIdleFile(): boolean {
    return isFile() && typeof internals.fd === 'number' && stream.writableLength === 0;
  }

  function isFile(): boolean {
    return stream instanceof WriteStream && internals.write === writeOfFile && internals.pos === undefined;
  }

  /** Returns what could not be written. */
  function writeDirectly(lines: Buffer): Buffer {
    try {
      const written = writeSync(internals.fd as number, lines);
      internals.bytesWritten = (internals.bytesWritten ?? 0) + written;
      return subarray(lines, written);
    } catch {
      // The stream's own write meets the same fault, and tells of it as the program expects.
      return lines;
    }
  }

  function write(lines: Buffer): Outcome {
    if (dead || stream.destroyed || stream.writableEnded) {
      die(new Error(stream.writableEnded ? 'the stream was ended' : 'the stream was destroyed'));
      return DROPPED;
    }
    if (heldBytes + lines.length > maxBuffer && heldBytes > 0) {
      return DROPPED;
    }
    if (opening !== undefined) {
      const entry = { lines: bufferFrom(lines), first: false };
      opening[opening.length] = entry;
      add(pending, entry);
      heldBytes += lines.length;
      return TAKEN;
    }
    const rest = isIdleFile() ? writeDirectly(lines) : lines;
    if (rest.length === 0) {
      return TAKEN;
    }
    const entry = { lines: bufferFrom(rest), first: counts && stream.writableLength === heldBytes };
    return counts ? writeCounted(entry) : writeUncounted(entry.lines);
  }

  function writeCounted(entry: Pending): Outcome {
    add(pending, entry);
    heldBytes += entry.lines.length;
    try {
      stream.write(entry.lines, (error) => settle(entry, error));
    } catch (error) {
      settle(entry, error ?? new Error('the stream threw'));
    }
    return TAKEN;
  }

  function writeUncounted(lines: Buffer): Outcome {
    refused = false;
    try {
      full = stream.write(lines) === false;
    } catch (error) {
      die(error);
      return DROPPED;
    }
    // What it holds is known only when it says that it holds nothing; until then all counts.
    heldBytes = full ? heldBytes + lines.length : 0;
    return refused ? DROPPED : TAKEN;
  }

  /** What of our lines is not written yet, where that can be told; undefined where the program's own wait among them. */
  function unwritten(): Buffer | undefined {
    // The callbacks of what was written at once come with the next tick, and there is none.
    const waiting = [...pending];
    let waitingBytes = heldBytes;
    while (waitingBytes > stream.writableLength) {
      waitingBytes -= (waiting.shift() as Pending).lines.length;
    }
    if (waitingBytes !== stream.writableLength) {
      return undefined;
    }
    const bytes = concat(waiting.map(({ lines }) => lines));
    if (bytes.length === 0) {
      return bytes;
    }
    const inFlight = internals._writableState?.writelen;
    const left = internals._handle?.writeQueueSize;
    if (typeof inFlight !== 'number' || typeof left !== 'number' || left > inFlight) {
      return undefined;
    }
    return subarray(bytes, inFlight - left);
  }

  function flushItself(): void {
    try {
      (internals.flushSync as () => void).call(stream);
      heldBytes = 0;
    } catch (error) {
      die(error);
    }
  }

  /** The stream still has the same bytes waiting, so this is for when the event loop will never turn again. */
  function writeWaiting(waitMs: number): boolean {
    const fd = internals.fd ?? internals._handle?.fd;
    const bytes = dead ? undefined : unwritten();
    if (bytes === undefined) {
      return true;
    }
    pending.clear();
    heldBytes = 0;
    if (bytes.length === 0 || typeof fd !== 'number' || fd < 0) {
      return true;
    }
    let position = 0;
    retryUntil(() => {
      try {
        position += writeSync(fd, bytes, position);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') {
          die(error);
          return 'done';
        }
        return 'stuck';
      }
      return position === bytes.length ? 'done' : 'moved';
    }, waitMs);
    if (position < bytes.length) {
      observer.onLost(subarray(bytes, position));
    }
    return position === bytes.length;
  }

  return {
    interactive: (stream as { isTTY?: boolean }).isTTY === true,
    holds: true,
    isIdle: () => heldBytes === 0,
    write,
    flush: () => whenDrained(() => heldBytes, runAsOwnTagged),
    flushSync(waitMs, exiting) {
      if (typeof internals.flushSync === 'function') {
        if (!dead) {
          flushItself();
        }
      } else if (exiting && opening !== undefined && pending.size > 0) {
        observer.onError(new Error('the stream was not open yet'), false);
        abandon();
      } else if (exiting && pending.size > 0) {
        return writeWaiting(waitMs);
      }
      return heldBytes === 0;
    },
    close() {
      abandon();
      dead = true;
      if (ours === undefined) {
        stream.removeListener(errorMonitor, onError);
      }
      stream.removeListener('open', onOpen);
      stream.removeListener('close', onClose);
      stream.removeListener('drain', onDrain);
      stream.removeListener('drop', onDrop);
      return Promise.resolve();
    },
  };
}
