/** Measures the rows of a question in rounds, each row once a round, in an order that turns from round to round. */

import { variantNames, variantOf } from '../variants/all';
import { checkEvents } from './check';
import { measureLoop } from './loop';
import type { Progress } from './progress';
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

/** The answer before its first round. */
export function emptyAnswer({ question, rows }: Plan): Answer {
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
 * Fills the rounds of an empty answer, which can be printed at any time. A row that fails or loses records ends, and
 * its error goes to `failures`. A row that this Node.js or this machine does not offer stays empty, with the reason.
 */
export async function answer(
  plan: Plan,
  result: Answer,
  setting: Setting,
  failures: string[],
  progress: Progress,
): Promise<void> {
  const { question, rounds } = plan;

  async function attempt(series: Series): Promise<void> {
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

  progress.begin(result, rounds);
  if (question.kind !== 'figures') {
    progress.measuring();
    const { events, steadyEvents } = await measureRow(question, 'count', setting);
    result.eventsPerUnit = events;
    result.steadyEventsPerUnit = steadyEvents;
    progress.measured();
  }
  for (let round = 0; round < rounds; round++) {
    for (const series of rotated(result.series, round)) {
      if (series.unavailable === undefined) {
        progress.measuring(series);
        await attempt(series);
        progress.measured(series);
      } else {
        progress.skipped();
      }
    }
  }
  progress.stop();
}
