#!/usr/bin/env node
/** The command line of the benchmark. */

import fs from 'node:fs';
import path from 'node:path';
import yargs from 'yargs';
import { MAIN, questionOf } from './questions/all';
import { comparisonText } from './suite/compare';
import { describeMachine, machineText } from './suite/machine';
import type { Question, Setting } from './suite/question';
import { type Result, readResult } from './suite/result';
import { answer, type Plan, type Progress } from './suite/run';
import { answerText, failuresText, targetsText } from './suite/tables';
import { judge } from './suite/targets';
import { variantOf } from './variants/all';

interface Flags {
  rounds: number;
  short: boolean;
  seconds?: number;
  node: string;
  json?: string;
  only?: string[];
  variants?: string[];
}

let asked = '';

const progress: Progress = (question, row, done, all) => {
  if (process.stderr.isTTY) {
    process.stderr.write(`\r\x1b[K${question}: ${done}/${all} ${row}`);
  } else if (question !== asked) {
    process.stderr.write(`${question} ...\n`);
  }
  asked = question;
};

function planOf(question: Question, { rounds, variants }: Flags): Plan {
  const chosen =
    question.kind === 'figures' ? question.rows.filter((row) => variants?.includes(row)) : variants;
  return {
    question,
    rows: chosen === undefined || variants === undefined ? question.rows : chosen,
    rounds: question.kind === 'figures' ? Math.min(rounds, question.rounds ?? rounds) : rounds,
  };
}

/** Asks the questions, prints their tables, and sets the exit code: 1 where records were lost or a program failed. */
async function run(names: readonly string[], flags: Flags): Promise<void> {
  flags.variants?.forEach(variantOf);
  const plans = names.map(questionOf).map((question) => planOf(question, flags));
  const machine = describeMachine(flags.node);
  const setting: Setting = {
    node: flags.node,
    pins: machine.pins,
    short: flags.short,
    seconds: flags.seconds,
  };
  const result: Result = {
    suite: 'async-tracer benchmark',
    format: 1,
    machine,
    rounds: flags.rounds,
    short: flags.short,
    answers: [],
    targets: [],
    failures: [],
  };
  process.stdout.write(`${machineText(machine)}\n`);
  process.stdout.write(
    `${flags.rounds} interleaved rounds, a fresh process each; medians${flags.short ? '; SHORT: no figures to quote' : ''}\n`,
  );
  for (const plan of plans.filter(({ rows }) => rows.length > 0)) {
    const answered = await answer(plan, setting, result.failures, progress);
    if (process.stderr.isTTY) {
      process.stderr.write('\r\x1b[K');
    }
    result.answers.push(answered);
    process.stdout.write(answerText(answered));
  }
  result.targets = judge(result.answers, machine.node);
  process.stdout.write(targetsText(result.targets) + failuresText(result));
  if (flags.json !== undefined) {
    fs.writeFileSync(flags.json, `${JSON.stringify(result, null, 2)}\n`);
  }
  if (result.failures.length > 0) {
    process.exitCode = 1;
  }
}

void yargs(process.argv.slice(2))
  .scriptName('benchmark')
  .option('rounds', {
    type: 'number',
    default: 5,
    describe: 'rounds, in each of which every row is measured once',
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
    if (!(Number.isInteger(rounds) && rounds >= 1)) {
      throw new Error(`--rounds ${rounds}: a whole number from 1 was expected`);
    }
    if (seconds !== undefined && !(seconds > 0)) {
      throw new Error(`--seconds ${seconds}: a number above 0 was expected`);
    }
    return true;
  })
  .command('$0', 'what a trace costs, beside its targets', {}, (flags) => {
    const given = flags as unknown as Flags;
    return run(given.only ?? MAIN, given);
  })
  .command('options', 'what each option costs', {}, (flags) => {
    const given = flags as unknown as Flags;
    return run(given.only ?? ['options'], given);
  })
  .command('compare <before> <after>', 'two results of --json, with their noise', {}, (flags) => {
    const [before, after] = [flags.before, flags.after].map((file) => readResult(String(file)));
    process.stdout.write(comparisonText(before, after));
  })
  .strict()
  .showHelpOnFail(false)
  .parseAsync();
