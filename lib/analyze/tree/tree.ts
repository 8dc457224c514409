import { TracerError } from '../../errors';
import type { RecordCursor } from '../decode/cursor';
import type { CodeOptions } from '../model/code-option';
import { IdMap } from '../model/id-map';
import { NO_ROW } from '../model/live-operations';
import type { Operations } from '../model/operations';
import type { Run } from '../model/run';
import { visitOperations } from '../model/visit-operations';
import { OperationVisitor } from '../model/visitor';
import { checkOptions, type ReadOptions } from '../read/options';
import type { LogSource } from '../read/source';
import type { LogReport } from '../report/log';
import { ABOVE_ROOTS, Forest } from './forest';
import { analyzePath } from './path';
import type { PathReport, RootReport, TreeReport } from './report';
import { analyzeRequest } from './request';
import { analyzeRoot } from './root';

export interface TreeOptions extends ReadOptions, CodeOptions {
  /**
   * Whose child an operation is: of the one that triggered it (parentopid; the default) or of the one that was executing
   * when it was made (execopid).
   */
  by?: 'trigger' | 'execution';
  /** Only the path from this operation back to its first cause. */
  op?: number;
  /** Only what this operation started, and how its time was spent; and the requests that it carried. */
  root?: number;
  /** Only one of the requests that `root` carried: its number, from 1. */
  request?: number;
}

/**
 * Which operation started which. Memory, in addition to that for live operations: about 5 bytes for each operation of the
 * log; 29 with `op`; with `root` also 5 for each operation that the root started, and 68 for each root: see `analyzeRoots`.
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
  checkOptions('analyzeTree', options, ['by', 'op', 'root', 'request', 'code']);
  const { by = 'trigger', op, root, request } = options;
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
  if (request !== undefined && (root === undefined || !Number.isSafeInteger(request) || request < 1)) {
    throw new TracerError(
      'ERR_ASYNC_TRACER_OPTION',
      root === undefined
        ? 'request was given without root; expected the opid of the operation that carried it'
        : `request is ${String(request)}; expected a whole number above 0`,
    );
  }
  if (op !== undefined) {
    return analyzePath(source, options, by, op);
  }
  if (root !== undefined && request !== undefined) {
    return analyzeRequest(source, options, by, root, request);
  }
  if (root !== undefined) {
    return analyzeRoot(source, options, by, root);
  }
  const { visitor, log } = await visitOperations(source, options, (operations) => new Tree(operations, by));
  return visitor.report(log);
}

/** The answer as a visitor, for passes that several answers share. */
export class Tree extends OperationVisitor {
  readonly #operations: Operations;
  readonly #by: 'trigger' | 'execution';
  readonly #forest = new Forest();
  /** By run, the node of each operation. */
  readonly #nodes: IdMap[] = [];

  constructor(operations: Operations, by: 'trigger' | 'execution') {
    super();
    this.#operations = operations;
    this.#by = by;
  }

  override init(run: Run, _row: number, group: number, executionId: number, record: RecordCursor): void {
    const { opid } = record;
    const parent = this.#by === 'trigger' ? record.parentopid : executionId;
    const nodes = this.#nodesOf(run);
    const above = parent === opid ? -1 : nodes.get(parent);
    nodes.set(opid, this.#forest.add(above < 0 ? ABOVE_ROOTS : above, group, opid));
  }

  override firstBefore(run: Run, row: number, _group: number, wait: number): void {
    const node = this.#nodesOf(run).get(run.live.id[row]);
    if (node > ABOVE_ROOTS) {
      this.#forest.addWait(node, wait);
    }
  }

  override after(run: Run, row: number, record: RecordCursor): void {
    // An operation whose init is not in the log has no known parent.
    const node = row === NO_ROW ? -1 : this.#nodesOf(run).get(record.opid);
    if (node > ABOVE_ROOTS) {
      this.#forest.addRun(node, run.callbacks.self);
    }
  }

  report(log: LogReport): TreeReport {
    return {
      report: 'tree',
      log,
      by: this.#by,
      roots: this.#forest.report(this.#operations.groups),
      nodes: this.#forest.size,
      folded: this.#forest.folded,
    };
  }

  #nodesOf(run: Run): IdMap {
    this.#nodes[run.index] ??= new IdMap();
    return this.#nodes[run.index];
  }
}
