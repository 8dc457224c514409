/** Writes bytes to a file or to standard output, as they come. */
import { once } from 'node:events';
import { createWriteStream, existsSync, realpathSync, rmSync, statSync } from 'node:fs';
import { rename } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { TracerError } from '../../errors';

/** An interrupted command leaves no half file either. */
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

function reasonOf(file: string, error: NodeJS.ErrnoException): string {
  const folder = path.dirname(file);
  switch (error.code) {
    case 'ENOSPC':
      return 'no space is left on the device';
    case 'ENOENT':
      return `there is no folder ${folder}`;
    case 'ENOTDIR':
      return `${folder} is not a folder`;
    case 'EISDIR':
      return 'it is a folder';
    case 'EACCES':
    case 'EPERM':
      return `permission denied in ${folder}`;
    case 'EROFS':
      return `${folder} is read-only`;
    default:
      return error.message;
  }
}

/** The file itself where the name is a link, so that the link stays. */
function targetOf(file: string): string {
  return existsSync(file) ? realpathSync(file) : file;
}

/** Whether bytes go straight to it, as to a pipe or a device: it cannot be replaced. */
function isSpecial(file: string): boolean {
  return existsSync(file) && !statSync(file).isFile();
}

/**
 * Writes a file beside its place and moves it there when it is complete: a failure leaves what was there before.
 *
 * @throws TracerError ERR_ASYNC_TRACER_DESTINATION where it cannot be written; what `chunks` throws as it is
 */
export async function writeFile(
  file: string,
  chunks: AsyncIterable<Uint8Array>,
  compress: boolean,
): Promise<void> {
  const target = targetOf(file);
  const isDirect = isSpecial(target);
  const part = isDirect ? target : `${target}.${process.pid}.part`;
  const source = Readable.from(chunks, { objectMode: false });
  // A failure of the log and one of the file have the same way out.
  let failure: unknown;
  source.once('error', (error) => {
    failure ??= error;
  });
  const output = createWriteStream(part);
  output.once('error', (error: NodeJS.ErrnoException) => {
    failure ??= new TracerError(
      'ERR_ASYNC_TRACER_DESTINATION',
      `${file} could not be written: ${reasonOf(file, error)}`,
      { cause: error },
    );
  });
  const clear = () => {
    try {
      if (!isDirect) {
        rmSync(part, { force: true });
      }
    } catch {
      // As when its name is too long. What failed before is what is thrown.
    }
  };
  const interrupted = (signal: NodeJS.Signals) => {
    clear();
    process.kill(process.pid, signal);
  };
  for (const signal of SIGNALS) {
    process.once(signal, interrupted);
  }
  try {
    await (compress ? pipeline(source, createGzip(), output) : pipeline(source, output));
    if (!isDirect) {
      await rename(part, target);
    }
  } catch (error) {
    clear();
    throw failure ?? error;
  } finally {
    for (const signal of SIGNALS) {
      process.removeListener(signal, interrupted);
    }
  }
}

/** Writes to standard output, as fast as it takes it. A failure of it ends the command: see main.ts. */
export async function writeStdout(chunks: AsyncIterable<Uint8Array>): Promise<void> {
  const { stdout } = process;
  for await (const chunk of chunks) {
    if (!stdout.write(chunk)) {
      await once(stdout, 'drain');
    }
  }
}
