/**
 * The options: one table from which come the checks, the defaults, the ASYNC_TRACER_* variables, the flags of
 * `async-tracer run` and the table of the README.
 */

export { parseDuration } from './duration';
export { nearest } from './nearest-name';
export { isResolved, isSelected, resolveOptions } from './resolve';
export { OPTIONS, type OptionSpec } from './table';
export type { ContextOptions, Matcher, ResolvedOptions, TracerOptions } from './tracer-options';
export { isPlain, show } from './value';
export { optionsFromEnvironment, variableOf } from './variables';
