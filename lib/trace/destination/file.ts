/**
 * A file, by path or by descriptor, written synchronously by SonicBoom. One write a chunk costs what raw fs.writeSync
 * costs, and what was written stays with the operating system whatever happens to the process.
 *
 * A write that fails (a full disk) leaves the unwritten rest of the chunk in SonicBoom. The rest may begin in the middle
 * of a line. It is retried before anything else is written, and chunks are dropped until then: at most one chunk waits.
 */
import fs from 'node:fs';
import path from 'node:path';
import { identify, identifyPath } from '../runtime/file-identity';
import { uncurryThis } from '../runtime/intrinsics';
import { type Destination, DROPPED, type Observer, type Outcome, TAKEN } from './destination';
import { SonicBoom } from './sonic-boom';

export interface FileOptions {
  append: boolean;
  mkdir: boolean;
  mode: number;
}

const { closeSync, fstatSync, ftruncateSync } = fs;
const { resolve: resolvePath } = path;
const bufferFrom = Buffer.from;
const subarray = uncurryThis(Buffer.prototype.subarray);
const lastIndexOf = uncurryThis(Buffer.prototype.lastIndexOf as (this: Buffer, what: number) => number);
const NEWLINE = 10;

export function createFileDestination(
  file: string | number,
  options: FileOptions,
  observer: Observer,
): Destination {
  // Absolute, so that reopen() finds it after process.chdir.
  let target = typeof file === 'string' ? resolvePath(file) : file;
  let sonic = open(target, options.append);
  let identity = identify(descriptor());
  let failure: unknown;
  /** The chunk of which SonicBoom has not written the rest. */
  let unwritten: Buffer | undefined;
  let hasFailed = false;

  function open(where: string | number, append: boolean): SonicBoom {
    const opened = withOriginalFs(
      () =>
        new SonicBoom({
          // Nothing that the program may have put on Object.prototype.
          ...({ __proto__: null } as object),
          // Both for a descriptor: SonicBoom takes a lone `fd` of 0 for none, and 0 is what open gives after it was closed.
          ...(typeof where === 'number' ? { fd: where, dest: where } : { dest: where }),
          append,
          mkdir: options.mkdir,
          mode: options.mode,
          sync: true,
          contentMode: 'buffer',
          minLength: 0,
          maxLength: 0,
          // One write a chunk: the default would split chunks.
          maxWrite: 2 ** 31 - 1,
          periodicFlush: 0,
          fsync: false,
          // A file never gives EAGAIN, and SonicBoom would wait for it in steps of 100 ms.
          retryEAGAIN: () => false,
        }),
    );
    opened.on('error', (error) => {
      failure = error;
    });
    return opened;
  }

  function descriptor(): number {
    return (sonic as unknown as { fd: number }).fd;
  }

  /** Bytes that SonicBoom has not written. Not part of its documented API, so a test checks it. */
  function unwrittenBytes(): number {
    return (sonic as unknown as { _len: number })._len;
  }

  function fail(error: unknown): void {
    hasFailed = true;
    observer.onError(error, true);
    abandon();
  }

  /** Whether nobody has closed the descriptor, which may be another file by now: nothing may be written there. */
  function isSameFile(): boolean {
    const found = identify(descriptor());
    if (found === identity) {
      return true;
    }
    fail(
      new Error(
        `descriptor ${descriptor()} was closed${found === undefined ? '' : ' and now stands for another file'}`,
      ),
    );
    return false;
  }

  function write(lines: Buffer): Outcome {
    if (hasFailed || !isSameFile()) {
      return DROPPED;
    }
    if (unwritten !== undefined && !retry()) {
      return DROPPED;
    }
    failure = undefined;
    withOriginalFs(() => sonic.write(lines as never));
    if (failure === undefined) {
      return TAKEN;
    }
    const error = failure;
    keepRest(lines);
    observer.onError(error, false);
    return TAKEN;
  }

  /** SonicBoom has the caller's bytes. A new SonicBoom on the same descriptor gets a copy of the rest. */
  function keepRest(lines: Buffer): void {
    const begun = lines.length - unwrittenBytes();
    unwritten = bufferFrom(lines);
    sonic = open(descriptor(), true);
    const rest = subarray(unwritten, begun);
    withOriginalFs(() => sonic.write(rest as never));
    if (unwrittenBytes() === 0) {
      unwritten = undefined;
    }
  }

  /** Writes the rest of what failed. SonicBoom's flushSync will not do: if it fails too, it loses its position. */
  function retry(): boolean {
    failure = undefined;
    withOriginalFs(() => sonic.flush());
    if (failure !== undefined) {
      return false;
    }
    unwritten = undefined;
    return true;
  }

  function writeRest(): boolean {
    return unwritten === undefined || (!hasFailed && isSameFile() && retry());
  }

  /** Drops the rest, and removes the part of a line that it left at the end of the file. */
  function abandon(): void {
    if (unwritten === undefined) {
      return;
    }
    const begun = unwritten.length - unwrittenBytes();
    const rest = subarray(unwritten, begun);
    const torn = begun - (lastIndexOf(subarray(unwritten, 0, begun), NEWLINE) + 1);
    unwritten = undefined;
    observer.onLost(rest);
    if (torn > 0 && !hasFailed && typeof target === 'string') {
      try {
        ftruncateSync(descriptor(), fstatSync(descriptor()).size - torn);
      } catch {
        // The file ends with part of a line, which every reader accepts.
      }
    }
  }

  /**
   * Closes what was opened here, unless the descriptor was closed and is another file by now. SonicBoom's close will not
   * do: it takes several asynchronous steps, which would be taken for the program's if tracing is enabled in between.
   */
  function release(old: SonicBoom): void {
    const fd = (old as unknown as { fd: number }).fd;
    if (typeof target === 'string' && identify(fd) === identity) {
      try {
        closeSync(fd);
      } catch {
        // The descriptor is closed even where close(2) fails. A write that fails this late (NFS) cannot be repaired here.
      }
    }
  }

  return {
    interactive: false,
    queues: false,
    isIdle: () => unwritten === undefined,
    write,
    flush: () => Promise.resolve(writeRest()),
    flushSync(_waitMs, exiting) {
      if (writeRest()) {
        return true;
      }
      if (exiting) {
        // There is no later retry. Records of later exit listeners must not follow half a line.
        abandon();
        hasFailed = true;
      }
      return false;
    },
    close() {
      writeRest();
      abandon();
      release(sonic);
      return Promise.resolve();
    },
    reopen(where) {
      const next = where === undefined ? target : resolvePath(where);
      // Where nobody has renamed the file, it is the log itself: opening it with 'w' would empty it.
      const isSame = typeof next === 'string' && identifyPath(next) === identity;
      const opened = open(next, options.append || isSame);
      writeRest();
      abandon();
      // SonicBoom's own reopen will not do: it closes the old descriptor, even if that is another file by now.
      release(sonic);
      target = next;
      sonic = opened;
      identity = identify(descriptor());
      hasFailed = false;
    },
  };
}

// SonicBoom writes through the fs module, in which a program may have put mocks since.
const NAMES = ['writeSync', 'openSync', 'mkdirSync'] as const;
const { defineProperty } = Reflect;
const { getOwnPropertyDescriptor } = Object;
const current = fs as unknown as Record<string, unknown>;
const originals = NAMES.map((name) => current[name]);

/** Runs `work` with the functions of node:fs as they were at load, where the program has replaced them. */
function withOriginalFs<T>(work: () => T): T {
  let isReplaced = false;
  for (let i = 0; i < NAMES.length; i++) {
    isReplaced ||= current[NAMES[i]] !== originals[i];
  }
  if (!isReplaced) {
    return work();
  }
  const found: (PropertyDescriptor | undefined)[] = [];
  for (let i = 0; i < NAMES.length; i++) {
    found[i] = getOwnPropertyDescriptor(current, NAMES[i]);
    defineProperty(current, NAMES[i], {
      value: originals[i],
      configurable: true,
      writable: true,
      enumerable: true,
    });
  }
  try {
    return work();
  } finally {
    for (let i = 0; i < NAMES.length; i++) {
      const descriptor = found[i];
      if (descriptor !== undefined) {
        defineProperty(current, NAMES[i], descriptor);
      }
    }
  }
}
