/** The flags of `run`: one for each option of the library, made from its table and handed on as variables. */
import { TracerError } from '../../errors';
import { type OptionSpec, settings } from '../arguments/settings';

/** `flush-interval` for flushInterval. */
export function flagOf(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

/** Whether the flag may stand alone: then it means true, and a word that follows is its value only where it is a LITERAL. */
export function standsAlone(spec: OptionSpec): boolean {
  return spec.kind === 'switch';
}

/** What nobody calls a program: behind a flag that may stand alone it is the value. */
const LITERAL = /^(?:true|false|\d+|\{.*)$/s;

let byFlag: ReadonlyMap<string, OptionSpec> | undefined;

/** The options of the trace by their flags. Made where they are asked for: `run` alone needs them. */
function specs(): ReadonlyMap<string, OptionSpec> {
  byFlag ??= new Map(settings().OPTIONS.map((spec) => [flagOf(spec.name), spec]));
  return byFlag;
}

/** Whether it is one of the trace, which `variablesOf` looks at. */
export function isTraceFlag(flag: string): boolean {
  return specs().has(flag);
}

/** Of a line of help: what may be given, where that is not a plain yes or no. */
function describe({ summary, text }: OptionSpec): string {
  return text === 'true or false' ? summary : `${summary} (${text})`;
}

/** What yargs shows of them. Their values stay text: the table reads and checks it. */
export function traceFlags(group: string): Record<string, object> {
  return Object.fromEntries(
    [...specs()].map(([flag, spec]) => [
      flag,
      {
        group,
        describe: describe(spec),
        // The one default that differs here: see register.ts.
        defaultDescription: spec.name === 'header' ? 'true' : spec.default,
        requiresArg: !standsAlone(spec),
      },
    ]),
  );
}

/** What an option is called in a message: as the person gave it. */
export function nameIn(given: Readonly<Record<string, unknown>>): (name: string) => string {
  return (name) => (given[flagOf(name)] === undefined ? settings().variableOf(name) : `--${flagOf(name)}`);
}

/** The words of the command line, taken apart. */
export interface RunWords {
  /** For yargs: each flag of the trace with its value in the same word. */
  flags: string[];
  program: string[];
}

/**
 * Finds where the program begins: after `--`, or at the first word that is neither a flag nor the value of one. What
 * follows is the program's own, whatever it looks like.
 *
 * @param values the flags that take the next word as their value, beside those of the table
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
 * Why there is no program, where the last flag has taken the last word for its value: `--for app.js`. The value itself is
 * looked at by nobody then.
 */
export function takenWord(flags: readonly string[]): string {
  const [flag, value] = flags.slice(-2);
  return value === undefined || value.startsWith('-')
    ? ''
    : `${JSON.stringify(value)} was taken for the value of ${flag}`;
}

/**
 * The variables that say the same to the program. Checked here, where nothing has begun yet.
 *
 * @param environment of the program: its own ASYNC_TRACER_* variables are in force where no flag is given
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

/** A flag given more than once: a list where the option is one. */
function joined(flag: string, spec: OptionSpec, values: readonly unknown[]): string {
  if (spec.kind !== 'list') {
    throw new TracerError(
      'ERR_ASYNC_TRACER_USAGE',
      `--${flag} was given ${values.length} times; once is enough.`,
    );
  }
  return values.join(',');
}
