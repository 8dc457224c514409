/** What a question is to the suite: rows to measure, each in a process of its own, and the figures that come back. */

import type { Pins } from './process';

export interface Setting {
  /** The node that runs the programs under test; the runner and the load stay on their own. */
  node: string;
  pins?: Pins;
  /** Seconds instead of minutes: shows that everything works, not what it costs. */
  short: boolean;
  /** Shorter windows on the HTTP server: minutes instead of a quarter of an hour. */
  quick?: boolean;
  /** How long a row of `soak` runs, where it was asked for. */
  seconds?: number;
}

/** Figures of one measurement, by the name of their metric. */
export type Figures = Record<string, number>;

/** Thrown by a measurement: this Node.js, machine or state of the tracer has not what the row needs. */
export class Unavailable extends Error {}

export interface Metric {
  key: string;
  title: string;
  unit: string;
  better: 'less' | 'more';
}

interface QuestionBase {
  name: string;
  title: string;
  /** Names of the rows, in the order of the table: variants, where the question is what they cost. */
  rows: readonly string[];
  /** Said under the table. */
  note?: string;
}

/** What does a unit of the program's work cost in CPU time under each variant? */
export interface CostQuestion extends QuestionBase {
  kind: 'cost';
  /** What is counted: request, iteration, tick. */
  unit: string;
  /** In which the table shows CPU time a unit. */
  scale: 'us' | 'ns';
  measure(row: string, setting: Setting): Promise<Figures>;
}

/** A cost question whose work is a loop inside one process. The question's own module runs in that process. */
export interface LoopQuestion extends QuestionBase {
  kind: 'loop';
  unit: string;
  /** Measured iterations of a full run; a variant's slowness divides them, and half as many warm up. */
  iterations: number;
  loop(iterations: number): Promise<void>;
}

/** Anything else that has figures. */
export interface FigureQuestion extends QuestionBase {
  kind: 'figures';
  metrics: readonly Metric[];
  /** Rounds where fewer than asked for are enough, as for figures that do not vary. */
  rounds?: number;
  measure(row: string, setting: Setting): Promise<Figures>;
}

export type Question = CostQuestion | LoopQuestion | FigureQuestion;
