/**
 * A file, by path or by descriptor: SonicBoom, synchronously and with bytes as they are. One write a chunk equals
 * raw fs.writeSync, and what was written is the operating system's whatever becomes of the process.
 *
 * A write that fails (a full disk) leaves a rest with SonicBoom, which may begin in the middle of a line. It is
 * tried again before anything else is written, and until then chunks are dropped: at most one is ever held.
 */
import fs from 'node:fs';
import path from 'node:path';
import { uncurryThis } from '../runtime/intrinsics';
import { type Destination, DROPPED, type Observer, type Outcome, TAKEN } from './destination';
import { identify, identifyPath } from './file-identity';
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
  // Absolute, so that a reopening finds it wherever the program has gone (process.chdir).
  let target = typeof file === 'string' ? resolvePath(file) : file;
  let sonic = open(target, options.append);
  let identity = identify(descriptor());
  let failure: unknown;
  /** The chunk that SonicBoom holds a rest of. */
  let held: Buffer | undefined;
  let dead = false;

  function open(where: string | number, append: boolean): SonicBoom {
    const opened = untouched(
      () =>
        new SonicBoom({
          // Not what a program may have put on Object.prototype.
          ...({ __proto__: null } as object),
          // Both for a descriptor: SonicBoom takes a lone `fd` of 0, what the next open gives once it is closed, for none.
          ...(typeof where === 'number' ? { fd: where, dest: where } : { dest: where }),
          append,
          mkdir: options.mkdir,
          mode: options.mode,
          sync: true,
          contentMode: 'buffer',
          minLength: 0,
          maxLength: 0,
          // One write a chunk: the default would cut chunks up.
          maxWrite: 2 ** 31 - 1,
          periodicFlush: 0,
          fsync: false,
          // A file never says EAGAIN; what does must not be waited for in steps of 100 ms.
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

  /** Bytes that SonicBoom holds; not part of its documented face, so a test holds it. */
  function heldBytes(): number {
    return (sonic as unknown as { _len: number })._len;
  }

  function die(error: unknown): void {
    dead = true;
    observer.onError(error, true);
    abandon();
  }

  /** A descriptor that was closed behind our back may be another file by now: nothing of ours belongs there. */
  function isStillOurs(): boolean {
    const found = identify(descriptor());
    if (found === identity) {
      return true;
    }
    die(
      new Error(
        `descriptor ${descriptor()} was closed${found === undefined ? '' : ' and now stands for another file'}`,
      ),
    );
    return false;
  }

  function write(lines: Buffer): Outcome {
    if (dead || !isStillOurs()) {
      return DROPPED;
    }
    if (held !== undefined && !retry()) {
      return DROPPED;
    }
    failure = undefined;
    untouched(() => sonic.write(lines as never));
    if (failure === undefined) {
      return TAKEN;
    }
    const error = failure;
    hold(lines);
    observer.onError(error, false);
    return TAKEN;
  }

  /** The bytes that SonicBoom holds are the caller's: another one, on the same descriptor, is given a copy of the rest. */
  function hold(lines: Buffer): void {
    const begun = lines.length - heldBytes();
    held = bufferFrom(lines);
    sonic = open(descriptor(), true);
    const rest = subarray(held, begun);
    untouched(() => sonic.write(rest as never));
    if (heldBytes() === 0) {
      held = undefined;
    }
  }

  /** Writes the rest of what failed. Not with flushSync: where it fails too, it forgets how far it came. */
  function retry(): boolean {
    failure = undefined;
    untouched(() => sonic.flush());
    if (failure !== undefined) {
      return false;
    }
    held = undefined;
    return true;
  }

  function settle(): boolean {
    return held === undefined || (!dead && isStillOurs() && retry());
  }

  /** Gives up what is held, and takes the part of a line that it left at the end of the file back out. */
  function abandon(): void {
    if (held === undefined) {
      return;
    }
    const begun = held.length - heldBytes();
    const rest = subarray(held, begun);
    const torn = begun - (lastIndexOf(subarray(held, 0, begun), NEWLINE) + 1);
    held = undefined;
    observer.onLost(rest);
    if (torn > 0 && !dead && typeof target === 'string') {
      try {
        ftruncateSync(descriptor(), fstatSync(descriptor()).size - torn);
      } catch {
        // The file ends in part of a line, which every reader tolerates.
      }
    }
  }

  /**
   * Closes what was opened here, unless it is closed and another file's by now. Not by SonicBoom: what it starts for
   * that in several steps would be taken for the program's where tracing is switched on in between.
   */
  function release(old: SonicBoom): void {
    const fd = (old as unknown as { fd: number }).fd;
    if (typeof target === 'string' && identify(fd) === identity) {
      try {
        closeSync(fd);
      } catch {
        // It is closed whatever close(2) says: a late failure to write (NFS) cannot be mended here.
      }
    }
  }

  return {
    interactive: false,
    holds: false,
    isIdle: () => held === undefined,
    write,
    flush: () => Promise.resolve(settle()),
    flushSync(_waitMs, exiting) {
      if (settle()) {
        return true;
      }
      if (exiting) {
        // It will not be tried again. What exit listeners still make must not come behind half a line.
        abandon();
        dead = true;
      }
      return false;
    },
    close() {
      settle();
      abandon();
      release(sonic);
      return Promise.resolve();
    },
    reopen(where) {
      const next = where === undefined ? target : resolvePath(where);
      // Where nobody has renamed it, it is the log itself: to begin it anew would empty it.
      const isSame = typeof next === 'string' && identifyPath(next) === identity;
      const opened = open(next, options.append || isSame);
      settle();
      abandon();
      // Not SonicBoom's own reopen: it closes the old descriptor, whatever that stands for by now.
      release(sonic);
      target = next;
      sonic = opened;
      identity = identify(descriptor());
      dead = false;
    },
  };
}

// SonicBoom writes through the fs module, which a program may have replaced by a mock since.
const NAMES = ['writeSync', 'openSync', 'mkdirSync'] as const;
const { defineProperty } = Reflect;
const { getOwnPropertyDescriptor } = Object;
const live = fs as unknown as Record<string, unknown>;
const originals = NAMES.map((name) => live[name]);

/** Runs `work` with the functions of node:fs as they were at load, where the program has put others in their place. */
function untouched<T>(work: () => T): T {
  let touched = false;
  for (let i = 0; i < NAMES.length; i++) {
    touched ||= live[NAMES[i]] !== originals[i];
  }
  if (!touched) {
    return work();
  }
  const found: (PropertyDescriptor | undefined)[] = [];
  for (let i = 0; i < NAMES.length; i++) {
    found[i] = getOwnPropertyDescriptor(live, NAMES[i]);
    defineProperty(live, NAMES[i], {
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
        defineProperty(live, NAMES[i], descriptor);
      }
    }
  }
}
