import { renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { TracerError } from '../errors';

function failure(path: string, why: string, cause?: unknown): TracerError {
  return new TracerError('ERR_ASYNC_TRACER_DESTINATION', `The report cannot be written to ${path}: ${why}.`, {
    cause,
  });
}

/**
 * Checks a path before a long log is read for it.
 *
 * @throws TracerError ERR_ASYNC_TRACER_DESTINATION where its folder is missing, or it is a folder
 */
export function checkWritable(path: string): void {
  const folder = dirname(path);
  const kind = statSync(folder, { throwIfNoEntry: false });
  if (kind === undefined) {
    throw failure(path, `there is no folder ${folder}`);
  }
  if (!kind.isDirectory()) {
    throw failure(path, `${folder} is not a folder`);
  }
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) {
    throw failure(path, 'it is a folder');
  }
}

/** Where it cannot be removed, what failed before is what is thrown. */
function remove(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch {
    // As when its name is too long.
  }
}

/**
 * Writes a file whole or not at all: under another name first, which is removed where writing fails. What is there already
 * and is no file, as a device, is written directly.
 *
 * @throws TracerError ERR_ASYNC_TRACER_DESTINATION
 */
export function writeWhole(path: string, text: string): void {
  const kind = statSync(path, { throwIfNoEntry: false });
  const isFile = kind === undefined || kind.isFile();
  const temporary = isFile ? `${path}.${process.pid}.tmp` : path;
  try {
    writeFileSync(temporary, text);
    if (isFile) {
      renameSync(temporary, path);
    }
  } catch (error) {
    if (isFile) {
      remove(temporary);
    }
    throw failure(path, (error as Error).message.replace(/, (open|write|rename) '.*$|, write$/s, ''), error);
  }
}
