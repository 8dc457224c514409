#!/usr/bin/env node
/** The command line of the benchmark. */

import fs from 'node:fs';
import path from 'node:path';
import yargs from 'yargs';
import { MAIN, questionOf } from './questions/all';
import { comparisonText } from './suite/compare';
import { FULL, QUICK } from './suite/http';
import { describeMachine, machineText } from './suite/machine';
import { beforeInterrupt } from './suite/process';
import { createProgress } from './suite/progress';
import type { Question, Setting } from './suite/question';
import { type Result, readResult } from './suite/result';
import { answer, emptyAnswer, type Plan } from './suite/run';
import { answerText, failuresText, roundsText, targetsText } from './suite/tables';
import { judge } from './suite/targets';
import { variantOf } from './variants/all';

interface Flags {
  rounds?: number;
  full?: boolean;
  short: boolean;
  seconds?: number;
  node: string;
  json?: string;
  only?: string[];
  variants?: string[];
}

const ROUNDS = 5;
/** With QUICK windows on the HTTP server and twelve rows, three rounds take about three minutes. */
const QUICK_ROUNDS = 3;

/** A run that `options` makes by default. */
interface Pace {
  rounds: number;
  quick: boolean;
}

function planOf(question: Question, rounds: number, variants: Flags['variants']): Plan {
  const chosen =
    question.kind === 'figures' ? question.rows.filter((row) => variants?.includes(row)) : variants;
  return {
    question,
    rows: chosen === undefined || variants === undefined ? question.rows : chosen,
    rounds: question.kind === 'figures' ? Math.min(rounds, question.rounds ?? rounds) : rounds,
  };
}

function describeRun({ rounds, quick }: Pace, short: boolean): string {
  const windows =
    quick && !short
      ? `; HTTP windows of ${QUICK.load} s after ${QUICK.warmUp} s of warm-up: --full for ${ROUNDS} rounds of ${FULL.load} s after ${FULL.warmUp} s`
      : '';
  return `${rounds} interleaved round${rounds === 1 ? '' : 's'}, a fresh process each; medians${windows}${short ? '; SHORT: no figures to quote' : ''}`;
}

function write(json: string | undefined, result: Result): void {
  if (json !== undefined) {
    fs.writeFileSync(json, `${JSON.stringify(result, null, 2)}\n`);
  }
}

/**
 * Asks the questions, prints their tables, and sets the exit code: 1 where records were lost or a program failed. A signal
 * prints the tables of the rounds so far.
 */
async function run(names: readonly string[], flags: Flags, pace: Pace): Promise<void> {
  flags.variants?.forEach(variantOf);
  const plans = names.map(questionOf).map((question) => planOf(question, pace.rounds, flags.variants));
  const machine = describeMachine(flags.node);
  const setting: Setting = {
    node: flags.node,
    pins: machine.pins,
    short: flags.short,
    quick: pace.quick,
    seconds: flags.seconds,
  };
  const result: Result = {
    suite: 'async-tracer benchmark',
    format: 1,
    machine,
    rounds: pace.rounds,
    short: flags.short,
    quick: pace.quick,
    answers: [],
    targets: [],
    failures: [],
  };
  process.stdout.write(`${machineText(machine)}\n`);
  process.stdout.write(`${describeRun(pace, flags.short)}\n`);
  const progress = createProgress(process.stderr);
  const conclude = (): void => {
    result.targets = judge(result.answers, machine.node);
    process.stdout.write(targetsText(result.targets) + failuresText(result));
    write(flags.json, result);
  };
  for (const plan of plans.filter(({ rows }) => rows.length > 0)) {
    const answered = emptyAnswer(plan);
    result.answers.push(answered);
    beforeInterrupt(() => {
      progress.stop();
      result.interrupted = true;
      const rounds = roundsText(answered, plan.rounds);
      process.stdout.write(`${answerText(answered)}\nInterrupted: ${rounds}.\n`);
      conclude();
    });
    await answer(plan, answered, setting, result.failures, progress);
    process.stdout.write(answerText(answered));
  }
  conclude();
  if (result.failures.length > 0) {
    process.exitCode = 1;
  }
}

void yargs(process.argv.slice(2))
  .scriptName('benchmark')
  .option('rounds', {
    type: 'number',
    describe: `rounds, in each of which every row is measured once; ${ROUNDS}, for options ${QUICK_ROUNDS}`,
  })
  .option('short', {
    type: 'boolean',
    default: false,
    describe: 'seconds instead of minutes: shows that it works',
  })
  .option('seconds', { type: 'number', describe: 'how long each row of the question soak runs' })
  .option('node', {
    type: 'string',
    default: process.execPath,
    describe: 'the node that runs what is measured',
  })
  .option('json', { type: 'string', describe: 'write the result into this file' })
  .option('only', { type: 'string', array: true, describe: 'questions, instead of those of the command' })
  .option('variants', { type: 'string', array: true, describe: 'rows, instead of those of the question' })
  .coerce(['only', 'variants'], (names: string[] | undefined) => names?.flatMap((name) => name.split(',')))
  .coerce('node', (node: string) => path.resolve(node))
  .check(({ rounds, seconds }) => {
    if (rounds !== undefined && !(Number.isInteger(rounds) && rounds >= 1)) {
      throw new Error(`--rounds ${rounds}: a whole number from 1 was expected`);
    }
    if (seconds !== undefined && !(seconds > 0)) {
      throw new Error(`--seconds ${seconds}: a number above 0 was expected`);
    }
    return true;
  })
  .command('$0', 'what a trace costs, beside its targets', {}, (flags) => {
    const given = flags as unknown as Flags;
    return run(given.only ?? MAIN, given, { rounds: given.rounds ?? ROUNDS, quick: false });
  })
  .command(
    'options',
    'what each option costs, in about three minutes',
    (command) =>
      command.option('full', {
        type: 'boolean',
        default: false,
        describe: `${ROUNDS} rounds and longer windows, as the other questions have: about eight minutes`,
      }),
    (flags) => {
      const given = flags as unknown as Flags;
      const quick = given.full !== true;
      const rounds = given.rounds ?? (quick ? QUICK_ROUNDS : ROUNDS);
      return run(given.only ?? ['options'], given, { rounds, quick });
    },
  )
  .command('compare <before> <after>', 'two results of --json, with their noise', {}, (flags) => {
    const [before, after] = [flags.before, flags.after].map((file) => readResult(String(file)));
    process.stdout.write(comparisonText(before, after));
  })
  .strict()
  .showHelpOnFail(false)
  .parseAsync();
