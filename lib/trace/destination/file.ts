/**
 * A file, by path or by descriptor: SonicBoom, synchronously and with bytes as they are. One write a chunk equals
 * raw fs.writeSync, and what was written is the operating system's whatever becomes of the process.
 *
 * A write that fails (a full disk) leaves a rest with SonicBoom, which may begin in the middle of a line. It is
 * tried again before anything else is written, and until then chunks are dropped: at most one is ever held.
 */
import fs from 'node:fs';
import { SonicBoom } from 'sonic-boom';
import { type Destination, DROPPED, KEPT, type Observer, type Outcome, TAKEN } from './destination';

export interface FileOptions {
  append: boolean;
  mkdir: boolean;
  mode: number;
}

// SonicBoom writes through the fs module, which a program may have replaced by a mock since (see `untouched`).
const { fstatSync, ftruncateSync, writeSync, openSync, mkdirSync, close, fsync } = fs;
const originals = { writeSync, openSync, mkdirSync, close, fsync };

export function createFileDestination(
  file: string | number,
  options: FileOptions,
  observer: Observer,
): Destination {
  let failure: unknown;
  /** The chunk that SonicBoom holds a rest of. */
  let held: Buffer | undefined;
  let dead = false;

  const sonic = untouched(
    () =>
      new SonicBoom({
        ...(typeof file === 'number' ? { fd: file } : { dest: file }),
        ...options,
        sync: true,
        contentMode: 'buffer',
        minLength: 0,
        // One write a chunk: the default would cut chunks up.
        maxWrite: 2 ** 31 - 1,
        // A file never says EAGAIN; what does must not be waited for in steps of 100 ms.
        retryEAGAIN: () => false,
      }),
  );
  sonic.on('error', (error) => {
    failure = error;
  });
  let identity = identify();

  /** Device and inode of what the descriptor stands for. */
  function identify(): string {
    const { dev, ino } = fstatSync(descriptor());
    return `${dev}:${ino}`;
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
  }

  /** A descriptor that was closed behind our back may be another file by now: nothing of ours belongs there. */
  function isOurs(): boolean {
    try {
      if (identify() === identity) {
        return true;
      }
      die(new Error(`descriptor ${descriptor()} was closed and now stands for another file`));
    } catch (error) {
      die(error);
    }
    return false;
  }

  function write(lines: Buffer): Outcome {
    if (dead || !isOurs()) {
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
    held = lines;
    observer.onError(failure, false);
    return KEPT;
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

  function settle(): void {
    if (held !== undefined && !dead && isOurs()) {
      retry();
    }
  }

  /** Gives up what is held, and takes the part of a line that it left at the end of the file back out. */
  function abandon(): void {
    if (held === undefined) {
      return;
    }
    const rest = held.subarray(held.length - heldBytes());
    const written = held.subarray(0, held.length - rest.length);
    held = undefined;
    const torn = written.length - (written.lastIndexOf(10) + 1);
    observer.onLost(rest);
    if (torn > 0 && !dead && typeof file === 'string') {
      try {
        ftruncateSync(descriptor(), fstatSync(descriptor()).size - torn);
      } catch {
        // The file ends in part of a line, which every reader tolerates.
      }
    }
  }

  return {
    interactive: false,
    write,
    flush: async () => settle(),
    flushSync: settle,
    close() {
      settle();
      abandon();
      if (typeof file === 'number' || dead) {
        return Promise.resolve();
      }
      return new Promise((resolve) => {
        sonic.once('close', resolve);
        sonic.once('error', () => resolve());
        untouched(() => sonic.destroy());
      });
    },
    reopen(path) {
      settle();
      abandon();
      failure = undefined;
      try {
        untouched(() => sonic.reopen(path));
      } catch (error) {
        // Otherwise the listener waits for a later success, and closes a descriptor that is no longer ours.
        sonic.removeAllListeners('ready');
        throw error;
      }
      identity = identify();
    },
  };
}

/** Runs `work` with the functions of node:fs as they were at load, where the program has put others in their place. */
function untouched<T>(work: () => T): T {
  const live = fs as unknown as Record<string, unknown>;
  if (
    live.writeSync === writeSync &&
    live.openSync === openSync &&
    live.close === close &&
    live.fsync === fsync
  ) {
    return work();
  }
  const found: Record<string, unknown> = {};
  for (const [name, original] of Object.entries(originals)) {
    found[name] = live[name];
    Reflect.set(live, name, original);
  }
  try {
    return work();
  } finally {
    for (const name of Object.keys(originals)) {
      Reflect.set(live, name, found[name]);
    }
  }
}
