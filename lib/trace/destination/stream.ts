/**
 * The program's own stream. It gets copies of whole chunks through its `write`, so that they stay in order with what the
 * program writes to it. A chunk is pending until the stream confirms it.
 *
 * At exit nothing can wait for a stream. If it has a descriptor and only chunks of the tracer are queued, they are written
 * to the descriptor directly: see `flushSync`.
 */
import { errorMonitor } from 'node:events';
import fs from 'node:fs';
import type { Writable } from 'node:stream';
import { uncurryThis } from '../runtime/intrinsics';
import { type Destination, DROPPED, type Observer, type Outcome, TAKEN } from './destination';
import {
  descriptorOf,
  flushSyncOf,
  isIdleFile,
  isOpeningFile,
  unwrittenPart,
  writeDirectly,
} from './stream-internals';
import { retryUntil, whenDrained } from './wait';

// Taken at load: a write runs inside of hooks.
const { writeSync } = fs;
const { from: bufferFrom, concat } = Buffer;
const subarray = uncurryThis(Buffer.prototype.subarray);
const add = uncurryThis(Set.prototype.add as (this: Set<Pending>, entry: Pending) => unknown);
const remove = uncurryThis(Set.prototype.delete as (this: Set<Pending>, entry: Pending) => boolean);

interface Pending {
  lines: Buffer;
  /** Nothing of the program was queued before it. */
  isFirst: boolean;
}

export function createStreamDestination(
  stream: Writable,
  maxBuffer: number,
  observer: Observer,
  runAsOwnTagged: <T>(work: () => T) => T,
): Destination {
  const pending = new Set<Pending>();
  let pendingBytes = 0;
  /** Failed or closed. */
  let isDead = false;
  /** The error of a write of the tracer. */
  let writeError: unknown;
  /** A stream that does not count what it has queued (an old kind, a SonicBoom) may not call back, but emits 'drain'. */
  const counts = typeof stream.writableLength === 'number';
  let isFull = false;
  /**
   * Chunks for a file stream that is not open yet. In the stream's own queue they would begin with a write of a pool thread,
   * and under load each further one would wait for another. When the stream is open they are written directly.
   */
  let opening: Pending[] | undefined = isOpeningFile(stream) ? [] : undefined;
  /** It emitted 'drop' during a write: it did not take the chunk (SonicBoom, over its maxLength). */
  let isRefused = false;

  function settle(entry: Pending, error: unknown): void {
    if (!remove(pending, entry)) {
      return;
    }
    pendingBytes -= entry.lines.length;
    if (error) {
      if (entry.isFirst) {
        writeError ??= error;
      }
      fail(error);
      observer.onLost(entry.lines);
    }
  }

  function fail(error: unknown): void {
    if (!isDead) {
      isDead = true;
      observer.onError(error, true);
    }
  }

  /**
   * Observes errors without handling them: an error without a listener ends the program, as it does without the tracer.
   * The exception is an error that a write of the tracer caused: a listener is added that handles it once.
   */
  function onError(error: unknown): void {
    fail(error);
    if (error === writeError && stream.listenerCount('error') === 0) {
      stream.once('error', () => {});
    }
  }

  function onClose(): void {
    fail(new Error('the stream was closed'));
    abandon();
  }

  function onOpen(): void {
    const waiting = opening ?? [];
    opening = undefined;
    for (const entry of waiting) {
      if (remove(pending, entry)) {
        pendingBytes -= entry.lines.length;
        if (write(entry.lines) === DROPPED) {
          observer.onLost(entry.lines);
        }
      }
    }
  }

  function onDrain(): void {
    isFull = false;
    pendingBytes = 0;
  }

  function onDrop(): void {
    isRefused = true;
  }

  function abandon(): void {
    const lost = [...pending];
    opening = undefined;
    pending.clear();
    pendingBytes = 0;
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

  function write(lines: Buffer): Outcome {
    if (isDead || stream.destroyed || stream.writableEnded) {
      fail(new Error(stream.writableEnded ? 'the stream was ended' : 'the stream was destroyed'));
      return DROPPED;
    }
    if (pendingBytes + lines.length > maxBuffer && pendingBytes > 0) {
      return DROPPED;
    }
    if (opening !== undefined) {
      const entry = { lines: bufferFrom(lines), isFirst: false };
      opening[opening.length] = entry;
      add(pending, entry);
      pendingBytes += lines.length;
      return TAKEN;
    }
    const rest = isIdleFile(stream) ? writeDirectly(stream, lines) : lines;
    if (rest.length === 0) {
      return TAKEN;
    }
    const entry = { lines: bufferFrom(rest), isFirst: counts && stream.writableLength === pendingBytes };
    return counts ? writeCounted(entry) : writeUncounted(entry.lines);
  }

  function writeCounted(entry: Pending): Outcome {
    add(pending, entry);
    pendingBytes += entry.lines.length;
    try {
      stream.write(entry.lines, (error) => settle(entry, error));
    } catch (error) {
      settle(entry, error ?? new Error('the stream threw'));
    }
    return TAKEN;
  }

  function writeUncounted(lines: Buffer): Outcome {
    isRefused = false;
    try {
      isFull = stream.write(lines) === false;
    } catch (error) {
      fail(error);
      return DROPPED;
    }
    // How much it has queued is known only when it has nothing queued; until then everything counts.
    pendingBytes = isFull ? pendingBytes + lines.length : 0;
    return isRefused ? DROPPED : TAKEN;
  }

  /** Pending bytes that are not written yet; undefined where that is unknown, or chunks of the program are queued too. */
  function unwritten(): Buffer | undefined {
    // The callbacks of what was written at once would come with the next tick, and there is none.
    const waiting = [...pending];
    let waitingBytes = pendingBytes;
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
    return unwrittenPart(stream, bytes);
  }

  function flushStream(flush: () => void): void {
    try {
      flush();
      pendingBytes = 0;
    } catch (error) {
      fail(error);
    }
  }

  /** Writes the pending bytes. The stream still has them queued, so the event loop must never turn again. */
  function writePending(waitMs: number): boolean {
    const fd = descriptorOf(stream);
    const bytes = isDead ? undefined : unwritten();
    if (bytes === undefined) {
      return true;
    }
    pending.clear();
    pendingBytes = 0;
    if (bytes.length === 0 || fd === undefined) {
      return true;
    }
    let position = 0;
    retryUntil(() => {
      try {
        position += writeSync(fd, bytes, position);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') {
          fail(error);
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
    queues: true,
    isIdle: () => pendingBytes === 0,
    write,
    flush: () => whenDrained(() => pendingBytes, runAsOwnTagged),
    flushSync(waitMs, exiting) {
      const flush = flushSyncOf(stream);
      if (flush !== undefined) {
        if (!isDead) {
          flushStream(flush);
        }
      } else if (exiting && opening !== undefined && pending.size > 0) {
        observer.onError(new Error('the stream was not open yet'), false);
        abandon();
      } else if (exiting && pending.size > 0) {
        return writePending(waitMs);
      }
      return pendingBytes === 0;
    },
    close() {
      abandon();
      isDead = true;
      if (writeError === undefined) {
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
