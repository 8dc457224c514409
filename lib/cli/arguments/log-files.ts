/** The arguments of every command that reads logs: LOG..., --json and --code. */
import type { Argv } from 'yargs';
import { TracerError } from '../../errors';

export interface LogArguments {
  log: string[] | undefined;
  json: boolean | undefined;
  code: string | undefined;
}

/** Replaces `-` before yargs sees it: yargs drops that word. */
export const STDIN_WORD = '\0stdin';

export function jsonOption<T>(yargs: Argv<T>, describe = 'print the whole report as JSON'): Argv<T> {
  return yargs.option('json', { describe, type: 'boolean' }) as never;
}

/** The flags of every command that answers. */
export function answerOptions<T>(yargs: Argv<T>): Argv<T> {
  return jsonOption(yargs).option('code', {
    describe: 'whose lines are named. user: your own before those of packages; all: the nearest',
    defaultDescription: 'user',
    requiresArg: true,
  }) as never;
}

/** The beginning of a command's help. */
export function usageOf(command: string, text: string): string {
  return `Usage: $0 ${command} [options] LOG...\n\n${text}\n\nA LOG is a file, also a .gz or one that still grows, or - for standard input;\nseveral are read as one.`;
}

/**
 * The logs that were named. Without names it is standard input, unless that is a terminal.
 *
 * @throws TracerError ERR_ASYNC_TRACER_USAGE where no log was named and standard input is a terminal
 */
export function sourcesOf(log: readonly string[] | undefined): string[] {
  const given = (log ?? []).map((word) => (word === STDIN_WORD ? '-' : word));
  if (given.length === 0 && process.stdin.isTTY) {
    throw new TracerError(
      'ERR_ASYNC_TRACER_USAGE',
      'No log was given: name its files, or - for standard input.',
    );
  }
  return given.length === 0 ? ['-'] : given;
}
