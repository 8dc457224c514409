import { once } from 'node:events';
import { createGunzip } from 'node:zlib';
import { TracerError } from '../../errors';

/**
 * How much zlib inflates at a time. In a damaged file the output of the last time is lost, so this is small. It is as
 * fast as chunks four times as large.
 */
const OUTPUT_BYTES = 64 * 1024;
/** How much zlib is given at a time. Its output, at most a thousand times as much, has to fit in memory. */
const INPUT_BYTES = 16 * 1024;

/** First bytes of formats that are no text in UTF-8, and the command that converts each. */
const FOREIGN: readonly (readonly [bytes: readonly number[], name: string, reader: string])[] = [
  [[0x28, 0xb5, 0x2f, 0xfd], 'compressed by zstd', 'zstdcat'],
  [[0xfd, 0x37, 0x7a, 0x58, 0x5a], 'compressed by xz', 'xzcat'],
  [[0x42, 0x5a, 0x68], 'compressed by bzip2', 'bzcat'],
  [[0x50, 0x4b, 0x03, 0x04], 'a zip archive', 'unzip -p'],
  [[0xff, 0xfe], 'text in UTF-16', 'iconv -f utf-16 -t utf-8'],
  [[0xfe, 0xff], 'text in UTF-16', 'iconv -f utf-16 -t utf-8'],
];
const HEAD_BYTES = 5;

/** Whether zlib refused bytes that are no valid gzip. */
export function isDamage(error: unknown): boolean {
  return error instanceof Error && /^Z_/.test(String((error as NodeJS.ErrnoException).code));
}

/**
 * The bytes themselves, or, if they begin as gzip does, what they inflate to. A chunk is valid until the next one is
 * asked for.
 *
 * @param name of the source, for the message
 * @throws TracerError ERR_ASYNC_TRACER_INPUT where they begin as a format that is neither gzip nor text
 * @throws the error of zlib where a gzip is damaged or cut, after all that was inflated before
 */
export async function* inflated(chunks: AsyncGenerator<Buffer>, name: string): AsyncGenerator<Buffer> {
  try {
    const head = await headOf(chunks);
    refuseForeign(head, name);
    if (head[0] === 0x1f && head[1] === 0x8b) {
      yield* gunzipped(head, chunks);
      return;
    }
    if (head.length > 0) {
      yield head;
    }
    for await (const chunk of chunks) {
      yield chunk;
    }
  } finally {
    await chunks.return(undefined);
  }
}

/** The first chunks, joined until they show the format. */
async function headOf(chunks: AsyncGenerator<Buffer>): Promise<Buffer> {
  let head: Buffer = Buffer.alloc(0);
  while (head.length < HEAD_BYTES) {
    const { value, done } = await chunks.next();
    if (done) {
      break;
    }
    // The buffer of a file is reused for each chunk.
    head = head.length === 0 && value.length >= HEAD_BYTES ? value : Buffer.concat([head, value]);
  }
  return head;
}

function refuseForeign(head: Buffer, name: string): void {
  const found = FOREIGN.find(([bytes]) => bytes.every((byte, i) => head[i] === byte));
  if (found === undefined) {
    return;
  }
  throw new TracerError(
    'ERR_ASYNC_TRACER_INPUT',
    `${name} is ${found[1]}, which is not read; pipe it through: ${found[2]} FILE | async-tracer stats -`,
  );
}

async function* gunzipped(head: Buffer, chunks: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  const gunzip = createGunzip({ chunkSize: OUTPUT_BYTES });
  const out: Buffer[] = [];
  let failure: unknown;
  let written = () => {};
  gunzip.on('data', (chunk: Buffer) => out.push(chunk));
  gunzip.on('error', (error) => {
    failure = error;
    // After an error of zlib Node does not call the callback of `write`.
    written();
  });
  // One write after another, not a pipeline: at an error a pipeline drops what is in its buffers.
  const write = (bytes: Buffer) =>
    new Promise<void>((done) => {
      written = done;
      gunzip.write(bytes, () => done());
    });
  try {
    for (let chunk: Buffer | undefined = head; chunk !== undefined; chunk = await next(chunks)) {
      for (let at = 0; at < chunk.length; at += INPUT_BYTES) {
        await write(chunk.subarray(at, at + INPUT_BYTES));
        gunzip.read();
        yield* out.splice(0);
        if (failure !== undefined) {
          throw failure;
        }
      }
    }
    const closed = once(gunzip, 'close');
    gunzip.end();
    // Rejects at an error, such as the early end of a gzip that was cut.
    await closed;
    yield* out.splice(0);
  } finally {
    gunzip.destroy();
  }
}

async function next(chunks: AsyncGenerator<Buffer>): Promise<Buffer | undefined> {
  const { value, done } = await chunks.next();
  return done ? undefined : value;
}
