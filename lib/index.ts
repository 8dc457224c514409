/** The face: every way in which the package may be called comes down to a target and resolved options here. */
import { TracerError } from './errors';
import { isStream, type Target } from './trace/destination/open';
import type { TracerOptions } from './trace/options/given';
import { resolveOptions } from './trace/options/resolve';
import { isPlain, show } from './trace/options/value';
import { Tracer } from './trace/tracer';

const STDOUT = 1;

/**
 * Traces every asynchronous operation of this thread, as newline-delimited JSON.
 *
 * @param destination a writable stream, the path of a file, or a file descriptor; 1, standard output, by default
 * @param options see TracerOptions; alone they may stand first
 * @throws TracerError ERR_ASYNC_TRACER_UNKNOWN_OPTION, ERR_ASYNC_TRACER_OPTION, ERR_ASYNC_TRACER_DESTINATION or
 * ERR_ASYNC_TRACER_UNSUPPORTED; nothing is left open or listening then
 */
export function asyncTracer(destination?: Target, options?: TracerOptions): Tracer;
export function asyncTracer(options: TracerOptions): Tracer;
export function asyncTracer(first?: Target | TracerOptions, second?: TracerOptions): Tracer {
  if (first === undefined) {
    return new Tracer(STDOUT, resolveOptions(second));
  }
  if (typeof first === 'string' || typeof first === 'number' || isStream(first)) {
    return new Tracer(first as Target, resolveOptions(second));
  }
  if (isPlain(first) && second === undefined) {
    return new Tracer(STDOUT, resolveOptions(first));
  }
  throw new TracerError(
    'ERR_ASYNC_TRACER_DESTINATION',
    `The destination must be a writable stream, a path, a file descriptor or nothing; got ${told(first)}.`,
  );
}

/** With what to do where that is known. */
function told(given: unknown): string {
  if (given instanceof URL) {
    return 'a URL (give fileURLToPath(url))';
  }
  const isReadable = typeof (given as { pipe?: unknown } | null)?.pipe === 'function';
  return isReadable ? 'a stream that can only be read' : show(given);
}
