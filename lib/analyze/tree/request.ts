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
import type { LogReport } from '../report/log';
import { Requests } from '../roots/requests';
import { ABOVE_ROOTS, Forest } from './forest';
import type { RootReport } from './report';

/** The answer to `analyzeTree` with `root` and `request`. */
export async function analyzeRequest(
  source: LogSource,
  options: ReadOptions & CodeOptions,
  by: 'trigger' | 'execution',
  opid: number,
  request: number,
): Promise<RootReport> {
  const { visitor, log } = await visitOperations(
    source,
    options,
    (operations) => new RequestDescent(operations, by, opid, request),
  );
  return visitor.report(log);
}

/** One request of an operation, in one run. */
interface Members {
  root: number;
  forest: Forest;
  nodes: IdMap;
  /** For how long the callbacks of the operation itself ran in it. */
  run: number;
}

class RequestDescent extends OperationVisitor {
  readonly #operations: Operations;
  readonly #by: 'trigger' | 'execution';
  readonly #opid: number;
  readonly #request: number;
  readonly #requests: Requests;
  /** By run. */
  readonly #members: Members[] = [];

  constructor(operations: Operations, by: 'trigger' | 'execution', opid: number, request: number) {
    super();
    this.#operations = operations;
    this.#by = by;
    this.#opid = opid;
    this.#request = request;
    this.#requests = new Requests(operations, by);
  }

  override init(run: Run, _row: number, group: number, executionId: number, record: RecordCursor): void {
    const root = this.#requests.init(run, group, executionId, record);
    const { roots } = this.#requests;
    if (roots.opid[root] !== this.#opid || roots.request[root] !== this.#request) {
      return;
    }
    this.#members[run.index] ??= { root, forest: new Forest(), nodes: new IdMap(), run: 0 };
    const { forest, nodes } = this.#members[run.index];
    const above = nodes.get(this.#by === 'trigger' ? record.parentopid : executionId);
    nodes.set(record.opid, forest.add(Math.max(above, ABOVE_ROOTS), group, record.opid));
  }

  override firstBefore(run: Run, row: number, _group: number, wait: number): void {
    const members = this.#members[run.index];
    const node = members?.nodes.get(run.live.id[row]) ?? ABOVE_ROOTS;
    if (node > ABOVE_ROOTS) {
      members.forest.addWait(node, wait);
    }
  }

  override before(run: Run, row: number, group: number, record: RecordCursor): void {
    this.#requests.before(run, row, group, record);
  }

  override after(run: Run, _row: number, record: RecordCursor): void {
    const root = this.#requests.after(run, record);
    const members = this.#members[run.index];
    if (members === undefined) {
      return;
    }
    const { self } = run.callbacks;
    const node = members.nodes.get(record.opid);
    if (node > ABOVE_ROOTS) {
      members.forest.addRun(node, self);
    }
    if (record.opid === this.#opid && root === members.root) {
      members.run += self;
    }
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

  report(log: LogReport): RootReport {
    const { groups } = this.#operations;
    const found = this.#members.flatMap(({ root, forest, run: own }, run) => {
      const { op, area, kind, site, inherited, opid, time, operations, elapsed, ran, queued, waited } =
        this.#requests.roots.describe(root, groups);
      return {
        run,
        root: { op, area, kind, site, inherited, opid, time, wait: null, run: round(own) },
        request: this.#request,
        requestCount: 0,
        requests: [],
        ...{ operations, elapsed, ran, queued, waited },
        started: forest.report(groups),
      };
    });
    return { report: 'root', log, by: this.#by, opid: this.#opid, found };
  }
}
