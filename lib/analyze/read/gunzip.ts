/** Logs that lie compressed. */
import { once } from 'node:events';
import { createGunzip } from 'node:zlib';
import { TracerError } from '../../errors';

/**
 * What zlib inflates at a time. Where a file is damaged, what it has inflated at this time is lost, so this is small;
 * the rate is that of chunks four times as large.
 */
const OUTPUT_BYTES = 64 * 1024;
/** What zlib is given at a time: what comes out of it, at most a thousand times as much, has to fit in memory. */
const INPUT_BYTES = 16 * 1024;

/** Beginnings of what is no text in UTF-8, and how it can be made so. */
const FOREIGN: readonly (readonly [bytes: readonly number[], name: string, reader: string])[] = [
  [[0x28, 0xb5, 0x2f, 0xfd], 'compressed by zstd', 'zstdcat'],
  [[0xfd, 0x37, 0x7a, 0x58, 0x5a], 'compressed by xz', 'xzcat'],
  [[0x42, 0x5a, 0x68], 'compressed by bzip2', 'bzcat'],
  [[0x50, 0x4b, 0x03, 0x04], 'a zip archive', 'unzip -p'],
  [[0xff, 0xfe], 'text in UTF-16', 'iconv -f utf-16 -t utf-8'],
  [[0xfe, 0xff], 'text in UTF-16', 'iconv -f utf-16 -t utf-8'],
];
const HEAD_BYTES = 5;

/** zlib's word for bytes that are no gzip any more. */
export function isDamage(error: unknown): boolean {
  return error instanceof Error && /^Z_/.test(String((error as NodeJS.ErrnoException).code));
}

/**
 * The bytes themselves, or what they inflate to if they begin as gzip does. A chunk is good until the next one is asked
 * for.
 *
 * @param name of the source, for the message
 * @throws TracerError ERR_ASYNC_TRACER_INPUT where they begin as something else does that is no text
 * @throws zlib's own error where a gzip is damaged or cut, after all that was inflated before
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

/** Chunks joined until they show what they are. */
async function headOf(chunks: AsyncGenerator<Buffer>): Promise<Buffer> {
  let head: Buffer = Buffer.alloc(0);
  while (head.length < HEAD_BYTES) {
    const { value, done } = await chunks.next();
    if (done) {
      break;
    }
    // The file's buffer is used again for each chunk.
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
    // After an error of zlib's own, Node calls no one back.
    written();
  });
  // By one write after another, and not by a pipeline: at an error that throws away what it has in its buffers.
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
    // Rejects at an error, such as the end of a gzip that was cut.
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
