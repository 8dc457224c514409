/**
 * What the command and the traced program read alike: options, durations, patterns of the output. The command takes them
 * from here, through the public API, since the package holds no single compiled file of trace/.
 */
export {
  nearest,
  OPTIONS,
  optionsFromEnvironment,
  parseDuration,
  resolveOptions,
  variableOf,
} from './options';
export { knownNames, nearestName } from './options/known-names';
export { DEFAULT_OUTPUT, LOGS_FILE, outputOf, resolveOutput } from './preload/output';
