/** Sets two results side by side, with the noise of both. */

import Table from 'cli-table3';
import { machineText } from './machine';
import type { Metric } from './question';
import { type Answer, answerTo, type Result, roundsOf } from './result';
import { type Spread, spread } from './statistics';
import { figure } from './tables';

export type Verdict = 'same' | 'perhaps better' | 'perhaps worse' | 'better' | 'worse';

/**
 * Two sets of rounds differ where no round of one lies among those of the other: with five a side that happens by chance
 * less than once in a hundred times. Where only the middle halves stand apart, it may be so.
 */
export function verdict(before: Spread, after: Spread, better: Metric['better']): Verdict {
  const less = after.median < before.median;
  const word = less === (better === 'less') ? 'better' : 'worse';
  if (after.max < before.min || after.min > before.max) {
    return word;
  }
  if (after.high < before.low || after.low > before.high) {
    return `perhaps ${word}`;
  }
  return 'same';
}

/** Half of the range between all rounds, as a share of the median. */
function noise({ min, max, median }: Spread): string {
  return `±${((50 * (max - min)) / Math.abs(median)).toFixed(1)}%`;
}

export interface Comparison {
  question: string;
  row: string;
  metric: Metric;
  before: Spread;
  after: Spread;
  verdict: Verdict;
}

function compareAnswers(before: Answer, after: Answer): Comparison[] {
  const found: Comparison[] = [];
  for (const { row, title } of after.series) {
    for (const metric of after.metrics) {
      const [one, other] = [before, after].map((answer) =>
        roundsOf(answer, row)
          .map((figures) => figures[metric.key])
          .filter((value) => value !== undefined && value !== null),
      );
      if (one.length === 0 || other.length === 0) {
        continue;
      }
      const [old, now] = [spread(one), spread(other)];
      found.push({
        question: after.question,
        row: title,
        metric,
        before: old,
        after: now,
        verdict: verdict(old, now, metric.better),
      });
    }
  }
  return found;
}

/** Every figure that both results have. */
export function compare(before: Result, after: Result): Comparison[] {
  return after.answers.flatMap((answer) => {
    const old = answerTo(before.answers, answer.question);
    return old === undefined ? [] : compareAnswers(old, answer);
  });
}

export function comparisonText(before: Result, after: Result): string {
  const table = new Table({
    head: ['question', 'row', 'figure', 'before', 'noise', 'after', 'noise', 'change', ''],
    style: { head: [], border: [], compact: true },
  });
  for (const { question, row, metric, before: old, after: now, verdict: word } of compare(before, after)) {
    const change = `${now.median >= old.median ? '+' : ''}${((now.median / old.median - 1) * 100).toFixed(1)}%`;
    const name = `${metric.title}${metric.unit && `, ${metric.unit}`}`;
    table.push([
      question,
      row,
      name,
      figure(old.median),
      noise(old),
      figure(now.median),
      noise(now),
      change,
      word,
    ]);
  }
  return `before: ${machineText(before.machine)}\nafter:  ${machineText(after.machine)}\n${table.toString()}\n`;
}
