import { Decoder } from '../decode/decoder';
import { round } from '../model/histograms';
import { IdMap } from '../model/id-map';
import { follow, Operations, Watcher } from '../model/operations';
import type { Run } from '../model/run';
import type { ReadOptions } from '../read/reader';
import type { LogSource } from '../read/source';
import type { PathReport, PathStep } from '../report';

/** Of a longer path, the steps nearest to the operation are listed, and the root itself. */
export const MAX_STEPS = 10_000;

/** The answer to `analyzeTree` with `op`. */
export async function analyzePath(
  source: LogSource,
  options: ReadOptions,
  by: 'trigger' | 'execution',
  opid: number,
): Promise<PathReport> {
  const decoder = new Decoder();
  const ancestry = new Ancestry(decoder, by);
  const log = await follow(source, options, decoder, ancestry.operations);
  return { report: 'path', log, by, opid, paths: ancestry.paths(opid) };
}

const SLAB_BITS = 14;
const SLAB = 1 << SLAB_BITS;

/** A stretch of operations in columns. Stretches are never copied: outgrown arrays of a large log would be its size again. */
class Slab {
  /** How much smaller the parent's id is; 2^31 and more stand in `Lineage.far`. */
  readonly back = new Int32Array(SLAB);
  readonly group = new Int32Array(SLAB);
  readonly init = new Float64Array(SLAB);
  /** NaN until it has run; single precision is 7 digits. */
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

class Ancestry extends Watcher {
  readonly operations: Operations;
  readonly #by: 'trigger' | 'execution';
  readonly #runs: Lineage[] = [];

  constructor(decoder: Decoder, by: 'trigger' | 'execution') {
    super();
    this.operations = new Operations(decoder, this);
    this.#by = by;
  }

  override started(run: Run, _row: number, group: number, exec: number, decoder: Decoder): void {
    this.#runs[run.index] ??= new Lineage();
    const parent = this.#by === 'trigger' ? decoder.parentopid : exec;
    this.#runs[run.index].add(decoder.opid, parent, group, decoder.time);
  }

  override waited(run: Run, row: number, _group: number, wait: number): void {
    const lineage = this.#runs[run.index];
    const at = lineage.rows.get(run.live.id[row]);
    lineage.at(at).wait[at & (SLAB - 1)] = wait;
  }

  override ran(run: Run, _row: number, opid: number): void {
    const lineage = this.#runs[run.index];
    const row = lineage?.rows.get(opid) ?? -1;
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
        // A parent has begun before its child; any other is a slip of the log, and a way to go in circles.
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
      ...this.operations.groups.describe(group[place]),
      opid,
      time: init[place],
      wait: hasRun ? round(wait[place]) : null,
      run: hasRun ? round(run[place]) : null,
    };
  }
}
