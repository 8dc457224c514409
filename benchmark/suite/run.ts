/** Measures the rows of a question in rounds, each row once a round, in an order that turns from round to round. */

import { variantNames, variantOf } from '../variants/all';
import { checkEvents } from './check';
import { measureLoop } from './loop';
import { type Figures, type Metric, type Question, type Setting, Unavailable } from './question';
import type { Answer, Series } from './result';

const COST: readonly Metric[] = [
  { key: 'cpuNs', title: 'CPU', unit: 'ns', better: 'less' },
  { key: 'rate', title: 'rate', unit: '/s', better: 'more' },
];

export interface Plan {
  question: Question;
  rows: readonly string[];
  rounds: number;
}

/** Told before each measurement. */
export type Progress = (question: string, row: string, done: number, all: number) => void;

function measureRow(question: Question, row: string, setting: Setting): Promise<Figures> {
  return question.kind === 'loop' ? measureLoop(question, row, setting) : question.measure(row, setting);
}

function titleOf(row: string): string {
  return variantNames().includes(row) ? variantOf(row).title : row;
}

function rotated<T>(items: readonly T[], by: number): T[] {
  const at = by % items.length;
  return [...items.slice(at), ...items.slice(0, at)];
}

function emptyAnswer({ question, rows }: Plan): Answer {
  const cost = question.kind !== 'figures';
  return {
    question: question.name,
    title: question.title,
    kind: cost ? 'cost' : 'figures',
    unit: cost ? question.unit : undefined,
    scale: question.kind === 'cost' ? question.scale : cost ? 'ns' : undefined,
    metrics: question.kind === 'figures' ? question.metrics : COST,
    series: rows.map((row) => ({ row, title: titleOf(row), rounds: [] })),
    note: question.note,
  };
}

/**
 * Answers one question. What fails or loses records goes to `failures` and ends its row; what is not to be had here
 * stays as an empty row that says why.
 */
export async function answer(
  plan: Plan,
  setting: Setting,
  failures: string[],
  progress: Progress,
): Promise<Answer> {
  const { question, rounds } = plan;
  const result = emptyAnswer(plan);
  const all = plan.rows.length * rounds;
  let done = 0;

  async function attempt(series: Series): Promise<void> {
    if (series.unavailable !== undefined) {
      return;
    }
    try {
      const figures = await measureRow(question, series.row, setting);
      if (result.steadyEventsPerUnit !== undefined) {
        checkEvents(variantOf(series.row), figures.steadyEvents, result.steadyEventsPerUnit);
      }
      series.rounds.push(figures);
    } catch (error) {
      const { message } = error as Error;
      series.unavailable = error instanceof Unavailable ? message : 'failed';
      series.rounds = [];
      if (!(error instanceof Unavailable)) {
        failures.push(`${question.name}, ${series.title}: ${message}`);
      }
    }
  }

  if (question.kind !== 'figures') {
    progress(question.name, 'count', 0, all);
    const { events, steadyEvents } = await measureRow(question, 'count', setting);
    result.eventsPerUnit = events;
    result.steadyEventsPerUnit = steadyEvents;
  }
  for (let round = 0; round < rounds; round++) {
    for (const series of rotated(result.series, round)) {
      progress(question.name, series.row, done, all);
      await attempt(series);
      done++;
    }
  }
  return result;
}
