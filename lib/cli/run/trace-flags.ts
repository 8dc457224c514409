/** The flags of `run`: one for each option of the library, made from its table and passed to the program as variables. */
import { TracerError } from '../../errors';
import { type OptionSpec, settings } from '../arguments/settings';

/** `flush-interval` for flushInterval. */
export function flagOf(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

/** Whether the flag may stand alone. It means true then, and the next word is its value only where it is a LITERAL. */
export function standsAlone(spec: OptionSpec): boolean {
  return spec.kind === 'switch';
}

/** No program has such a name, so behind a flag that may stand alone it is the value. */
const LITERAL = /^(?:true|false|\d+|\{.*)$/s;

let byFlag: ReadonlyMap<string, OptionSpec> | undefined;

/** The options of the trace by their flags. Made where they are asked for: `run` alone needs them. */
function specs(): ReadonlyMap<string, OptionSpec> {
  byFlag ??= new Map(settings().OPTIONS.map((spec) => [flagOf(spec.name), spec]));
  return byFlag;
}

/** Whether it is the flag of an option, which `variablesOf` checks. */
export function isTraceFlag(flag: string): boolean {
  return specs().has(flag);
}

/** The line of help; with the accepted values where they are more than true and false. */
function describe({ summary, text }: OptionSpec): string {
  return text === 'true or false' ? summary : `${summary} (${text})`;
}

/** The flags for yargs. Their values stay text, which the table of options parses and checks. */
export function traceFlags(group: string): Record<string, object> {
  return Object.fromEntries(
    [...specs()].map(([flag, spec]) => [
      flag,
      {
        group,
        describe: describe(spec),
        // The one default that differs under `run`: see register.ts.
        defaultDescription: spec.name === 'header' ? 'true' : spec.default,
        requiresArg: !standsAlone(spec),
      },
    ]),
  );
}

/** The name of an option in a message: the flag or the variable by which it was given. */
export function nameIn(given: Readonly<Record<string, unknown>>): (name: string) => string {
  return (name) => (given[flagOf(name)] === undefined ? settings().variableOf(name) : `--${flagOf(name)}`);
}

/** The words of the command line, split. */
export interface RunWords {
  /** For yargs: each flag with its value in the same word. */
  flags: string[];
  program: string[];
}

/**
 * The program begins after `--`, or at the first word that is neither a flag nor the value of one. All words that follow
 * belong to the program, also those that look like flags.
 *
 * @param values more flags that take the next word as their value
 */
export function splitWords(words: readonly string[], values: readonly string[]): RunWords {
  const flags: string[] = [];
  for (let i = 0; i < words.length; i++) {
    const word = words[i];
    if (word === '--') {
      return { flags, program: words.slice(i + 1) };
    }
    if (!word.startsWith('-') || word === '-') {
      return { flags, program: words.slice(i) };
    }
    const bare = word.replace(/^--/, '');
    const spec = specs().get(bare);
    const negated = specs().get(bare.replace(/^no-/, ''));
    if (spec !== undefined && standsAlone(spec) && LITERAL.test(words[i + 1] ?? '')) {
      flags.push(`${word}=${words[++i]}`);
    } else if (spec !== undefined && standsAlone(spec)) {
      flags.push(`${word}=true`);
    } else if (spec === undefined && negated !== undefined && standsAlone(negated)) {
      flags.push(`--${flagOf(negated.name)}=false`);
    } else {
      flags.push(word);
      if ((spec !== undefined || values.includes(word)) && i + 1 < words.length) {
        flags.push(words[++i]);
      }
    }
  }
  return { flags, program: [] };
}

/**
 * Why there is no program, where the last flag took the last word as its value: `--for app.js`. Without a program nothing
 * else checks that value.
 */
export function wordTakenAsValue(flags: readonly string[]): string {
  const [flag, value] = flags.slice(-2);
  if (value === undefined || value.startsWith('-')) {
    return '';
  }
  const example = ['--for', '--after'].includes(flag)
    ? `. Give a duration first: async-tracer run ${flag} 5s ${value}`
    : '';
  return `${JSON.stringify(value)} was taken for the value of ${flag}${example}`;
}

/**
 * The flags as variables for the program. They are checked here, before anything has started.
 *
 * @param environment of the program: its ASYNC_TRACER_* variables apply where no flag is given
 * @throws TracerError ERR_ASYNC_TRACER_OPTION, ERR_ASYNC_TRACER_USAGE
 */
export function variablesOf(
  given: Readonly<Record<string, unknown>>,
  environment: NodeJS.ProcessEnv,
): Record<string, string> {
  const variables: Record<string, string> = {};
  for (const [flag, spec] of specs()) {
    const value = given[flag];
    if (value === '') {
      throw new TracerError('ERR_ASYNC_TRACER_USAGE', `The option --${flag} needs a value.`);
    }
    if (value !== undefined) {
      variables[settings().variableOf(spec.name)] = Array.isArray(value)
        ? joined(flag, spec, value)
        : String(value);
    }
  }
  settings().resolveOptions(
    settings().optionsFromEnvironment({ ...environment, ...variables }, nameIn(given)),
  );
  return variables;
}

/** A flag that was given more than once; only options that are lists allow that. */
function joined(flag: string, spec: OptionSpec, values: readonly unknown[]): string {
  if (spec.kind !== 'list') {
    throw new TracerError(
      'ERR_ASYNC_TRACER_USAGE',
      `--${flag} was given ${values.length} times; once is enough.`,
    );
  }
  return values.join(',');
}
