import { TracerError } from '../../errors';
import { FORMAT_VERSION, type StartRecord, type TraceRecord } from '../../log/event';
import { Decoder } from '../decode/decoder';
import { LOST, START } from '../decode/record';
import type { LogCounts } from '../report/log';
import { inflated, isDamage } from './gunzip';
import { Lines } from './lines';
import { checkOptions, type ReadOptions } from './options';
import { inOrder } from './rotation';
import { bufferOf, type Input, inputsOf, type LogSource } from './source';

/** A line longer than this, in a source that has no size, shows that the source has no end, as /dev/zero. */
const ENDLESS_BYTES = 2 ** 30;

/**
 * Reads every record of `source` into the fields of `decoder`, one after another, and calls `accept` after each. The
 * analyses use it because it is fast: no object is made for a record unless `accept` asks for it.
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
  for await (const _ of scanner.run()) {
  }
  return scanner.counts;
}

/** `scan` in steps: whoever writes while it reads waits for the writing between two chunks. */
export class Scanner {
  readonly counts: LogCounts = { sources: 0, bytes: 0, records: 0, foreign: 0, cut: 0, lost: 0, damaged: [] };
  readonly #source: LogSource;
  readonly #options: ReadOptions;
  readonly #lines: Lines;

  constructor(source: LogSource, options: ReadOptions, decoder: Decoder, accept: () => void) {
    this.#source = source;
    this.#options = options;
    this.#lines = new Lines(decoder, () => {
      if (decoder.phase === LOST) {
        this.counts.lost += Number(decoder.parsed!['count']);
      } else if (decoder.phase === START) {
        checkFormat(decoder.parsed as StartRecord);
      }
      accept();
    });
  }

  /** Yields after each chunk. */
  async *run(): AsyncGenerator<void> {
    const inputs = await inOrder(await inputsOf(this.#source), firstTime);
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
      const chunks = inflated(this.#counted(input), input.name);
      try {
        for (
          let chunk = await this.#next(chunks, input);
          chunk !== undefined;
          chunk = await this.#next(chunks, input)
        ) {
          this.#lines.feed(chunk);
          if (input.size === undefined && this.#lines.skipped > ENDLESS_BYTES) {
            throw new TracerError(
              'ERR_ASYNC_TRACER_INPUT',
              `${input.name} has a line of more than 1 GiB: it is no log`,
            );
          }
          report();
          yield;
        }
      } finally {
        await chunks.return(undefined);
      }
      this.#lines.endSource();
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
      if (error instanceof TracerError) {
        throw error;
      }
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

/** The time of the first record in the first of the chunks, undefined where there is none. */
async function firstTime(chunks: AsyncGenerator<Buffer>): Promise<number | undefined> {
  const decoder = new Decoder();
  let time: number | undefined;
  const lines = new Lines(decoder, () => {
    if (!Number.isNaN(decoder.time)) {
      time ??= decoder.time;
    }
  });
  try {
    const { value, done } = await chunks.next();
    if (!done) {
      lines.feed(value);
    }
  } catch {
    // The error is reported when the source is read.
  } finally {
    await chunks.return(undefined);
  }
  return time;
}

function checkFormat(start: StartRecord): void {
  if (start.format <= FORMAT_VERSION) {
    return;
  }
  throw new TracerError(
    'ERR_ASYNC_TRACER_FORMAT',
    `the log has format ${start.format}; this version of async-tracer reads formats up to ${FORMAT_VERSION}: use the version that wrote it, or a later one`,
  );
}

/** The records of a log. It can be read once. */
export interface LogReader extends AsyncIterable<TraceRecord> {
  /** Arrays of records, one for each chunk of the source: the same records at a fraction of the iterator's cost. */
  batches(): AsyncIterableIterator<TraceRecord[]>;
  /** The counts so far; final once the reading is over. */
  readonly counts: Readonly<LogCounts>;
}

/**
 * Reads a log record by record. Lines that are no records are skipped and counted. Nothing is opened before the first
 * record is asked for, and everything is closed when the loop ends, also early.
 *
 * @example for await (const record of readLog('app.ndjson')) console.log(record.phase);
 * @throws TracerError ERR_ASYNC_TRACER_UNKNOWN_OPTION, ERR_ASYNC_TRACER_OPTION
 * @throws TracerError, from the iteration: ERR_ASYNC_TRACER_INPUT where a source cannot be opened or read,
 *   ERR_ASYNC_TRACER_FORMAT at a `start` record of a format that this version does not know
 */
export function readLog(source: LogSource, options: ReadOptions = {}): LogReader {
  checkOptions('readLog', options, []);
  let batch: TraceRecord[] = [];
  const decoder = new Decoder();
  const scanner = new Scanner(source, options, decoder, () => {
    batch.push(decoder.record());
  });
  async function* batches() {
    for await (const _ of scanner.run()) {
      if (batch.length === 0) {
        continue;
      }
      const full = batch;
      batch = [];
      yield full;
    }
  }
  return {
    counts: scanner.counts,
    batches,
    async *[Symbol.asyncIterator]() {
      for await (const records of batches()) {
        yield* records;
      }
    },
  };
}
