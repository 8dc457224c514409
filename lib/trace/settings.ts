/**
 * What `async-tracer run` and the traced program read alike: options, durations, patterns of the output. The command takes
 * them from here, through the public API, since the package holds no single compiled file of trace/.
 */
export { OPTIONS, type OptionSpec, optionsFromEnvironment, resolveOptions, variableOf } from './options';
export { parseDuration } from './options/duration';
export { nearest } from './options/nearest-name';
export { DEFAULT_OUTPUT, LOGS_FILE, outputOf, resolveOutput } from './preload/output';
