/** Wrong words and flags: what is refused, and the nearest known word. */
import { existsSync } from 'node:fs';
import { TracerError } from '../../errors';
import { suggestion } from './known-names';
import { settings } from './settings';

/** A single letter gets no suggestion: every other letter is equally near. */
function suggestionFor(word: string, known: readonly string[], prefix: string): string {
  const near =
    word.length === 1
      ? undefined
      : settings().nearest(
          word,
          known.filter(({ length }) => length > 1),
        );
  return suggestion(near === undefined ? undefined : `${prefix}${near}`);
}

/** @throws TracerError ERR_ASYNC_TRACER_USAGE where the first word is no command */
export function checkCommand(word: string | undefined, commands: readonly string[]): void {
  const list = `The commands are ${commands.join(', ')}.`;
  if (word === undefined) {
    throw new TracerError('ERR_ASYNC_TRACER_USAGE', `A command is needed. ${list}`);
  }
  if (word.startsWith('-') || commands.includes(word)) {
    return;
  }
  const what = existsSync(word)
    ? `A command must stand before the file, as in: async-tracer ${/\.[cm]?[jt]sx?$/.test(word) ? 'run' : 'stats'} ${word}`
    : `There is no command ${JSON.stringify(word)}.${suggestionFor(word, commands, '')} ${list}`;
  throw new TracerError('ERR_ASYNC_TRACER_USAGE', what);
}

/**
 * Refuses a flag that was given twice: yargs makes a list of it, which only some flags can be.
 *
 * @param isList whether the flag may be a list, or is checked elsewhere
 * @throws TracerError ERR_ASYNC_TRACER_USAGE
 */
export function checkOnce(given: Readonly<Record<string, unknown>>, isList: (flag: string) => boolean): void {
  for (const [flag, value] of Object.entries(given)) {
    // `_` belongs to yargs, and a flag of one letter is also there under its long name.
    if (Array.isArray(value) && flag.length > 1 && !isList(flag)) {
      throw new TracerError(
        'ERR_ASYNC_TRACER_USAGE',
        `--${flag} was given ${value.length} times; once is enough.`,
      );
    }
  }
}

/** An error of yargs, in our words. */
export function usageError(
  message: string,
  command: string | undefined,
  options: readonly string[],
): TracerError {
  const unknown = /^Unknown arguments?: (.*)$/.exec(message);
  const missing = /^Not enough arguments following: (.*)$/.exec(message);
  const of = command === undefined ? '' : ` for ${command}`;
  const text =
    unknown !== null
      ? unknown[1]
          .split(', ')
          .map((name) => `There is no option ${withDashes(name)}${of}.${suggestionFor(name, options, '--')}`)
          .join(' ')
      : missing !== null
        ? `The option ${withDashes(missing[1])} needs a value.`
        : message.replace(/\.?$/, '.');
  return new TracerError('ERR_ASYNC_TRACER_USAGE', text);
}

function withDashes(name: string): string {
  return name.length === 1 ? `-${name}` : `--${name}`;
}
