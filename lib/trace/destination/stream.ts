/**
 * The program's own stream. It gets copies of whole chunks through its `write`, like from anybody else, so that what
 * the program writes to it keeps its place. What is not confirmed yet counts as held.
 *
 * At exit a stream cannot be waited for. Where there is a descriptor behind it and nothing but our lines is waiting,
 * they are written there directly: see `flushSync`.
 */
import fs from 'node:fs';
import type { Writable } from 'node:stream';
import { type Destination, DROPPED, type Observer, type Outcome, TAKEN } from './destination';
import { arrival, persist } from './patience';

const { writeSync, WriteStream } = fs;
const bufferFrom = Buffer.from;

interface Pending {
  lines: Buffer;
}

/** What Node keeps inside of a stream, as far as it helps to tell how much of it has been written. */
interface Internals {
  fd?: unknown;
  pos?: unknown;
  write?: unknown;
  _handle?: { fd?: unknown; writeQueueSize?: unknown } | null;
  _writableState?: { writelen?: unknown };
}

export function createStreamDestination(
  stream: Writable,
  maxBuffer: number,
  observer: Observer,
  asOwn: <T>(work: () => T) => T,
): Destination {
  const pending = new Set<Pending>();
  let heldBytes = 0;
  let dead = false;
  /** The error that our own write met. */
  let ours: unknown;
  // A stream that does not count what it holds (an older kind, a SonicBoom) may not call back either.
  const counts = typeof stream.writableLength === 'number';

  function settle(entry: Pending, error: unknown): void {
    if (!pending.delete(entry)) {
      return;
    }
    heldBytes -= entry.lines.length;
    if (error) {
      ours ??= error;
      observer.onLost(entry.lines);
      die(error);
    }
  }

  function die(error: unknown): void {
    if (!dead) {
      dead = true;
      observer.onError(error, true);
    }
  }

  function onError(error: unknown): void {
    die(error);
    // An error that our write did not cause, and that nobody else listens for, ends the program: as it does bare.
    if (error !== ours && stream.listenerCount('error') === 1) {
      throw error;
    }
  }

  function onClose(): void {
    die(new Error('the stream was closed'));
    abandon();
  }

  function abandon(): void {
    for (const entry of pending) {
      observer.onLost(entry.lines);
    }
    pending.clear();
    heldBytes = 0;
  }

  stream.on('error', onError);
  stream.on('close', onClose);

  /**
   * A file stream with nothing in flight: its descriptor is written directly, in the same order as its `write` would.
   * Otherwise a write of a thread of the pool would be under way at exit, and nobody could say how far it came.
   */
  function isIdleFile(): boolean {
    const { fd, pos, write } = stream as unknown as Internals;
    return (
      stream instanceof WriteStream &&
      write === WriteStream.prototype.write &&
      typeof fd === 'number' &&
      pos === undefined &&
      stream.writableLength === 0
    );
  }

  function writeDirectly(lines: Buffer): Buffer {
    try {
      return lines.subarray(writeSync((stream as unknown as { fd: number }).fd, lines));
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
    if (heldBytes + lines.length > maxBuffer) {
      return DROPPED;
    }
    const rest = isIdleFile() ? writeDirectly(lines) : lines;
    if (rest.length === 0) {
      return TAKEN;
    }
    const entry = { lines: bufferFrom(rest) };
    if (counts) {
      pending.add(entry);
      heldBytes += rest.length;
    }
    try {
      if (counts) {
        stream.write(entry.lines, (error) => settle(entry, error));
      } else {
        stream.write(entry.lines);
      }
    } catch (error) {
      pending.delete(entry);
      heldBytes -= counts ? rest.length : 0;
      die(error);
      return DROPPED;
    }
    return TAKEN;
  }

  /** What of our lines is not written yet, where that can be told; undefined where the program's own wait among them. */
  function unwritten(internals: Internals): Buffer | undefined {
    const queue = [...pending].map((entry) => entry.lines);
    if (stream.writableLength !== heldBytes) {
      return undefined;
    }
    const inFlight = internals._writableState?.writelen;
    const left = internals._handle?.writeQueueSize;
    if (typeof inFlight !== 'number' || typeof left !== 'number' || left > inFlight) {
      return undefined;
    }
    return Buffer.concat(queue).subarray(inFlight - left);
  }

  return {
    interactive: false,
    write,
    flush: () => arrival(() => heldBytes, asOwn),
    flushSync(waitMs) {
      const internals = stream as unknown as Internals;
      const fd = internals.fd ?? internals._handle?.fd;
      const bytes = pending.size === 0 || dead ? undefined : unwritten(internals);
      if (typeof fd !== 'number' || fd < 0 || bytes === undefined) {
        return;
      }
      let position = 0;
      const arrived = persist(() => {
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
      if (arrived && !dead) {
        pending.clear();
        heldBytes = 0;
      }
    },
    close() {
      abandon();
      dead = true;
      stream.removeListener('error', onError);
      stream.removeListener('close', onClose);
      return Promise.resolve();
    },
  };
}
