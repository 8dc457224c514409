import type { RecordCursor } from '../decode/cursor';
import { BusyTime, splitTime } from '../model/busy-time';
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
import type { OpGroup } from '../report/operation';
import type { Root } from '../roots/report';
import { Requests } from '../roots/requests';
import { ABOVE_ROOTS, Forest } from './forest';
import type { RootReport } from './report';

/** So many requests of an operation are listed. */
const MAX_REQUESTS_LISTED = 1000;

/** The answer to `analyzeTree` with `root`. */
export async function analyzeRoot(
  source: LogSource,
  options: ReadOptions & CodeOptions,
  by: 'trigger' | 'execution',
  opid: number,
): Promise<RootReport> {
  const { visitor, log } = await visitOperations(
    source,
    options,
    (operations) => new Descent(operations, by, opid),
  );
  return visitor.report(log);
}

/** The root and its descendants in one run. */
interface Family {
  forest: Forest;
  nodes: IdMap;
  /** -1 where the init of the root is not in the log. */
  group: number;
  node: number;
  wait: number;
  run: number;
  operations: number;
  /** Time of the root's init, or of the first record of it, and of the last record of a member. */
  from: number;
  to: number;
  /** For how long any callback had run at those two times. */
  busyFrom: number;
  busyTo: number;
  /** For how long the members ran. */
  ran: number;
}

/** One operation with its descendants, and how their time was spent: see `splitTime`. */
class Descent extends OperationVisitor {
  readonly #operations: Operations;
  readonly #by: 'trigger' | 'execution';
  readonly #opid: number;
  readonly #families: Family[] = [];
  readonly #busy = new BusyTime();
  readonly #requests: Requests;

  constructor(operations: Operations, by: 'trigger' | 'execution', opid: number) {
    super();
    this.#operations = operations;
    this.#by = by;
    this.#opid = opid;
    this.#requests = new Requests(operations, by);
  }

  override init(run: Run, _row: number, group: number, executionId: number, record: RecordCursor): void {
    this.#requests.init(run, group, executionId, record);
    const { opid, time } = record;
    const parent = this.#by === 'trigger' ? record.parentopid : executionId;
    let family = this.#families[run.index];
    if (opid === this.#opid) {
      // What was found before its init belongs to an earlier operation with the same id.
      family = this.#addFamily(run, group, time);
      family.node = family.forest.add(ABOVE_ROOTS, group, opid);
      family.nodes.set(opid, family.node);
      return;
    }
    if (parent === this.#opid && family === undefined) {
      family = this.#addFamily(run, -1, time);
    }
    if (family === undefined) {
      return;
    }
    const above = parent === this.#opid ? family.node : family.nodes.get(parent);
    if (above < 0) {
      return;
    }
    family.nodes.set(opid, family.forest.add(above, group, opid));
    family.operations++;
    this.#extend(run, family, time);
  }

  override firstBefore(run: Run, row: number, _group: number, wait: number): void {
    const family = this.#families[run.index];
    if (family === undefined) {
      return;
    }
    const opid = run.live.id[row];
    const node = family.nodes.get(opid);
    if (node > ABOVE_ROOTS) {
      family.forest.addWait(node, wait);
    }
    if (opid === this.#opid) {
      family.wait = wait;
    }
  }

  override before(run: Run, row: number, group: number, record: RecordCursor): void {
    this.#requests.before(run, row, group, record);
    this.#busy.before(run);
    const { opid, time } = record;
    if (opid === this.#opid) {
      this.#families[run.index] ??= this.#addFamily(run, -1, time);
    }
    const family = this.#families[run.index];
    if (family !== undefined && this.#isMember(family, opid)) {
      this.#extend(run, family, time);
    }
  }

  override after(run: Run, _row: number, record: RecordCursor): void {
    this.#requests.after(run, record);
    const { opid, time } = record;
    const family = this.#families[run.index];
    if (family === undefined || !this.#isMember(family, opid)) {
      return;
    }
    const { self } = run.callbacks;
    family.ran += self;
    if (opid === this.#opid) {
      family.run += self;
    }
    const node = family.nodes.get(opid);
    if (node > ABOVE_ROOTS) {
      family.forest.addRun(node, self);
    }
    this.#extend(run, family, time);
  }

  override resolve(run: Run, row: number, _group: number, record: RecordCursor): void {
    this.#requests.resolve(run, record);
    const family = this.#families[run.index];
    if (family !== undefined && this.#isMember(family, run.live.id[row])) {
      this.#extend(run, family, record.time);
    }
  }

  override destroy(run: Run, _row: number, _group: number, record: RecordCursor): void {
    this.#requests.destroy(run, record);
  }

  override leaveRun(): void {
    this.#requests.leaveRun();
    this.#busy.leaveRun();
  }

  report(log: LogReport): RootReport {
    const { groups } = this.#operations;
    const found = this.#families.flatMap((family, run) => {
      const { group, wait, from, to, busyFrom, busyTo, ran, forest, node } = family;
      const time = splitTime(Math.max(0, to - from), ran, busyTo - busyFrom);
      const described: OpGroup =
        group < 0
          ? { op: null, area: null, kind: null, site: null, inherited: false }
          : groups.describe(group);
      return {
        run,
        root: {
          ...described,
          opid: this.#opid,
          time: from,
          wait: Number.isNaN(wait) ? null : round(wait),
          run: round(family.run),
        },
        request: null,
        ...this.#requestsOf(run),
        operations: family.operations,
        elapsed: round(time.elapsed),
        ran: round(time.ran),
        queued: round(time.queued),
        waited: round(time.waited),
        started: forest.report(groups, node),
      };
    });
    return { report: 'root', log, by: this.#by, opid: this.#opid, found };
  }

  #requestsOf(run: number): { requests: Root[]; requestCount: number } {
    const { roots } = this.#requests;
    const all = [...this.#requests.of(run, this.#opid)];
    const time = new Map(all.map((root) => [root, roots.timeOf(root).elapsed]));
    const longest = all.sort((a, b) => time.get(b)! - time.get(a)!).slice(0, MAX_REQUESTS_LISTED);
    return {
      requests: longest.map((root) => roots.describe(root, this.#operations.groups)),
      requestCount: all.length,
    };
  }

  #isMember(family: Family, opid: number): boolean {
    return opid === this.#opid || family.nodes.get(opid) >= 0;
  }

  #addFamily(run: Run, group: number, time: number): Family {
    const busy = this.#busy.at(run, time);
    const family: Family = {
      forest: new Forest(),
      nodes: new IdMap(),
      group,
      node: ABOVE_ROOTS,
      wait: Number.NaN,
      run: 0,
      operations: 0,
      from: time,
      to: time,
      busyFrom: busy,
      busyTo: busy,
      ran: 0,
    };
    this.#families[run.index] = family;
    return family;
  }

  #extend(run: Run, family: Family, time: number): void {
    if (time < family.to) {
      return;
    }
    family.to = time;
    family.busyTo = this.#busy.at(run, time);
  }
}
