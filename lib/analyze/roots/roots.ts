import { TracerError } from '../../errors';
import type { RecordCursor } from '../decode/cursor';
import type { CodeOptions } from '../model/code-option';
import type { Operations } from '../model/operations';
import { Percentiles } from '../model/percentiles';
import type { Run } from '../model/run';
import { visitOperations } from '../model/visit-operations';
import { OperationVisitor } from '../model/visitor';
import { checkOptions, type ReadOptions } from '../read/options';
import type { LogSource } from '../read/source';
import type { LogReport } from '../report/log';
import type { Root, RootKind, RootOrder, RootsReport } from './report';
import { Requests } from './requests';
import type { RootTable } from './root-table';

export interface RootsOptions extends ReadOptions, CodeOptions {
  /**
   * Whose child an operation is: of the one that triggered it (the default) or of the one that was executing when it was
   * made.
   */
  by?: 'trigger' | 'execution';
  /** The order of the roots: the longest `time` first (the default), or by another figure; by `start` the first one first. */
  sort?: RootOrder;
  /** How many roots are listed. Default 20. */
  top?: number;
}

/** By order, the figure of a root by which the largest come first. */
const FIGURES: Record<RootOrder, (roots: RootTable, root: number) => number> = {
  time: (roots, root) => roots.timeOf(root).elapsed,
  ran: (roots, root) => roots.timeOf(root).ran,
  queued: (roots, root) => roots.timeOf(root).queued,
  waited: (roots, root) => roots.timeOf(root).waited,
  operations: (roots, root) => roots.operations[root],
  start: (roots, root) => -roots.from[root],
};

export const ROOT_ORDERS = Object.keys(FIGURES) as RootOrder[];

/**
 * What came into the program, and where the time of each went: requests, each of them also where a connection carries
 * many; events; the main script. Operations belong to the root that led to them.
 *
 * Memory, in addition to that for live operations: 5 bytes for each operation of the log, 68 for each root.
 *
 * @throws TracerError as `readLog` does, ERR_ASYNC_TRACER_UNKNOWN_OPTION, and ERR_ASYNC_TRACER_OPTION for a wrong option
 */
export async function analyzeRoots(source: LogSource, options: RootsOptions = {}): Promise<RootsReport> {
  checkOptions('analyzeRoots', options, ['by', 'sort', 'top', 'code']);
  const { by = 'trigger', sort = 'time', top = 20 } = options;
  const refuse = (name: string, value: unknown, expected: string): never => {
    throw new TracerError('ERR_ASYNC_TRACER_OPTION', `${name} is ${String(value)}; expected ${expected}`);
  };
  if (by !== 'trigger' && by !== 'execution') {
    refuse('by', by, "'trigger' or 'execution'");
  }
  if (!ROOT_ORDERS.includes(sort)) {
    refuse('sort', sort, ROOT_ORDERS.map((order) => `'${order}'`).join(', '));
  }
  if (!Number.isInteger(top) || top < 1) {
    refuse('top', top, 'a whole number above 0');
  }
  const { visitor, log } = await visitOperations(source, options, (operations) => new Roots(operations, by));
  return visitor.report(log, sort, top);
}

class Roots extends OperationVisitor {
  readonly #operations: Operations;
  readonly #by: 'trigger' | 'execution';
  readonly #requests: Requests;

  constructor(operations: Operations, by: 'trigger' | 'execution') {
    super();
    this.#operations = operations;
    this.#by = by;
    this.#requests = new Requests(operations, by);
  }

  override init(run: Run, _row: number, group: number, executionId: number, record: RecordCursor): void {
    this.#requests.init(run, group, executionId, record);
  }

  override before(run: Run, row: number, group: number, record: RecordCursor): void {
    this.#requests.before(run, row, group, record);
  }

  override after(run: Run, _row: number, record: RecordCursor): void {
    this.#requests.after(run, record);
  }

  override resolve(run: Run, _row: number, _group: number, record: RecordCursor): void {
    this.#requests.resolve(run, record);
  }

  override destroy(run: Run, _row: number, _group: number, record: RecordCursor): void {
    this.#requests.destroy(run, record);
  }

  override leaveRun(): void {
    this.#requests.leaveRun();
  }

  report(log: LogReport, sort: RootOrder, top: number): RootsReport {
    const { roots } = this.#requests;
    const { folded } = roots;
    return {
      report: 'roots',
      log,
      by: this.#by,
      sort,
      kinds: this.#kinds(),
      roots: this.#first(sort, top),
      count: roots.size - 1 + folded,
      folded,
    };
  }

  #first(sort: RootOrder, top: number): Root[] {
    const { roots } = this.#requests;
    const figures = new Float64Array(roots.size);
    const order = new Int32Array(roots.size - 1);
    for (let root = 1; root < roots.size; root++) {
      figures[root] = FIGURES[sort](roots, root);
      order[root - 1] = root;
    }
    return [...order.sort((a, b) => figures[b] - figures[a] || a - b).subarray(0, top)].map((root) =>
      roots.describe(root, this.#operations.groups),
    );
  }

  #kinds(): RootKind[] {
    const { roots } = this.#requests;
    const numbers = new Map<number, number>();
    const kinds: { root: number; operations: number }[] = [];
    const [elapsed, ran, queued, waited] = [1, 2, 3, 4].map(() => new Percentiles());
    for (let root = 1; root < roots.size; root++) {
      // The main script and operations whose init is not in the log are two kinds without a group.
      const key = roots.group[root] < 0 ? -Math.min(roots.opid[root], 2) : roots.group[root];
      const kind = numbers.get(key) ?? kinds.push({ root, operations: 0 }) - 1;
      numbers.set(key, kind);
      kinds[kind].operations += roots.operations[root];
      const time = roots.timeOf(root);
      elapsed.add(kind, time.elapsed);
      ran.add(kind, time.ran);
      queued.add(kind, time.queued);
      waited.add(kind, time.waited);
    }
    return kinds
      .map(({ root, operations }, kind) => {
        const {
          opid,
          op,
          area,
          kind: kindOfOp,
          site,
          inherited,
        } = roots.describe(root, this.#operations.groups);
        return {
          ...{ op, area, kind: kindOfOp, site, inherited, opid },
          count: elapsed.get(kind).count,
          operations,
          elapsed: elapsed.get(kind),
          ran: ran.get(kind),
          queued: queued.get(kind),
          waited: waited.get(kind),
        };
      })
      .sort((a, b) => b.elapsed.total - a.elapsed.total || b.count - a.count);
  }
}
