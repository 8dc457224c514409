/** `async-tracer run`: a program under trace. */
import { accessSync, constants, mkdirSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { CommandModule } from 'yargs';
import { TracerError } from '../../errors';
import { checkWritable } from '../../report';
import { examples } from '../arguments/help';
import { refuseOverwrite } from '../arguments/output-path';
import { settings } from '../arguments/settings';
import { printEnding, printLogs, unreportedLogs } from '../run/exit-messages';
import { commandOf, type Ending, endLike, nodeOptions, runProgram, startFailureCode } from '../run/program';
import { openSession } from '../run/session';
import { printSummary } from '../run/summary';
import { nameIn, type RunWords, traceFlags, variablesOf, wordTakenAsValue } from '../run/trace-flags';
import { printUnmatched } from '../run/unmatched-names';
import { printMessage } from '../terminal/output';
import { DEFAULT_REPORT, writeReport } from './make-report';

/** The flags of `run` that take the next word as their value. The options of the library are in trace-flags.ts. */
export const VALUE_FLAGS: readonly string[] = ['-o', '--output', '--after', '--for'];

const REGISTER = join(__dirname, '../..', 'register.js');
const RUN = 'The run:';

interface RunArguments {
  output: string;
  after: string | undefined;
  for: string | undefined;
  summary: boolean;
  /** True where the flag stands alone. */
  report: string | true | undefined;
  quiet: boolean;
  [flag: string]: unknown;
}

/** @param words see `splitWords` */
export function runCommand(words: RunWords): CommandModule<object, RunArguments> {
  return {
    command: 'run',
    describe: 'run a program under trace',
    builder: (yargs) =>
      yargs
        .usage(
          'Usage: $0 run [options] [--] app.js [arguments]\n\nRuns a program under trace: a script, flags of node and a script, or a command\nsuch as npm. Standard streams, exit code and signals pass through. What child\nprocesses and worker threads do is traced too, each in a log of its own.\n\nWhat is true or false may stand alone, or as --no-NAME: --no-promises. Variables\nsay the same: ASYNC_TRACER_PROMISES=false. Flags of node stand behind --.',
        )
        .options({
          output: {
            group: RUN,
            alias: 'o',
            describe:
              'where the logs go: a path, in which %p stands for the process id, %t for the thread id; without them, logs of other processes and threads have .PID-THREAD before the extension',
            defaultDescription: settings().DEFAULT_OUTPUT.replaceAll('%%', '%'),
            requiresArg: true,
          },
          after: {
            group: RUN,
            describe: 'begin to trace after this time, as in 500ms, 2s, 5m',
            requiresArg: true,
          },
          for: { group: RUN, describe: 'trace for this time only, as in 500ms, 2s, 5m', requiresArg: true },
          summary: { group: RUN, describe: 'say at the end what ran and what to look at', boolean: true },
          report: {
            group: RUN,
            describe: 'make the page of async-tracer report at the end; --report=FILE names it',
            defaultDescription: DEFAULT_REPORT,
          },
          quiet: { group: RUN, alias: 'q', describe: 'say nothing of the logs at the end', boolean: true },
        })
        .options(traceFlags('The trace:'))
        .epilogue(
          examples([
            ['async-tracer run app.js', 'one log a process and thread'],
            ['async-tracer run --stacks=10 --summary app.js', 'with call sites'],
            ['async-tracer run -o trace.ndjson -- npm test', 'what npm starts'],
            ['async-tracer run -- --import tsx app.ts', 'flags of node first'],
            ['async-tracer run --after 10s --for 2s server.js', 'a window of time'],
          ]),
        ) as never,
    handler: (given) => run(given, words),
  };
}

async function run(given: RunArguments, { flags, program }: RunWords): Promise<void> {
  if (program.length === 0) {
    const taken = wordTakenAsValue(flags);
    throw new TracerError(
      'ERR_ASYNC_TRACER_USAGE',
      `run needs the program that is to run${taken === '' ? ', as in: async-tracer run app.js' : `; ${taken}.`}`,
    );
  }
  const environment = environmentFor(given, process.env);
  checkOutput(environment);
  if (given.report !== undefined) {
    checkWritable(resolve(reportPath(given.report)));
    refuseOverwrite(reportPath(given.report), program);
  }
  const session = openSession();
  let ending: Ending;
  const began = Date.now();
  try {
    try {
      ending = await runProgram(commandOf(program), { ...environment, ...session.variables });
    } catch (error) {
      process.exitCode = startFailureCode(error as TracerError);
      throw error;
    }
    const reported = session.logs();
    const logs = reported.length > 0 ? reported : unreportedLogs(environment, ending, began);
    if (!given.quiet) {
      printLogs(logs, environment, program);
      printEnding(ending, environment);
      await attempt('it is not known what include and exclude matched', () =>
        printUnmatched(logs, environment, nameIn(given)),
      );
    }
    if (given.summary && logs.length > 0) {
      await attempt('there is no summary', () => printSummary(logs));
    }
    if (given.report !== undefined && logs.length > 0) {
      await attempt('there is no report', () => writeReport(logs, reportPath(given.report)));
    }
  } finally {
    session.close();
  }
  endLike(ending);
}

function reportPath(report: RunArguments['report']): string {
  return typeof report === 'string' && report !== '' ? report : DEFAULT_REPORT;
}

/** The program may have damaged or removed its log. Its exit code must pass through all the same. */
async function attempt(failure: string, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    printMessage(`${failure}: ${(error as Error).message}`);
  }
}

function environmentFor(given: RunArguments, inherited: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const environment: NodeJS.ProcessEnv = { ...inherited, ...variablesOf(given, inherited) };
  const output = given.output ?? (inherited['ASYNC_TRACER_OUTPUT'] || settings().DEFAULT_OUTPUT);
  environment['ASYNC_TRACER_OUTPUT'] = settings().resolveOutput(output, process.cwd());
  for (const flag of ['after', 'for'] as const) {
    const text = given[flag];
    if (text !== undefined) {
      settings().parseDuration(text, `--${flag}`);
      environment[`ASYNC_TRACER_${flag.toUpperCase()}`] = text;
    }
  }
  environment['NODE_OPTIONS'] = nodeOptions(REGISTER, inherited['NODE_OPTIONS']);
  return environment;
}

/** Checked before the program starts: where its log cannot be written, it would run on untraced. */
function checkOutput(environment: NodeJS.ProcessEnv): void {
  const folder = dirname(String(environment['ASYNC_TRACER_OUTPUT']).replaceAll('%%', '%'));
  // Placeholders in the names of folders are known only inside the program.
  if (/%[pt]/.test(dirname(environment['ASYNC_TRACER_OUTPUT'] as string))) {
    return;
  }
  const refuse = (why: string): never => {
    throw new TracerError('ERR_ASYNC_TRACER_DESTINATION', `The logs cannot be written to ${folder}: ${why}.`);
  };
  if (settings().resolveOptions(settings().optionsFromEnvironment(environment)).mkdir) {
    try {
      mkdirSync(folder, { recursive: true });
    } catch (error) {
      refuse((error as Error).message);
    }
  }
  const kind = statSync(folder, { throwIfNoEntry: false });
  if (kind === undefined) {
    refuse('there is no such folder; make it, or add --mkdir');
  } else if (!kind.isDirectory()) {
    refuse('it is not a folder');
  }
  try {
    accessSync(folder, constants.W_OK);
  } catch {
    refuse('this user may not write there');
  }
}
