import { roomFor } from './column';
import { Decoder } from './decoder';
import { round } from './histograms';
import { IdMap } from './idmap';
import { follow, Operations, Watcher } from './operations';
import type { LogSource, ReadOptions } from './reader';
import type { PathReport, PathStep } from './report';
import type { Run } from './run';

/** Of a longer path, the steps nearest to the operation are listed, and the root itself. */
export const MAX_STEPS = 10_000;

const NO_PARENT = -1;

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

/** The operations of one run in the order of their inits, in columns; an operation's parent always stands before it. */
class Lineage {
  readonly rows = new IdMap();
  size = 0;
  id = new Float64Array(16);
  parent = new Int32Array(16);
  group = new Int32Array(16);
  init = new Float64Array(16);
  /** NaN until it has run; single precision is 7 digits. */
  wait = new Float32Array(16);
  run = new Float32Array(16);

  add(id: number, parent: number, group: number, init: number): void {
    const row = this.size++;
    this.id = roomFor(this.id, this.size);
    this.parent = roomFor(this.parent, this.size);
    this.group = roomFor(this.group, this.size);
    this.init = roomFor(this.init, this.size);
    this.wait = roomFor(this.wait, this.size);
    this.run = roomFor(this.run, this.size);
    const above = parent === id ? NO_PARENT : this.rows.get(parent);
    this.id[row] = id;
    this.parent[row] = above;
    this.group[row] = group;
    this.init[row] = init;
    this.wait[row] = Number.NaN;
    this.rows.set(id, row);
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
    lineage.wait[lineage.rows.get(run.live.id[row])] = wait;
  }

  override ran(run: Run, _row: number, opid: number): void {
    const lineage = this.#runs[run.index];
    const row = lineage?.rows.get(opid) ?? -1;
    if (row >= 0) lineage.run[row] += run.callbacks.self;
  }

  paths(opid: number): PathReport['paths'] {
    const paths: PathReport['paths'] = [];
    this.#runs.forEach((lineage, run) => {
      let row = lineage.rows.get(opid);
      if (row < 0) return;
      const steps: PathStep[] = [];
      for (; row >= 0; row = lineage.parent[row]) {
        if (steps.length === MAX_STEPS) steps.pop();
        steps.push(this.#step(lineage, row));
      }
      paths.push({ run, steps: steps.reverse() });
    });
    return paths;
  }

  #step(lineage: Lineage, row: number): PathStep {
    const wait = lineage.wait[row];
    return {
      ...this.operations.groups.describe(lineage.group[row]),
      opid: lineage.id[row],
      time: lineage.init[row],
      wait: Number.isNaN(wait) ? null : round(wait),
      run: Number.isNaN(wait) ? null : round(lineage.run[row]),
    };
  }
}
