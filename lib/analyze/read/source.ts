import { type FileHandle, open, stat } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { TracerError } from '../../errors';
import { inflated } from './gunzip';

/**
 * Where a log comes from: a path ('-' is standard input), a file: URL, anything that gives bytes or text
 * asynchronously, such as a Readable; or several of these, read one after another. The files of a rotated log (app.log,
 * app.log.1, app.log.2.gz) are read from the oldest to the newest. A gzipped source is known by its first bytes, not by
 * its name.
 */
export type LogSource =
  | string
  | URL
  | AsyncIterable<Uint8Array | string>
  | readonly (string | URL | AsyncIterable<Uint8Array | string>)[];

const CHUNK_BYTES = 256 * 1024;

/** One source, before it is opened. */
export interface Input {
  name: string;
  /** Undefined where it has none, as a pipe. */
  size: number | undefined;
  /** Its bytes as they are there. A chunk is valid until the next one is asked for. */
  chunks(): AsyncIterable<Uint8Array | string>;
  /** The same from the beginning, inflated; undefined where they can be read only once. */
  peek: (() => AsyncGenerator<Buffer>) | undefined;
}

/** @throws TracerError ERR_ASYNC_TRACER_INPUT for a value that is no source, or a file that is not there */
export async function inputsOf(source: LogSource): Promise<Input[]> {
  const sources = Array.isArray(source) ? source : [source];
  if (sources.length === 0) {
    throw new TracerError('ERR_ASYNC_TRACER_INPUT', 'no log was given; expected at least one');
  }
  return Promise.all(sources.map(inputOf));
}

async function inputOf(source: unknown): Promise<Input> {
  if (source === '-') {
    return { name: 'standard input', size: undefined, peek: undefined, chunks: () => process.stdin };
  }
  if (typeof source === 'string' || source instanceof URL) {
    const path = typeof source === 'string' ? source : pathOf(source);
    const stats = await stat(path).catch((error) => {
      throw unopened(path, error);
    });
    if (stats.isDirectory()) {
      throw unopened(path, new Error('it is a folder'));
    }
    const chunks = () => fileChunks(path);
    return stats.isFile()
      ? { name: path, size: stats.size, chunks, peek: () => inflated(chunks(), path) }
      : { name: path, size: undefined, chunks, peek: undefined };
  }
  if (typeof source === 'object' && source !== null && Symbol.asyncIterator in source) {
    const chunks = () => source as AsyncIterable<Uint8Array>;
    return { name: 'a stream', size: undefined, chunks, peek: undefined };
  }
  throw new TracerError(
    'ERR_ASYNC_TRACER_INPUT',
    `a log source is ${describe(source)}; expected a path, '-', a file: URL or a readable stream`,
  );
}

function pathOf(url: URL): string {
  try {
    return fileURLToPath(url);
  } catch (error) {
    throw unopened(url.href, error);
  }
}

async function* fileChunks(path: string): AsyncGenerator<Buffer> {
  let file: FileHandle;
  try {
    file = await open(path);
  } catch (error) {
    throw unopened(path, error);
  }
  try {
    const buffer = Buffer.allocUnsafeSlow(CHUNK_BYTES);
    for (;;) {
      const { bytesRead } = await file.read(buffer, 0, CHUNK_BYTES, null);
      if (bytesRead === 0) {
        return;
      }
      yield buffer.subarray(0, bytesRead);
    }
  } finally {
    await file.close();
  }
}

/** @throws TracerError ERR_ASYNC_TRACER_INPUT where a stream gives anything but bytes or text */
export function bufferOf(chunk: unknown, name: string): Buffer {
  if (Buffer.isBuffer(chunk)) {
    return chunk;
  }
  if (typeof chunk === 'string') {
    return Buffer.from(chunk);
  }
  if (chunk instanceof Uint8Array) {
    return Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
  }
  throw new TracerError('ERR_ASYNC_TRACER_INPUT', `${name} gave ${describe(chunk)}; expected bytes or text`);
}

/** Node's message names the system call and the path again, so both are cut off. */
function unopened(path: string, cause: unknown): TracerError {
  const message = cause instanceof Error ? cause.message : String(cause);
  const reason = message.replace(/, (stat|open) '.*'$/s, '');
  return new TracerError(
    'ERR_ASYNC_TRACER_INPUT',
    `the log ${path === '' ? '""' : path} could not be opened: ${reason}`,
    { cause },
  );
}

function describe(value: unknown): string {
  if (value === null || value === undefined) {
    return String(value);
  }
  return typeof value === 'object'
    ? `an object (${value.constructor?.name ?? 'no prototype'})`
    : `a ${typeof value} (${String(value)})`;
}
