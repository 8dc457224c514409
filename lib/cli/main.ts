#!/usr/bin/env node
/** The command: what its words mean, and how it fails. */
import { TracerError } from '../errors';
import { STDIN_WORD } from './answer';
import { splitWords } from './flags';
import { leaksCommand } from './leaks';
import { runCommand, VALUE_FLAGS } from './run';
import { slowCommand } from './slow';
import { statsCommand } from './stats';

const USAGE = 2;
const FAILURE = 1;
const WIDEST = 100;
const { version }: { version: string } = require('../../../package.json');

async function main(words: readonly string[]): Promise<void> {
  const isRun = words[0] === 'run';
  const { flags, program } = isRun ? splitWords(words.slice(1), VALUE_FLAGS) : { flags: [], program: [] };
  // ESM only: by import(), since Node 20 may warn of require(esm).
  const { default: yargs } = await import('yargs');
  const parser = yargs(isRun ? ['run', ...flags] : words.map((word) => (word === '-' ? STDIN_WORD : word)))
    .scriptName('async-tracer')
    .locale('en')
    .usage(
      'Usage: $0 <command>\n\nTraces every asynchronous operation of a Node.js program, and answers questions about it.',
    )
    .command(runCommand(program) as never)
    .command(statsCommand as never)
    .command(leaksCommand as never)
    .command(slowCommand as never)
    .completion('completion', 'print a script for the completion of bash or zsh')
    .parserConfiguration({
      'camel-case-expansion': false,
      'dot-notation': false,
      'parse-numbers': false,
      'parse-positional-numbers': false,
      'boolean-negation': false,
    })
    .strict()
    .demandCommand(1, 1, 'a command is needed')
    .version(version)
    .alias('help', 'h')
    .wrap(Math.min(process.stdout.columns ?? 80, WIDEST))
    .exitProcess(false)
    .fail((message, error) => {
      throw error ?? new TracerError('ERR_ASYNC_TRACER_USAGE', message);
    });
  await parser.parseAsync();
}

function explain(error: unknown): void {
  const { code, message, stack } = error as TracerError;
  if (!(error instanceof TracerError)) {
    process.stderr.write(`async-tracer: ${stack ?? String(error)}\n`);
    process.exitCode = FAILURE;
    return;
  }
  process.stderr.write(`async-tracer: ${message} [${code}]\n`);
  if (code === 'ERR_ASYNC_TRACER_USAGE') {
    process.stderr.write('Try: async-tracer --help\n');
  }
  const isUsage = code === 'ERR_ASYNC_TRACER_USAGE' || /OPTION$/.test(code);
  process.exitCode ??= isUsage ? USAGE : FAILURE;
}

/** The reader of our output has enough: | head. */
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') {
    explain(error);
  }
  process.exit();
});

main(process.argv.slice(2)).catch(explain);
