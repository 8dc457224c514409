import type { RecordCursor } from '../analyze/decode/cursor';
import type { Stack } from '../analyze/decode/stack-table';
import { roomFor } from '../analyze/model/column';
import type { Operations } from '../analyze/model/operations';
import type { Run } from '../analyze/model/run';
import { OperationVisitor } from '../analyze/model/visitor';
import type { Cut } from './cut';

/** Operations of one group that began with the same stack. Times are in milliseconds. */
export interface Sample {
  readonly group: number;
  /** The frames of the log, innermost first; empty where there are none. */
  readonly frames: readonly string[];
  count: number;
  destroyed: number;
  waits: number;
  wait: number;
  runs: number;
  run: number;
}

/** Stacks beyond this number count under their group without a stack. */
export const MAX_SAMPLES = 50_000;

const NOT_TAKEN = -1;

/** Sums by group and stack: the same figures as those of `analyzeStats`, which are by group. */
export class Samples extends OperationVisitor {
  readonly all: Sample[] = [];
  readonly #operations: Operations;
  readonly #cut: Cut;
  /** By group, the number of the sample without a stack. */
  readonly #withoutStack: number[] = [];
  readonly #byStack = new Map<Stack, Map<number, number>>();
  /** The same stack may be in the log as several objects: see `StackTable`. */
  readonly #byText = new Map<string, number>();
  /** By run and row of live operations, the number of the sample. */
  readonly #rows: Int32Array[] = [];
  operations = 0;
  callbacks = 0;

  constructor(operations: Operations, cut: Cut) {
    super();
    this.#operations = operations;
    this.#cut = cut;
  }

  override init(run: Run, row: number, group: number, _executionId: number, record: RecordCursor): void {
    let rows = this.#rows[run.index] ?? new Int32Array(0);
    if (row >= rows.length) {
      rows = roomFor(rows, row + 1);
      this.#rows[run.index] = rows;
    }
    if (!this.#cut.takesOperation(run, group, record)) {
      rows[row] = NOT_TAKEN;
      return;
    }
    const number = this.#numberOf(group, record.stack < 0 ? undefined : record.stacks.at(record.stack));
    rows[row] = number;
    this.all[number].count++;
    this.operations++;
  }

  override firstBefore(run: Run, row: number, _group: number, wait: number): void {
    const sample = this.all[this.#rows[run.index][row]];
    if (sample !== undefined) {
      sample.waits++;
      sample.wait += wait;
    }
  }

  override after(run: Run, row: number, record: RecordCursor): void {
    const { group, start, self } = run.callbacks;
    if (!this.#cut.takesCallback(run, record.opid, group, start)) {
      return;
    }
    const known = row < 0 ? NOT_TAKEN : this.#rows[run.index][row];
    const sample = this.all[known === NOT_TAKEN ? this.#numberOf(group, undefined) : known];
    sample.runs++;
    sample.run += self;
    this.callbacks++;
  }

  override destroy(run: Run, row: number): void {
    const sample = this.all[this.#rows[run.index][row]];
    if (sample !== undefined) {
      sample.destroyed++;
    }
  }

  /** How many operations of a sample are live at the end; 0 for promises where none of their destroys is in the log. */
  liveOf(sample: Sample): number {
    const { runs, groups } = this.#operations;
    const isKnown =
      groups.kind[sample.group] !== 'promise' ||
      runs.every((run) => run.promiseDestroys || run.counts[0] === 0);
    return isKnown ? sample.count - sample.destroyed : 0;
  }

  #numberOf(group: number, stack: Stack | undefined): number {
    if (stack === undefined) {
      this.#withoutStack[group] ??= this.#add(group, []);
      return this.#withoutStack[group];
    }
    let byGroup = this.#byStack.get(stack);
    if (byGroup === undefined) {
      byGroup = new Map();
      this.#byStack.set(stack, byGroup);
    }
    let number = byGroup.get(group);
    if (number === undefined) {
      number = this.#findByText(group, stack);
      byGroup.set(group, number);
      if (this.#byStack.size > MAX_SAMPLES) {
        // Stacks that are gone from the log's table hold memory for nothing; the others are found by their texts.
        this.#byStack.clear();
      }
    }
    return number;
  }

  #findByText(group: number, stack: Stack): number {
    const text = `${group} ${stack.json.toString('latin1')}`;
    const known = this.#byText.get(text);
    if (known !== undefined) {
      return known;
    }
    if (this.all.length >= MAX_SAMPLES) {
      return this.#numberOf(group, undefined);
    }
    const number = this.#add(group, stack.frames());
    this.#byText.set(text, number);
    return number;
  }

  #add(group: number, frames: readonly string[]): number {
    return this.all.push({ group, frames, count: 0, destroyed: 0, waits: 0, wait: 0, runs: 0, run: 0 }) - 1;
  }
}
