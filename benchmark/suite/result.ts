/** What a run leaves behind, as `--json` writes it and `benchmark:compare` reads it. */

import fs from 'node:fs';
import type { Machine } from './machine';
import type { Figures, Metric } from './question';

export interface Series {
  row: string;
  title: string;
  /** One a round, in the order of the rounds: what was measured in one round stands at one index in every series. */
  rounds: Figures[];
  /** Why there are none. */
  unavailable?: string;
}

export interface Answer {
  question: string;
  title: string;
  kind: 'cost' | 'figures';
  unit?: string;
  scale?: 'us' | 'ns';
  /** By the counting hook, where the question is a cost. */
  eventsPerUnit?: number;
  /** The same without destroys, which come when garbage is collected. */
  steadyEventsPerUnit?: number;
  metrics: readonly Metric[];
  series: Series[];
  note?: string;
}

export interface TargetOutcome {
  target: string;
  /** As words, for the table and for a reader of the JSON. */
  limit: string;
  /** The median over the rounds. */
  measured?: number;
  /** The least and the most of a round. */
  range?: [number, number];
  /** Undefined where nothing was measured or no limit is set for this Node.js. */
  met?: boolean;
  /** Whether every round lies on the same side of the limit. */
  certain?: boolean;
}

export interface Result {
  suite: 'async-tracer benchmark';
  format: 1;
  machine: Machine;
  rounds: number;
  short: boolean;
  /** Whether the windows on the HTTP server were the shorter ones of `options`. */
  quick?: boolean;
  /** Whether a signal ended the run before its last round. */
  interrupted?: boolean;
  answers: Answer[];
  targets: TargetOutcome[];
  /** Records that were lost and programs that failed; the run ends with code 1 where there are any. */
  failures: string[];
}

export function answerTo(answers: readonly Answer[], question: string): Answer | undefined {
  return answers.find((answer) => answer.question === question);
}

/** The rounds of one row; none where the row was not measured. */
export function roundsOf(answer: Answer | undefined, row: string): Figures[] {
  return answer?.series.find((series) => series.row === row)?.rounds ?? [];
}

/** The values of one metric, a value a round. */
export function valuesOf(series: Series, key: string): number[] {
  return series.rounds.map((round) => round[key]).filter((value) => value !== undefined && value !== null);
}

/**
 * What `figure` makes of several rows' figures of the same round, a value a round. Rows of one round were measured
 * within seconds of each other, so what disturbs the machine for longer cancels out. Empty where a row is missing.
 */
export function paired(
  answer: Answer | undefined,
  rows: string[],
  figure: (...rows: Figures[]) => number,
): number[] {
  const series = rows.map((row) => roundsOf(answer, row));
  const rounds = Math.min(...series.map((each) => each.length));
  return Array.from({ length: rounds }, (_, round) => figure(...series.map((each) => each[round])));
}

/** Throws an Error that names the file where it holds no result of this suite. */
export function readResult(file: string): Result {
  const result = JSON.parse(fs.readFileSync(file, 'utf8')) as Result;
  if (result.suite !== 'async-tracer benchmark' || result.format !== 1) {
    throw new Error(`${file}: not a result of this benchmark, as its --json writes them`);
  }
  return result;
}
