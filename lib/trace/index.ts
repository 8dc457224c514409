/**
 * The public API of the write side: all that the package's entry points take from it. The build puts what this file
 * imports into it (.build/bundle.mjs), so an entry point that imported another file of trace/ would get a second instance.
 *
 * Every form of the call becomes a target and resolved options here.
 */
import { TracerError } from '../errors';
import { isStream, type Target } from './destination/open';
import { resolveOptions } from './options/resolve';
import type { TracerOptions } from './options/tracer-options';
import { isPlain, show } from './options/value';
import type * as Preload from './preload/preload';
import type * as Settings from './settings';
import { Tracer } from './tracer/tracer';

export type { OptionSpec } from './options/table';
export type { ContextOptions, Matcher, TracerOptions } from './options/tracer-options';
export { isPlain, show } from './options/value';
export { runAsOwnTagged } from './runtime/own-operations';
export { Tracer, type TracerStats } from './tracer/tracer';

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
    `The destination must be a writable stream, a path, a file descriptor or nothing; got ${describe(first)}.`,
  );
}

/**
 * Starts the tracer that `register` asks for. See preload.ts.
 *
 * @param print prints a line for the user
 */
export function preload(environment: NodeJS.ProcessEnv, print: (line: string) => void): Tracer | undefined {
  return (require('./preload/preload') as typeof Preload).start(asyncTracer, environment, print);
}

/** For the command: what it reads as the traced program does. */
export const settings = (): typeof Settings => require('./settings');

/** What came, and what to give instead where that is known. */
function describe(given: unknown): string {
  if (given instanceof URL) {
    return 'a URL (give fileURLToPath(url))';
  }
  const isReadable = typeof (given as { pipe?: unknown } | null)?.pipe === 'function';
  return isReadable ? 'a stream that can only be read' : show(given);
}
