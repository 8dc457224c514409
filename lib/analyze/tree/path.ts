import type { RecordCursor } from '../decode/cursor';
import type { CodeOptions } from '../model/code-option';
import { IdMap } from '../model/id-map';
import type { Operations } from '../model/operations';
import { round } from '../model/percentiles';
import type { Run } from '../model/run';
import { visitOperations } from '../model/visit-operations';
import { OperationVisitor } from '../model/visitor';
import type { ReadOptions } from '../read/options';
import type { LogSource } from '../read/source';
import type { PathReport, PathStep } from './report';

/** Of a longer path the steps nearest to the operation are listed, and the root. */
export const MAX_STEPS = 10_000;

/** The answer to `analyzeTree` with `op`. */
export async function analyzePath(
  source: LogSource,
  options: ReadOptions & CodeOptions,
  by: 'trigger' | 'execution',
  opid: number,
): Promise<PathReport> {
  const { visitor, log } = await visitOperations(
    source,
    options,
    (operations) => new Ancestry(operations, by),
  );
  return { report: 'path', log, by, opid, paths: visitor.paths(opid) };
}

const SLAB_BITS = 14;
const SLAB = 1 << SLAB_BITS;

/** Columns for `SLAB` operations. Slabs are never copied: growing one array would for a time need twice its memory. */
class Slab {
  /** How much smaller the parent's id is; 2^31 and more are in `Lineage.#far`. */
  readonly back = new Int32Array(SLAB);
  readonly group = new Int32Array(SLAB);
  readonly init = new Float64Array(SLAB);
  /** Milliseconds; NaN until it has run. Single precision has 7 digits. */
  readonly wait = new Float32Array(SLAB).fill(Number.NaN);
  readonly run = new Float32Array(SLAB);
}

/** The operations of one run in the order of their inits: 29 bytes each with their place in `rows`. */
class Lineage {
  readonly rows = new IdMap();
  readonly #slabs: Slab[] = [];
  readonly #far = new Map<number, number>();
  #size = 0;

  at(row: number): Slab {
    return this.#slabs[row >>> SLAB_BITS];
  }

  add(id: number, parent: number, group: number, init: number): void {
    const row = this.#size++;
    if ((row & (SLAB - 1)) === 0) {
      this.#slabs.push(new Slab());
    }
    const slab = this.at(row);
    const place = row & (SLAB - 1);
    const back = id - parent;
    slab.back[place] = back;
    if (slab.back[place] !== back) {
      this.#far.set(row, back);
    }
    slab.group[place] = group;
    slab.init[place] = init;
    this.rows.set(id, row);
  }

  parentOf(id: number, row: number): number {
    return id - (this.#far.get(row) ?? this.at(row).back[row & (SLAB - 1)]);
  }
}

class Ancestry extends OperationVisitor {
  readonly #operations: Operations;
  readonly #by: 'trigger' | 'execution';
  readonly #runs: Lineage[] = [];

  constructor(operations: Operations, by: 'trigger' | 'execution') {
    super();
    this.#operations = operations;
    this.#by = by;
  }

  override init(run: Run, _row: number, group: number, executionId: number, record: RecordCursor): void {
    this.#runs[run.index] ??= new Lineage();
    const parent = this.#by === 'trigger' ? record.parentopid : executionId;
    this.#runs[run.index].add(record.opid, parent, group, record.time);
  }

  override firstBefore(run: Run, row: number, _group: number, wait: number): void {
    const lineage = this.#runs[run.index];
    const at = lineage.rows.get(run.live.id[row]);
    lineage.at(at).wait[at & (SLAB - 1)] = wait;
  }

  override after(run: Run, _row: number, record: RecordCursor): void {
    const lineage = this.#runs[run.index];
    const row = lineage?.rows.get(record.opid) ?? -1;
    if (row >= 0) {
      lineage.at(row).run[row & (SLAB - 1)] += run.callbacks.self;
    }
  }

  paths(opid: number): PathReport['paths'] {
    const paths: PathReport['paths'] = [];
    this.#runs.forEach((lineage, run) => {
      let row = lineage.rows.get(opid);
      if (row < 0) {
        return;
      }
      const steps: PathStep[] = [];
      let id = opid;
      for (;;) {
        if (steps.length === MAX_STEPS) {
          steps.pop();
        }
        steps.push(this.#step(lineage, id, row));
        id = lineage.parentOf(id, row);
        const above = lineage.rows.get(id);
        // A parent has begun before its child. Any other is an error in the log and could lead in circles.
        if (above < 0 || above >= row) {
          break;
        }
        row = above;
      }
      paths.push({ run, steps: steps.reverse() });
    });
    return paths;
  }

  #step(lineage: Lineage, opid: number, row: number): PathStep {
    const { group, init, wait, run } = lineage.at(row);
    const place = row & (SLAB - 1);
    const hasRun = !Number.isNaN(wait[place]);
    return {
      ...this.#operations.groups.describe(group[place]),
      opid,
      time: init[place],
      wait: hasRun ? round(wait[place]) : null,
      run: hasRun ? round(run[place]) : null,
    };
  }
}
