/** Opens the destination that the caller gave. */
import fs from 'node:fs';
import { dirname } from 'node:path';
import type { Writable } from 'node:stream';
import { TracerError } from '../../errors';
import type { ResolvedOptions } from '../options/tracer-options';
import { show } from '../options/value';
import type { Destination, Observer } from './destination';
import type * as File from './file';
import type * as Pipe from './pipe';
import type * as Stream from './stream';

/** Where a log may go: a writable stream, the path of a file, or a file descriptor. */
export type Target = string | number | Writable;

const { fstatSync, lstatSync, statSync, writeSync } = fs;

/** Each kind is loaded at its first use: SonicBoom alone takes a third of the package's load time. */
const createFileDestination: typeof File.createFileDestination = (...given) =>
  (require('./file') as typeof File).createFileDestination(...given);
const createPipeDestination: typeof Pipe.createPipeDestination = (...given) =>
  (require('./pipe') as typeof Pipe).createPipeDestination(...given);
const createStreamDestination: typeof Stream.createStreamDestination = (...given) =>
  (require('./stream') as typeof Stream).createStreamDestination(...given);

function refuse(message: string, cause?: unknown): never {
  throw new TracerError('ERR_ASYNC_TRACER_DESTINATION', message, { cause });
}

/** Whether a value is a stream: options have no `write`. */
export function isStream(value: unknown): value is Writable {
  return typeof value === 'object' && value !== null && typeof (value as Writable).write === 'function';
}

/**
 * Opens a destination.
 *
 * @throws TracerError ERR_ASYNC_TRACER_DESTINATION; ERR_ASYNC_TRACER_OPTION where an option does not go with the kind of
 * destination; nothing is left open then
 */
export function openDestination(
  target: Target,
  options: ResolvedOptions,
  observer: Observer,
  runAsOwnTagged: <T>(work: () => T) => T,
): Destination {
  if (typeof target === 'string') {
    return openPath(target, options, observer, runAsOwnTagged);
  }
  if (typeof target === 'number') {
    return openDescriptor(target, options, observer, runAsOwnTagged);
  }
  checkStream(target);
  if (options.overflow === 'block') {
    const { fd } = target as { fd?: unknown };
    const descriptor = typeof fd === 'number' ? `, ${fd},` : '';
    throw new TracerError(
      'ERR_ASYNC_TRACER_OPTION',
      `The option 'overflow' cannot be 'block' for a stream, which takes nothing while it is waited for. Give its descriptor${descriptor} or a path instead, or raise maxBuffer.`,
    );
  }
  return createStreamDestination(target, options.maxBuffer, observer, runAsOwnTagged);
}

const HINTS: Record<string, string> = {
  ENOENT:
    'The folder does not exist: make it, or give the option mkdir: true (the variable ASYNC_TRACER_MKDIR=true).',
  EISDIR: 'It is a folder: give the path of a file in it.',
  EACCES: 'This user may not write there.',
  EPERM: 'This user may not write there.',
  EROFS: 'The file system is read-only.',
  ENOTDIR: 'A part of the path is not a folder.',
  ENXIO: 'It is a FIFO that nobody reads: start its reader first.',
  ENOSPC: 'The disk is full.',
  EMFILE: 'The process has too many files open.',
};

function hintFor(code: string, path: string): string {
  if (code === 'ENOENT' && lstatSync(path, { throwIfNoEntry: false }) !== undefined) {
    return 'It is a symbolic link into a folder that does not exist.';
  }
  if (code === 'ENOENT' && statSync(dirname(path), { throwIfNoEntry: false }) !== undefined) {
    // In /proc, for example.
    return 'The folder exists, but no file can be created in it.';
  }
  return HINTS[code] ?? '';
}

/** Some messages of Node.js end with a full stop: those of its permissions. */
function sentence(message: string): string {
  return message.endsWith('.') ? message : `${message}.`;
}

function openPath(
  path: string,
  options: ResolvedOptions,
  observer: Observer,
  runAsOwnTagged: <T>(work: () => T) => T,
): Destination {
  if (path === '' || path.includes('\0')) {
    refuse(`The path of the log must be a path; got ${show(path)}.`);
  }
  try {
    const kind = statSync(path, { throwIfNoEntry: false });
    if (kind === undefined || kind.isFile() || kind.isDirectory()) {
      return createFileDestination(path, options, observer);
    }
    return createPipeDestination(path, options, observer, runAsOwnTagged);
  } catch (error) {
    const { code = '', message } = error as NodeJS.ErrnoException;
    refuse(
      `The log cannot be written to ${show(path)}: ${sentence(message)} ${hintFor(code, path)}`.trimEnd(),
      error,
    );
  }
}

/** Writes no bytes, which throws where the descriptor is not open for writing. A full device throws too, and is accepted. */
function requireWritable(fd: number): void {
  try {
    writeSync(fd, new Uint8Array(0));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ENOSPC' && code !== 'EAGAIN') {
      throw error;
    }
  }
}

function openDescriptor(
  fd: number,
  options: ResolvedOptions,
  observer: Observer,
  runAsOwnTagged: <T>(work: () => T) => T,
): Destination {
  if (!Number.isInteger(fd) || fd < 0 || fd > 2 ** 31 - 1) {
    refuse(`A file descriptor must be a whole number from 0; got ${show(fd)}.`);
  }
  try {
    const kind = fstatSync(fd);
    if (kind.isDirectory()) {
      refuse(`Descriptor ${fd} is a folder: it cannot be written.`);
    }
    requireWritable(fd);
    return kind.isFile()
      ? createFileDestination(fd, options, observer)
      : createPipeDestination(fd, options, observer, runAsOwnTagged);
  } catch (error) {
    if (error instanceof TracerError) {
      throw error;
    }
    const { code, message } = error as NodeJS.ErrnoException;
    const hint = code === 'EBADF' ? 'It is not open, or not for writing.' : '';
    refuse(`The log cannot be written to descriptor ${fd}: ${sentence(message)} ${hint}`.trimEnd(), error);
  }
}

function checkStream(stream: Writable): void {
  const name = stream.constructor?.name ?? 'stream';
  for (const method of ['on', 'once', 'removeListener', 'listenerCount'] as const) {
    if (typeof stream[method] !== 'function') {
      refuse(`The stream must be an EventEmitter, with a method '${method}'; this ${name} has none.`);
    }
  }
  if (stream.writableObjectMode) {
    refuse(`The stream must take bytes; this ${name} is in object mode.`);
  }
  if (stream.destroyed || stream.errored) {
    refuse(`The stream must be open; this ${name} is destroyed.`);
  }
  if (stream.writableEnded || stream.writable === false) {
    refuse(`The stream must be writable; this ${name} has ended.`);
  }
}
