/** What the tracer promised to cost. The verdicts stand beside the measured values, missed ones too. */

import { nsAnEvent, over, rateShare, ratio, timesCheaper } from './cost';
import { type Answer, answerTo, paired, type TargetOutcome } from './result';
import { spread } from './statistics';

/** One limit for every Node.js, or by its major version where the promise names versions. */
type Limit = number | Readonly<Record<string, number>>;

interface Target {
  target: string;
  question: string;
  unit: string;
  bound: 'at most' | 'at least';
  limit: Limit;
  /** A value a round. */
  measure(answer: Answer): number[];
}

const TARGETS: readonly Target[] = [
  {
    target: 'HTTP: trace, CPU to the empty hook',
    question: 'http',
    unit: 'times',
    bound: 'at most',
    limit: { 20: 1.5, 24: 1.35 },
    measure: (answer) => ratio(answer, 'traced', 'empty'),
  },
  {
    target: 'HTTP: trace, an event over the empty hook',
    question: 'http',
    unit: 'ns',
    bound: 'at most',
    limit: 110,
    measure: (answer) => nsAnEvent(answer, 'traced'),
  },
  {
    target: 'HTTP: the same with the coarse clock',
    question: 'http',
    unit: 'ns',
    bound: 'at most',
    limit: 75,
    measure: (answer) => nsAnEvent(answer, 'coarse'),
  },
  {
    target: 'HTTP: requests/s with the coarse clock, of off',
    question: 'http',
    unit: '%',
    bound: 'at least',
    limit: { 24: 73 },
    measure: (answer) => rateShare(answer, 'coarse', 'off').map((share) => share * 100),
  },
  {
    target: "HTTP: CPU over off, Node's trace events to ours",
    question: 'http',
    unit: 'times',
    bound: 'at least',
    limit: 10,
    measure: (answer) => timesCheaper(answer, 'trace-events'),
  },
  {
    target: 'HTTP: CPU over off, one fs.write an event to ours',
    question: 'http',
    unit: 'times',
    bound: 'at least',
    limit: 50,
    measure: (answer) => timesCheaper(answer, 'fs-write'),
  },
  {
    target: 'HTTP: CPU over off, one string write an event to ours',
    question: 'http',
    unit: 'times',
    bound: 'at least',
    limit: 20,
    measure: (answer) => timesCheaper(answer, 'sonic-boom'),
  },
  {
    target: 'HTTP: contexts, a request over the trace without',
    question: 'http',
    unit: 'us',
    bound: 'at most',
    limit: { 20: 10 },
    measure: (answer) => over(answer, 'contexts', 'traced').map((ns) => ns / 1000),
  },
  {
    target: 'await: trace, CPU to the empty hook',
    question: 'await',
    unit: 'times',
    bound: 'at most',
    limit: 1.6,
    measure: (answer) => ratio(answer, 'traced', 'empty'),
  },
  {
    target: 'await: promiseDestroy: false, CPU to the empty hook',
    question: 'await',
    unit: 'times',
    bound: 'at most',
    limit: 1,
    measure: (answer) => ratio(answer, 'no-promise-destroy', 'empty'),
  },
  {
    target: 'await: promises: false, CPU to off',
    question: 'await',
    unit: 'times',
    bound: 'at most',
    limit: { 24: 1.1, 26: 1.1 },
    measure: (answer) => ratio(answer, 'no-promises', 'off'),
  },
  {
    target: 'ticks: send: false, an event over the empty hook',
    question: 'ticks',
    unit: 'ns',
    bound: 'at most',
    limit: 15,
    measure: (answer) => nsAnEvent(answer, 'send-off'),
  },
  {
    target: 'ticks: a filter that matches nothing, an event over the empty hook',
    question: 'ticks',
    unit: 'ns',
    bound: 'at most',
    limit: 12,
    measure: (answer) => nsAnEvent(answer, 'include-none'),
  },
  {
    target: 'stacks: one of 10 frames',
    question: 'stacks',
    unit: 'us',
    bound: 'at most',
    limit: { 20: 8, 24: 6 },
    measure: (answer) => over(answer, 'stacks-10', 'traced').map((ns) => ns / 1000),
  },
  {
    target: 'op table: bytes of 10 million live operations',
    question: 'memory',
    unit: 'MB',
    bound: 'at most',
    limit: 30,
    measure: (answer) => paired(answer, ['op table, 10M live'], (row) => row.ownMB),
  },
  {
    target: 'growth: trace, memory from 0.4 to 2 million iterations',
    question: 'growth',
    unit: 'MB',
    bound: 'at most',
    limit: 2,
    measure: (answer) => paired(answer, ['traced'], (row) => row.growthMB),
  },
  {
    target: 'growth: promiseDestroy: false, the same',
    question: 'growth',
    unit: 'MB',
    bound: 'at most',
    limit: 2,
    measure: (answer) => paired(answer, ['no-promise-destroy'], (row) => row.growthMB),
  },
  {
    target: 'start-up: require over an empty module',
    question: 'startup',
    unit: 'ms',
    bound: 'at most',
    limit: 10,
    measure: (answer) => paired(answer, ['async-tracer', 'empty module'], (own, empty) => own.ms - empty.ms),
  },
  {
    target: 'start-up: files loaded beyond lib/trace, lib/log and the entry points',
    question: 'startup',
    unit: '',
    bound: 'at most',
    limit: 0,
    measure: (answer) => paired(answer, ['async-tracer'], (row) => row.foreign),
  },
];

function limitFor(limit: Limit, major: string): number | undefined {
  return typeof limit === 'number' ? limit : limit[major];
}

function limitText({ bound, limit, unit }: Target, major: string): string {
  const value = limitFor(limit, major);
  const where = typeof limit === 'number' ? '' : ` on ${Object.keys(limit).join(', ')}`;
  return value === undefined ? `none here, one${where}` : `${bound} ${value} ${unit}`.trimEnd();
}

/** The targets of the questions that were asked, each with its measured value, for the Node.js of this version. */
export function judge(answers: readonly Answer[], nodeVersion: string): TargetOutcome[] {
  const [major] = nodeVersion.split('.');
  const outcomes: TargetOutcome[] = [];
  for (const target of TARGETS) {
    const answer = answerTo(answers, target.question);
    if (answer === undefined) {
      continue;
    }
    const values = target.measure(answer);
    const limit = limitFor(target.limit, major);
    const outcome: TargetOutcome = { target: target.target, limit: limitText(target, major) };
    outcomes.push(outcome);
    if (values.length === 0) {
      continue;
    }
    const { median, min, max } = spread(values);
    outcome.measured = median;
    outcome.range = [min, max];
    if (limit === undefined) {
      continue;
    }
    const within = (value: number): boolean => (target.bound === 'at most' ? value <= limit : value >= limit);
    outcome.met = within(median);
    outcome.certain = within(min) === within(max);
  }
  return outcomes;
}
