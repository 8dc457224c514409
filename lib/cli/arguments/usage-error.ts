/** Words that mean nothing, and what was perhaps meant. */
import { existsSync } from 'node:fs';
import { TracerError } from '../../errors';
import { settings } from './settings';

/** Of a single letter nothing can be said: every other one is as near. */
function meant(word: string, known: readonly string[], prefix: string): string {
  const near =
    word.length === 1
      ? undefined
      : settings().nearest(
          word,
          known.filter(({ length }) => length > 1),
        );
  return near === undefined ? '' : ` Is ${prefix}${near} meant?`;
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
    : `There is no command ${JSON.stringify(word)}.${meant(word, commands, '')} ${list}`;
  throw new TracerError('ERR_ASYNC_TRACER_USAGE', what);
}

/**
 * Of a flag that was given twice yargs makes a list, which only some can be.
 *
 * @param isList whether the flag may be one, or is looked at elsewhere
 * @throws TracerError ERR_ASYNC_TRACER_USAGE
 */
export function checkOnce(given: Readonly<Record<string, unknown>>, isList: (flag: string) => boolean): void {
  for (const [flag, value] of Object.entries(given)) {
    // `_` is yargs' own, and what has one letter is there under its long name too.
    if (Array.isArray(value) && flag.length > 1 && !isList(flag)) {
      throw new TracerError(
        'ERR_ASYNC_TRACER_USAGE',
        `--${flag} was given ${value.length} times; once is enough.`,
      );
    }
  }
}

/** What yargs has found wrong, in our words. */
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
          .map((name) => `There is no option ${dashes(name)}${of}.${meant(name, options, '--')}`)
          .join(' ')
      : missing !== null
        ? `The option ${dashes(missing[1])} needs a value.`
        : message.replace(/\.?$/, '.');
  return new TracerError('ERR_ASYNC_TRACER_USAGE', text);
}

function dashes(name: string): string {
  return name.length === 1 ? `-${name}` : `--${name}`;
}
