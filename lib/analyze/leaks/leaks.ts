import { TracerError } from '../../errors';
import type { RecordCursor } from '../decode/cursor';
import type { Stack } from '../decode/stack-table';
import { lostFindings } from '../findings/records-lost';
import type { CodeOptions } from '../model/code-option';
import { CONTEXT, DERIVED, NO_ROW, RAN, SETTLED, STACK_CUT, UNREF } from '../model/live-operations';
import type { Operations } from '../model/operations';
import { round } from '../model/percentiles';
import type { Run } from '../model/run';
import { visitOperations } from '../model/visit-operations';
import { OperationVisitor } from '../model/visitor';
import { checkOptions, type ReadOptions } from '../read/options';
import type { LogSource } from '../read/source';
import type { LogReport } from '../report/log';
import type { Kind } from '../report/operation';
import { withPath } from '../site/frame';
import { ActiveResources } from './active-resources';
import { type GroupTest, parseAllowList } from './allow-list';
import { leakFindings } from './leak-findings';
import { LiveStacks } from './live-stacks';
import type { LeakRow, LeaksReport } from './report';
import { type Classification, classify, classifyCollected, limitationsOf } from './verdict';

export interface LeaksOptions extends ReadOptions, CodeOptions {
  /**
   * What is no leak. Each item is a text that is an op, an area, or part of the call site's `function (file:line:column)`,
   * with `*` for any text; or a RegExp that is tested on `op function (file:line:column)`.
   */
  allow?: readonly (string | RegExp)[];
  /** Milliseconds that an operation must have lived to be listed. Default 0. */
  minAge?: number;
}

/** Ids listed with each row. */
const MAX_IDS = 10;

/**
 * What never ended: everything that was live at the end of the log, grouped by op and call site, each group with a verdict
 * and its reason. The rules are in `verdict.ts`.
 *
 * @throws TracerError as `readLog` does, ERR_ASYNC_TRACER_UNKNOWN_OPTION, and ERR_ASYNC_TRACER_OPTION for a wrong option
 */
export async function analyzeLeaks(source: LogSource, options: LeaksOptions = {}): Promise<LeaksReport> {
  checkOptions('analyzeLeaks', options, ['allow', 'minAge', 'code']);
  const { minAge = 0 } = options;
  if (typeof minAge !== 'number' || !(minAge >= 0)) {
    throw new TracerError(
      'ERR_ASYNC_TRACER_OPTION',
      `minAge is ${String(minAge)}; expected milliseconds, 0 or more`,
    );
  }
  const isAllowed = parseAllowList(options.allow ?? []);
  const { visitor, log } = await visitOperations(source, options, (operations) => new Leaks(operations), {
    splitByVia: true,
  });
  return visitor.report(log, isAllowed, minAge);
}

/** The answer as a visitor, for passes that several answers share. Its model needs `splitByVia`. */
export class Leaks extends OperationVisitor {
  readonly #operations: Operations;
  #stacks = false;
  #contexts = false;
  /** By group, promises that were collected before they settled, and how long they lived. */
  readonly #collected = new Map<
    number,
    { count: number; oldest: number; youngest: number; stack: Stack | undefined }
  >();
  readonly #liveStacks = new LiveStacks();
  /** By run, file handles opened minus file handles closed, because their destroy comes only at garbage collection. */
  readonly #files = new Map<Run, number>();

  constructor(operations: Operations) {
    super();
    this.#operations = operations;
  }

  override init(run: Run, row: number, group: number, executionId: number, record: RecordCursor): void {
    if (record.stack >= 0) {
      this.#stacks = true;
      const stack = record.stacks.at(record.stack);
      this.#liveStacks.set(run, row, stack);
      if (stack.length >= run.stackLimit) {
        run.live.flags[row] |= STACK_CUT;
      }
    }
    const { kind } = this.#operations.groups;
    if (kind[group] === 'object' || kind[group] === 'request') {
      this.#countFiles(run, record);
    }
    if (kind[group] !== 'promise' || record.parentopid === executionId) {
      return;
    }
    // A promise that another one triggered outside of its callback is the result of `await`, `then` or the like.
    const { live } = run;
    const parent = live.find(record.parentopid);
    if (
      parent !== NO_ROW &&
      kind[live.group[parent]] === 'promise' &&
      !(live.flags[parent] & (SETTLED | RAN))
    ) {
      live.flags[row] |= DERIVED;
    }
  }

  #countFiles(run: Run, record: RecordCursor): void {
    const op = record.ops.names[record.op];
    if (op === 'FILEHANDLE') {
      this.#files.set(run, (this.#files.get(run) ?? 0) + 1);
    } else if (op === 'FILEHANDLECLOSEREQ') {
      this.#files.set(run, (this.#files.get(run) ?? 0) - 1);
    }
  }

  override before(run: Run, row: number, group: number, record: RecordCursor): void {
    if (row === NO_ROW || this.#operations.groups.kind[group] !== 'timer') {
      return;
    }
    const context = record.context();
    if (typeof context !== 'object' || context === null) {
      return;
    }
    this.#contexts = true;
    const { refed } = context as { refed?: unknown };
    if (typeof refed !== 'boolean') {
      return;
    }
    const { flags } = run.live;
    flags[row] = (flags[row] & ~UNREF) | CONTEXT | (refed ? 0 : UNREF);
  }

  override forget(run: Run, row: number): void {
    this.#liveStacks.release(run, row);
  }

  override destroy(run: Run, row: number, group: number, record: RecordCursor): void {
    const stack = this.#liveStacks.release(run, row);
    if (this.#operations.groups.kind[group] !== 'promise') {
      return;
    }
    if (run.live.flags[row] & (SETTLED | RAN | DERIVED)) {
      return;
    }
    const age = record.time - run.live.init[row];
    const sum = this.#collected.get(group);
    if (sum === undefined) {
      this.#collected.set(group, {
        count: 1,
        oldest: age,
        youngest: age,
        stack: this.#liveStacks.retain(stack),
      });
    } else {
      sum.count++;
      sum.oldest = Math.max(sum.oldest, age);
      sum.youngest = Math.min(sum.youngest, age);
    }
  }

  report(log: LogReport, isAllowed: GroupTest, minAge: number): LeaksReport {
    const { groups, runs } = this.#operations;
    const recorded = {
      resolves: runs.some((run) => run.resolves),
      stacks: this.#stacks,
      contexts: this.#contexts,
    };
    const live: Record<Kind, number> = {
      handle: 0,
      object: 0,
      timer: 0,
      request: 0,
      promise: 0,
      tick: 0,
      resource: 0,
    };
    const rows = new Map<string, LeakRow>();
    let pending = 0;
    let allowed = 0;
    const rowOf = (
      group: number,
      { code, verdict, reason }: Classification,
      stack: Stack | undefined,
    ): LeakRow => {
      const key = `${groups.merged(group)} ${code}`;
      let row = rows.get(key);
      if (row === undefined) {
        row = {
          ...groups.describe(group),
          verdict,
          reason,
          count: 0,
          oldest: 0,
          youngest: Number.POSITIVE_INFINITY,
          opids: [],
          stack: stack?.frames().map(withPath) ?? null,
          atLeast: false,
          collected: false,
          unref: null,
          confirmed: null,
        };
        rows.set(key, row);
      }
      return row;
    };

    for (const run of runs) {
      const { live: table } = run;
      const openFiles = (this.#files.get(run) ?? 0) > 0;
      const order = [...table.rows()].sort(
        (a, b) => table.init[a] - table.init[b] || table.id[a] - table.id[b],
      );
      const active = ActiveResources.of(run);
      const inRun = new Map<LeakRow, number>();
      const classified = order.map((row) => classify(run, row, groups, openFiles));
      order.forEach((row, i) => {
        if (classified[i] !== undefined) {
          active?.add(groups.opOf(table.group[row]), classified[i]);
        }
      });
      for (const [i, row] of order.entries()) {
        const group = table.group[row];
        const kind = groups.kind[group];
        if (kind === null) {
          continue;
        }
        live[kind]++;
        const flags = table.flags[row];
        const op = groups.opOf(group);
        const own = classified[i];
        if (own === undefined) {
          continue;
        }
        const classification = active?.judge(op, own) ?? own;
        if (kind === 'promise') {
          pending++;
        }
        const age = run.to - table.init[row];
        if (age < minAge) {
          continue;
        }
        if (isAllowed(groups.describe(group))) {
          allowed++;
          continue;
        }
        const leak = rowOf(group, classification, this.#liveStacks.get(run, row));
        leak.count++;
        inRun.set(leak, (inRun.get(leak) ?? 0) + 1);
        leak.atLeast ||= run.end === undefined;
        leak.oldest = Math.max(leak.oldest, age);
        leak.youngest = Math.min(leak.youngest, age);
        if (leak.opids.length < MAX_IDS) {
          leak.opids.push(table.id[row]);
        }
        if (kind === 'timer' && flags & CONTEXT) {
          leak.unref = (leak.unref ?? 0) + (flags & UNREF ? 1 : 0);
        }
      }
      for (const [leak, number] of inRun) {
        const confirmed = leak.verdict === 'kept' ? null : active?.confirmed(leak.op!, number);
        if (typeof confirmed === 'number') {
          leak.confirmed = (leak.confirmed ?? 0) + confirmed;
        }
      }
    }
    let collected = 0;
    if (recorded.resolves) {
      for (const [group, { count, oldest, youngest, stack }] of this.#collected) {
        const classification = classifyCollected(groups.siteOf(group)?.via);
        if (classification === undefined || oldest < minAge) {
          continue;
        }
        collected += count;
        if (isAllowed(groups.describe(group))) {
          allowed += count;
        } else {
          Object.assign(rowOf(group, classification, stack), { count, oldest, youngest, collected: true });
        }
      }
    }
    const order = { leak: 0, unsure: 1, kept: 2 };
    const list = [...rows.values()]
      .map((row) => ({ ...row, oldest: round(row.oldest), youngest: round(row.youngest) }))
      .sort((a, b) => order[a.verdict] - order[b.verdict] || b.count - a.count || b.oldest - a.oldest);
    return {
      report: 'leaks',
      log,
      rows: list,
      live,
      allowed,
      promises: { recorded: recorded.resolves, pending, collected },
      notes: limitationsOf(recorded, live, runs),
      findings: [...lostFindings(log, this.#operations.runs), ...leakFindings(list)],
    };
  }
}
