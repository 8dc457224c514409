import { type FileHandle, open, stat } from 'node:fs/promises';
import { pipeline, Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { constants, createGunzip } from 'node:zlib';
import { TracerError } from '../errors';
import { FORMAT_VERSION, type StartRecord, type TraceRecord } from '../log/event';
import { Decoder } from './decoder';
import { Lines } from './lines';
import { inOrder } from './pieces';
import { LOST, START } from './record';

/**
 * Where a log comes from: a path ('-' is standard input), a file: URL, anything that gives bytes or text
 * asynchronously, such as a Readable; or several of these, read one after another, but for the files of a rotated log
 * (app.log, app.log.1, app.log.2.gz), which are read from the oldest on. What is gzipped is known by its first bytes,
 * whatever its name.
 */
export type LogSource =
  | string
  | URL
  | AsyncIterable<Uint8Array | string>
  | readonly (string | URL | AsyncIterable<Uint8Array | string>)[];

export interface ReadProgress {
  /** Bytes of the sources read so far, as they lie there (compressed, if they are). */
  bytes: number;
  /** The size of all sources together; undefined where one of them has no size, as a pipe. */
  totalBytes: number | undefined;
  records: number;
}

export interface ReadOptions {
  /** Called after each chunk, a few hundred kilobytes. It must not throw. */
  onProgress?: ((progress: ReadProgress) => void) | undefined;
}

/** What a log was made of. */
export interface LogCounts {
  sources: number;
  /** Bytes as they lie in the sources. */
  bytes: number;
  records: number;
  /** Lines that are not blank and no records of a trace. */
  foreign: number;
  /** Lines cut off by the end of a source. */
  cut: number;
  /** Records that the tracer says it dropped. */
  lost: number;
  /** Sources that could be read only in part, as a damaged .gz, and why. */
  damaged: { source: string; message: string }[];
}

const CHUNK_BYTES = 256 * 1024;

/** One source, before it is opened. */
interface Input {
  name: string;
  size: number | undefined;
  chunks(): AsyncIterable<Uint8Array | string>;
  peek: (() => AsyncGenerator<Buffer>) | undefined;
}

/**
 * Reads every record of `source` into the fields of `decoder`, one after another, and calls `accept` after each. This is
 * the fast way that the analyses take: no object is made for a record unless `accept` asks for it.
 *
 * @throws TracerError ERR_ASYNC_TRACER_INPUT where a source cannot be opened or read
 * @throws TracerError ERR_ASYNC_TRACER_FORMAT at a `start` record of an unknown format
 */
export async function scan(
  source: LogSource,
  options: ReadOptions,
  decoder: Decoder,
  accept: () => void,
): Promise<LogCounts> {
  const scanner = new Scanner(source, options, decoder, accept);
  for await (const _ of scanner.run());
  return scanner.counts;
}

class Scanner {
  readonly counts: LogCounts = { sources: 0, bytes: 0, records: 0, foreign: 0, cut: 0, lost: 0, damaged: [] };
  readonly #source: LogSource;
  readonly #options: ReadOptions;
  readonly #lines: Lines;

  constructor(source: LogSource, options: ReadOptions, decoder: Decoder, accept: () => void) {
    this.#source = source;
    this.#options = options;
    this.#lines = new Lines(decoder, () => {
      if (decoder.phase === LOST) this.counts.lost += Number(decoder.parsed!['count']);
      else if (decoder.phase === START) checkFormat(decoder.parsed as StartRecord);
      accept();
    });
  }

  /** Yields after each chunk. */
  async *run(): AsyncGenerator<void> {
    const inputs = await inOrder(await inputsOf(this.#source));
    const sizes = inputs.map((input) => input.size);
    const totalBytes = sizes.includes(undefined)
      ? undefined
      : sizes.reduce<number>((sum, size) => sum + size!, 0);
    const report = () => {
      Object.assign(this.counts, {
        records: this.#lines.records,
        foreign: this.#lines.foreign,
        cut: this.#lines.cut,
      });
      const { bytes, records } = this.counts;
      this.#options.onProgress?.({ bytes, totalBytes, records });
    };
    for (const input of inputs) {
      this.counts.sources++;
      const chunks = inflated(this.#counted(input));
      try {
        for (
          let chunk = await this.#next(chunks, input);
          chunk !== undefined;
          chunk = await this.#next(chunks, input)
        ) {
          this.#lines.feed(chunk);
          report();
          yield;
        }
      } finally {
        await chunks.return(undefined);
      }
      this.#lines.seam();
    }
    this.#lines.finish();
    report();
    yield;
  }

  /** The next chunk; undefined where the source has ended or is damaged from here on. */
  async #next(chunks: AsyncGenerator<Buffer>, { name }: Input): Promise<Buffer | undefined> {
    try {
      const { value, done } = await chunks.next();
      return done ? undefined : value;
    } catch (error) {
      if (error instanceof TracerError) throw error;
      const message = error instanceof Error ? error.message : String(error);
      if (!isDamage(error)) {
        throw new TracerError('ERR_ASYNC_TRACER_INPUT', `the log ${name} could not be read: ${message}`, {
          cause: error,
        });
      }
      this.counts.damaged.push({ source: name, message });
      return undefined;
    }
  }

  async *#counted(input: Input): AsyncGenerator<Buffer> {
    for await (const chunk of input.chunks()) {
      const bytes = bufferOf(chunk, input.name);
      this.counts.bytes += bytes.length;
      yield bytes;
    }
  }
}

function bufferOf(chunk: unknown, name: string): Buffer {
  if (Buffer.isBuffer(chunk)) return chunk;
  if (typeof chunk === 'string') return Buffer.from(chunk);
  if (chunk instanceof Uint8Array) return Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
  throw new TracerError('ERR_ASYNC_TRACER_INPUT', `${name} gave ${describe(chunk)}; expected bytes or text`);
}

function checkFormat(start: StartRecord): void {
  if (start.format <= FORMAT_VERSION) return;
  throw new TracerError(
    'ERR_ASYNC_TRACER_FORMAT',
    `the log has format ${start.format}; this version of async-tracer reads formats up to ${FORMAT_VERSION}: use the version that wrote it, or a later one`,
  );
}

/** zlib's word for bytes that are no gzip any more. */
function isDamage(error: unknown): boolean {
  return error instanceof Error && /^Z_/.test(String((error as NodeJS.ErrnoException).code));
}

/** The bytes themselves, or what they inflate to if they begin as gzip does. A cut gzip gives what there is. */
async function* inflated(chunks: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  let first = await chunks.next();
  let head: Buffer = Buffer.alloc(0);
  while (!first.done && head.length + first.value.length < 2) {
    head = Buffer.concat([head, first.value]);
    first = await chunks.next();
  }
  if (!first.done) head = head.length === 0 ? first.value : Buffer.concat([head, first.value]);
  if (head[0] !== 0x1f || head[1] !== 0x8b) {
    try {
      if (head.length > 0) yield head;
      for await (const chunk of chunks) yield chunk;
    } finally {
      await chunks.return(undefined);
    }
    return;
  }
  async function* all() {
    try {
      yield head;
      // The file's buffer is used again for each chunk, while zlib may still read the last one.
      for await (const chunk of chunks) yield Buffer.from(chunk);
    } finally {
      await chunks.return(undefined);
    }
  }
  head = Buffer.from(head);
  const gunzip = createGunzip({ chunkSize: CHUNK_BYTES, finishFlush: constants.Z_SYNC_FLUSH });
  pipeline(Readable.from(all(), { objectMode: false }), gunzip, () => {});
  yield* gunzip;
}

async function inputsOf(source: LogSource): Promise<Input[]> {
  const sources = Array.isArray(source) ? source : [source];
  if (sources.length === 0)
    throw new TracerError('ERR_ASYNC_TRACER_INPUT', 'no log was given; expected at least one');
  return Promise.all(sources.map(inputOf));
}

async function inputOf(source: unknown): Promise<Input> {
  if (source === '-')
    return { name: 'standard input', size: undefined, peek: undefined, chunks: () => process.stdin };
  if (typeof source === 'string' || source instanceof URL) {
    const path = typeof source === 'string' ? source : fileURLToPath(source);
    const stats = await stat(path).catch((error) => {
      throw unopened(path, error);
    });
    if (stats.isDirectory()) throw unopened(path, new Error('it is a folder'));
    const chunks = () => fileChunks(path);
    return stats.isFile()
      ? { name: path, size: stats.size, chunks, peek: () => inflated(chunks()) }
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
      if (bytesRead === 0) return;
      yield buffer.subarray(0, bytesRead);
    }
  } finally {
    await file.close();
  }
}

function unopened(path: string, cause: unknown): TracerError {
  const message = cause instanceof Error ? cause.message : String(cause);
  return new TracerError('ERR_ASYNC_TRACER_INPUT', `the log ${path} could not be opened: ${message}`, {
    cause,
  });
}

function describe(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  return typeof value === 'object'
    ? `an object (${value.constructor?.name ?? 'no prototype'})`
    : `a ${typeof value} (${String(value)})`;
}

/** The records of a log. It can be read once. */
export interface LogReader extends AsyncIterable<TraceRecord> {
  /** Arrays of records, one a chunk of the source: the same records for a fraction of the iterator's cost. */
  batches(): AsyncIterableIterator<TraceRecord[]>;
  /** What was met so far; whole once the reading is over. */
  readonly counts: Readonly<LogCounts>;
}

/**
 * Reads a log record by record. Lines that are no records are passed over and counted. Nothing is opened before the
 * first record is asked for, and everything is closed when the loop ends, also early.
 *
 * @example for await (const record of readLog('app.ndjson')) console.log(record.phase);
 * @throws TracerError, from the iteration: ERR_ASYNC_TRACER_INPUT where a source cannot be opened or read,
 *   ERR_ASYNC_TRACER_FORMAT at a `start` record of a format that this version does not know
 */
export function readLog(source: LogSource, options: ReadOptions = {}): LogReader {
  let batch: TraceRecord[] = [];
  const decoder = new Decoder();
  const scanner = new Scanner(source, options, decoder, () => {
    batch.push(decoder.record());
  });
  async function* batches() {
    for await (const _ of scanner.run()) {
      if (batch.length === 0) continue;
      const full = batch;
      batch = [];
      yield full;
    }
  }
  return {
    counts: scanner.counts,
    batches,
    async *[Symbol.asyncIterator]() {
      for await (const records of batches()) yield* records;
    },
  };
}
