#!/usr/bin/env node
/** The command: what its words mean, and how it fails. */
import { TracerError } from '../errors';
import { examples, tidy } from './arguments/help';
import { checkCommand, checkOnce, usageError } from './arguments/usage-error';
import { STDIN_WORD } from './commands/answer';
import { leaksCommand } from './commands/leaks';
import { runCommand, VALUE_FLAGS } from './commands/run';
import { slowCommand } from './commands/slow';
import { statsCommand } from './commands/stats';
import { treeCommand } from './commands/tree';
import { isTraceFlag, splitWords } from './run/trace-flags';
import { note, print, say, unprinted } from './terminal/output';
import { clean } from './terminal/text';

const USAGE = 2;
const FAILURE = 1;
/** Help is read in lines, and longer ones are hard to follow. */
const HELP_WIDEST = 100;
const COMMANDS = ['run', 'stats', 'leaks', 'tree', 'slow', 'completion'];
/** Words and flags of the commands that may be several. */
const LISTS = ['log', 'allow'];
const { version }: { version: string } = require('../../../package.json');

const COMPLETION = `Usage: async-tracer completion [bash|zsh]

Prints a script for completion, of the shell that is named or of the login.

${examples([
  ['source <(async-tracer completion bash)', 'for this shell'],
  ['async-tracer completion zsh >> ~/.zshrc', 'for all to come'],
])}
`;

async function main(words: readonly string[]): Promise<void> {
  const [command] = words;
  checkCommand(command, COMMANDS);
  if (command === 'completion') {
    if (words[1] === '--help' || words[1] === '-h') {
      print(COMPLETION);
      return;
    }
    chooseShell(words[1]);
  }
  const isRun = command === 'run';
  const taken = isRun ? splitWords(words.slice(1), VALUE_FLAGS) : { flags: [], program: [] };
  // ESM only: by import(), since Node 20 may warn of require(esm).
  const { default: yargs } = await import('yargs');
  const all = isRun ? ['run', ...taken.flags] : words.map((word) => (word === '-' ? STDIN_WORD : word));
  const parser = yargs(all)
    .scriptName('async-tracer')
    .locale('en')
    .usage(
      'Usage: $0 <command>\n\nTraces every asynchronous operation of a Node.js program, and answers questions\nabout it.',
    )
    .command(runCommand(taken) as never)
    .command(statsCommand as never)
    .command(leaksCommand as never)
    .command(treeCommand as never)
    .command(slowCommand as never)
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
    .middleware((given) => checkOnce(given, (flag) => LISTS.includes(flag) || isTraceFlag(flag)))
    .version(version)
    .alias('help', 'h')
    .wrap(Math.min(process.stdout.columns ?? 80, HELP_WIDEST))
    .exitProcess(false)
    .fail((message, error) => {
      // Not in its types: all options that stand at this point.
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
  let printed = '';
  await parser.parseAsync(all, {}, (_error: unknown, _given: unknown, output: string) => {
    printed = output;
  });
  if (printed !== '') {
    print(`${tidy(printed)}\n`);
  }
}

/** yargs writes for the shell that these variables name: that of the login, which may not be the one in use. */
function chooseShell(shell: string | undefined): void {
  if (shell === undefined) {
    return;
  }
  if (shell !== 'bash' && shell !== 'zsh') {
    throw new TracerError(
      'ERR_ASYNC_TRACER_USAGE',
      `There is completion for bash and zsh; got ${JSON.stringify(shell)}.`,
    );
  }
  process.env['SHELL'] = shell;
  delete process.env['ZSH_NAME'];
}

function explain(error: unknown, command: string | undefined): void {
  if (!(error instanceof TracerError)) {
    const { stack } = error as Error;
    note(`async-tracer: ${stack ?? String(error)}\n`);
    process.exitCode = FAILURE;
    return;
  }
  const { code, message } = error;
  // A file may be named so as to clear the screen.
  say(`${clean(message)} [${code}]`);
  if (isMistake(code)) {
    const help = command !== undefined && COMMANDS.includes(command) ? `${command} --help` : '--help';
    note(`Try: async-tracer ${help}\n`);
  }
  process.exitCode ??= isMistake(code) ? USAGE : FAILURE;
}

/** Whether the words of the command are wrong, or the variables that stand for some of them. */
function isMistake(code: string): boolean {
  return /USAGE$|OPTION$/.test(code);
}

/** `help` and `help run` are what people try first. */
function asFlag(given: readonly string[]): readonly string[] {
  return given[0] === 'help' ? [...given.slice(1), '--help'] : given;
}

const words = asFlag(process.argv.slice(2));

/** The reader of our output has enough: | head. */
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') {
    explain(unprinted(error), words[0]);
  }
  process.exit();
});

/** Nobody can be told. */
process.stderr.on('error', () => {});

let isOver = false;
/** Where nothing is left to wait for, and the answer has not come, silence would pass for success. */
process.once('beforeExit', () => {
  if (!isOver) {
    explain(new Error('ended without an answer'), words[0]);
  }
});

main(words)
  .catch((error) => explain(error, words[0]))
  .finally(() => {
    isOver = true;
  });
