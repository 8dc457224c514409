#!/usr/bin/env node
/** The command: parses its words, runs one command, and reports failures. */
import { TracerError } from '../errors';
import { examples, withoutTypes } from './arguments/help';
import { STDIN_WORD } from './arguments/log-files';
import { checkCommand, checkOnce, usageError } from './arguments/usage-error';
import { COMMAND_NAMES, LOG_COMMANDS, REPEATABLE } from './commands/all';
import { COMPLETION_HELP, chooseShell } from './commands/completion';
import { runCommand, VALUE_FLAGS } from './commands/run';
import { isTraceFlag, splitWords } from './run/trace-flags';
import { outputError, print, printError, printMessage } from './terminal/output';
import { clean } from './terminal/text';

const USAGE = 2;
const FAILURE = 1;
/** Longer lines of help are hard to follow. */
const HELP_WIDEST = 100;
const { version }: { version: string } = require('../../../package.json');

async function main(words: readonly string[]): Promise<void> {
  const [command] = words;
  checkCommand(command, COMMAND_NAMES);
  if (command === 'completion') {
    if (words[1] === '--help' || words[1] === '-h') {
      print(COMPLETION_HELP);
      return;
    }
    chooseShell(words[1]);
  }
  const isRun = command === 'run';
  const runWords = isRun ? splitWords(words.slice(1), VALUE_FLAGS) : { flags: [], program: [] };
  // By import(), since yargs is ESM only and Node 20 may warn of require(esm).
  const { default: yargs } = await import('yargs');
  const all = isRun ? ['run', ...runWords.flags] : words.map((word) => (word === '-' ? STDIN_WORD : word));
  const parser = yargs(all)
    .scriptName('async-tracer')
    .locale('en')
    .usage(
      'Usage: $0 <command>\n\nTraces every asynchronous operation of a Node.js program, and answers questions\nabout it.',
    )
    .command(runCommand(runWords) as never)
    .command(LOG_COMMANDS as never)
    .completion('completion', 'print a script for completion, of bash or zsh')
    .epilogue(
      `${examples([
        ['async-tracer run --stacks --summary app.js', 'trace a program'],
        ['async-tracer leaks *.ndjson', 'why it does not exit'],
        ['async-tracer slow *.ndjson', 'what held the event loop'],
      ])}\n\nHelp on a command: async-tracer <command> --help`,
    )
    .parserConfiguration({
      'camel-case-expansion': false,
      'dot-notation': false,
      'parse-numbers': false,
      'parse-positional-numbers': false,
      'boolean-negation': false,
    })
    .strict()
    .middleware((given) => checkOnce(given, (flag) => REPEATABLE.includes(flag) || isTraceFlag(flag)))
    .version(version)
    .alias('help', 'h')
    .wrap(Math.min(process.stdout.columns ?? 80, HELP_WIDEST))
    .exitProcess(false)
    .fail((message, error) => {
      // Not in the types of yargs: all options that are known at this point.
      const { key } = (parser as unknown as { getOptions(): { key: object } }).getOptions();
      if (error && error.name !== 'YError') {
        throw error;
      }
      throw usageError(
        message ?? error.message,
        command?.startsWith('-') ? undefined : command,
        Object.keys(key),
      );
    });
  if (command === 'completion') {
    parser.showCompletionScript();
    return;
  }
  let help = '';
  await parser.parseAsync(all, {}, (_error: unknown, _given: unknown, output: string) => {
    help = output;
  });
  if (help !== '') {
    print(`${withoutTypes(help)}\n`);
  }
}

/** Prints the failure to standard error and sets the exit code. */
function fail(error: unknown, command: string | undefined): void {
  if (!(error instanceof TracerError)) {
    const { stack } = error as Error;
    printError(`async-tracer: ${stack ?? String(error)}\n`);
    process.exitCode = FAILURE;
    return;
  }
  const { code, message } = error;
  // The name of a file may hold an escape sequence that clears the screen.
  printMessage(`${clean(message)} [${code}]`);
  if (isUsageError(code)) {
    const help = command !== undefined && COMMAND_NAMES.includes(command) ? `${command} --help` : '--help';
    printError(`Try: async-tracer ${help}\n`);
  }
  process.exitCode ??= isUsageError(code) ? USAGE : FAILURE;
}

/** Whether the words of the command are wrong, or the variables that stand for some of them. */
function isUsageError(code: string): boolean {
  return /USAGE$|OPTION$/.test(code);
}

/** People try `help` and `help run` first: both become --help. */
function helpAsFlag(given: readonly string[]): readonly string[] {
  return given[0] === 'help' ? [...given.slice(1), '--help'] : given;
}

const words = helpAsFlag(process.argv.slice(2));

process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // EPIPE is no failure: the reader has enough, as in `| head`.
  if (error.code !== 'EPIPE') {
    fail(outputError(error), words[0]);
  }
  process.exit();
});

// There is no other place to print to.
process.stderr.on('error', () => {});

let isOver = false;
// A promise that never settles lets the process end with code 0 and without an answer, which looks like success.
process.once('beforeExit', () => {
  if (!isOver) {
    fail(new Error('ended without an answer'), words[0]);
  }
});

main(words)
  .catch((error) => fail(error, words[0]))
  .finally(() => {
    isOver = true;
  });
