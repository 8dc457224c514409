/**
 * Where a preloaded tracer writes: one file for each process and thread, from a pattern.
 *
 * `%p` is the process id, `%t` the thread id (0 is the main thread), `%%` a percent sign. A pattern without `%p` is
 * the file of the first process, a pattern without both is that of its main thread. All other processes and threads write
 * beside it, with `.PID-THREAD` before the extension, so that no log overwrites another.
 */
import { statSync } from 'node:fs';
import { extname, resolve } from 'node:path';
import { TracerError } from '../../errors';

export const DEFAULT_OUTPUT = 'async-tracer-%p-%t.ndjson';

/** Files in the folder of a session of `async-tracer run`: the mark of the first process, and the paths of the logs. */
export const FIRST_FILE = 'first';
export const LOGS_FILE = 'logs';

export interface Writer {
  pid: number;
  /** worker_threads.threadId: 0 in the main thread. */
  thread: number;
  /** Whether it is the first process under this pattern. */
  first: boolean;
}

/**
 * Makes the folder of the pattern absolute, so that neither `process.chdir` nor a child's folder matters.
 *
 * @throws TracerError ERR_ASYNC_TRACER_DESTINATION
 */
export function resolveOutput(pattern: string, folder: string): string {
  const unknown = /%(?![pt%])/.exec(pattern.replaceAll('%%', '  '));
  if (unknown !== null || pattern === '' || pattern.includes('\0')) {
    throw new TracerError(
      'ERR_ASYNC_TRACER_DESTINATION',
      `The output must be a path in which %p stands for the process id, %t for the thread id and %% for a percent sign; got ${JSON.stringify(pattern)}.`,
    );
  }
  return resolve(folder.replaceAll('%', '%%'), pattern);
}

/** The file of one process and thread, from a pattern that `resolveOutput` gave. */
export function outputOf(pattern: string, { pid, thread, first }: Writer): string {
  const placeholders = new Set(pattern.match(/%./g));
  const path = pattern.replace(/%(.)/g, (_, letter) =>
    letter === 'p' ? String(pid) : letter === 't' ? String(thread) : '%',
  );
  const ofProcess = first || placeholders.has('%p');
  const ofThread = thread === 0 || (placeholders.has('%p') && placeholders.has('%t'));
  if ((ofProcess && ofThread) || isDevice(path)) {
    return path;
  }
  const extension = extname(path);
  return `${path.slice(0, path.length - extension.length)}.${pid}-${thread}${extension}`;
}

/** A terminal, /dev/null or a FIFO cannot be overwritten, and another file beside it makes no sense. */
function isDevice(path: string): boolean {
  try {
    const kind = statSync(path, { throwIfNoEntry: false });
    return kind !== undefined && !kind.isFile() && !kind.isDirectory();
  } catch {
    return false;
  }
}
