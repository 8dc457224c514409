import { TracerError } from '../../errors';
import { Decoder } from '../decode/decoder';
import { IdMap } from '../model/id-map';
import { NO_ROW } from '../model/live-operations';
import { follow, Operations, Watcher } from '../model/operations';
import type { Run } from '../model/run';
import { checkOptions } from '../read/options';
import type { ReadOptions } from '../read/reader';
import type { LogSource } from '../read/source';
import type { LogReport, PathReport, RootReport, TreeReport } from '../report';
import { Forest, TOP } from './forest';
import { analyzePath } from './path';
import { analyzeRoot } from './root';

export interface TreeOptions extends ReadOptions {
  /**
   * Whose child an operation is: of the one that triggered it (parentopid; the default) or of the one that was executing
   * when it was made (execopid).
   */
  by?: 'trigger' | 'execution';
  /** Only the path from this operation back to what started it all. */
  op?: number;
  /** Only what this operation started, and how its time was spent. */
  root?: number;
}

/**
 * Who started what. Memory, beside that for live operations: about 5 bytes an operation of the log; 29 with `op`; with
 * `root` 5 for each operation that the root started.
 *
 * @throws TracerError as `readLog` does, ERR_ASYNC_TRACER_UNKNOWN_OPTION, and ERR_ASYNC_TRACER_OPTION for a wrong option
 */
export function analyzeTree(
  source: LogSource,
  options: TreeOptions & { op: number; root?: undefined },
): Promise<PathReport>;
export function analyzeTree(
  source: LogSource,
  options: TreeOptions & { root: number; op?: undefined },
): Promise<RootReport>;
export function analyzeTree(
  source: LogSource,
  options?: TreeOptions & { op?: undefined; root?: undefined },
): Promise<TreeReport>;
export function analyzeTree(
  source: LogSource,
  options?: TreeOptions,
): Promise<TreeReport | PathReport | RootReport>;
export async function analyzeTree(
  source: LogSource,
  options: TreeOptions = {},
): Promise<TreeReport | PathReport | RootReport> {
  checkOptions('analyzeTree', options, ['by', 'op', 'root']);
  const { by = 'trigger', op, root } = options;
  if (by !== 'trigger' && by !== 'execution') {
    throw new TracerError(
      'ERR_ASYNC_TRACER_OPTION',
      `by is ${String(by)}; expected 'trigger' or 'execution'`,
    );
  }
  for (const [name, id] of Object.entries({ op, root })) {
    if (id !== undefined && !Number.isSafeInteger(id)) {
      throw new TracerError(
        'ERR_ASYNC_TRACER_OPTION',
        `${name} is ${String(id)}; expected the opid of an operation`,
      );
    }
  }
  if (op !== undefined && root !== undefined) {
    throw new TracerError('ERR_ASYNC_TRACER_OPTION', 'both op and root were given; expected one of them');
  }
  if (op !== undefined) {
    return analyzePath(source, options, by, op);
  }
  if (root !== undefined) {
    return analyzeRoot(source, options, by, root);
  }
  const decoder = new Decoder();
  const tree = new Tree(decoder, by);
  return tree.report(await follow(source, options, decoder, tree.operations));
}

class Tree extends Watcher {
  readonly operations: Operations;
  readonly #by: 'trigger' | 'execution';
  readonly #forest = new Forest();
  /** By run, the node of each operation. */
  readonly #nodes: IdMap[] = [];

  constructor(decoder: Decoder, by: 'trigger' | 'execution') {
    super();
    this.operations = new Operations(decoder, this);
    this.#by = by;
  }

  override started(run: Run, _row: number, group: number, exec: number, decoder: Decoder): void {
    const { opid } = decoder;
    const parent = this.#by === 'trigger' ? decoder.parentopid : exec;
    const nodes = this.#of(run);
    const above = parent === opid ? -1 : nodes.get(parent);
    nodes.set(opid, this.#forest.add(above < 0 ? TOP : above, group, opid));
  }

  override waited(run: Run, row: number, _group: number, wait: number): void {
    const node = this.#of(run).get(run.live.id[row]);
    if (node > TOP) {
      this.#forest.waited(node, wait);
    }
  }

  override ran(run: Run, row: number, opid: number): void {
    // Of an operation whose init is not in the log nobody knows where it belongs.
    const node = row === NO_ROW ? -1 : this.#of(run).get(opid);
    if (node > TOP) {
      this.#forest.ran(node, run.callbacks.self);
    }
  }

  report(log: LogReport): TreeReport {
    return {
      report: 'tree',
      log,
      by: this.#by,
      roots: this.#forest.report(this.operations.groups),
      nodes: this.#forest.size,
      folded: this.#forest.folded,
    };
  }

  #of(run: Run): IdMap {
    this.#nodes[run.index] ??= new IdMap();
    return this.#nodes[run.index];
  }
}
