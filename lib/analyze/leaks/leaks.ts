import { TracerError } from '../../errors';
import { Decoder } from '../decode/decoder';
import { leakFindings, lostFindings } from '../findings/findings';
import { round } from '../model/histograms';
import { CONTEXT, CUT, DERIVED, NO_ROW, RAN, SETTLED, UNREF } from '../model/live-operations';
import { follow, Operations, Watcher } from '../model/operations';
import type { Run } from '../model/run';
import { checkOptions } from '../read/options';
import type { ReadOptions } from '../read/reader';
import type { LogSource } from '../read/source';
import type { Kind, LeakRow, LeaksReport, LogReport } from '../report';
import type { Stack } from '../stack/stack-table';
import { type Allow, allowance } from './allow';
import { HeldStacks } from './live-stacks';
import { type Judgement, judge, judgeDropped, notesFor } from './verdict';

export interface LeaksOptions extends ReadOptions {
  /**
   * What is known and no leak: each a text that is an op, an area, or part of the call site's `function (file:line:column)`,
   * with `*` for any text; or a RegExp that is tested on `op function (file:line:column)`.
   */
  allow?: readonly (string | RegExp)[];
  /** Milliseconds that an operation must have lived to be told. Default 0. */
  minAge?: number;
}

/** Ids listed with each row. */
const MAX_IDS = 10;

/**
 * What never ended: everything that was live at the end of the log, grouped by op and call site, each with a verdict and
 * its reason. See `verdict.ts` for the rules.
 *
 * @throws TracerError as `readLog` does, ERR_ASYNC_TRACER_UNKNOWN_OPTION, and ERR_ASYNC_TRACER_OPTION for a wrong option
 */
export async function analyzeLeaks(source: LogSource, options: LeaksOptions = {}): Promise<LeaksReport> {
  checkOptions('analyzeLeaks', options, ['allow', 'minAge']);
  const { minAge = 0 } = options;
  if (typeof minAge !== 'number' || !(minAge >= 0)) {
    throw new TracerError(
      'ERR_ASYNC_TRACER_OPTION',
      `minAge is ${String(minAge)}; expected milliseconds, 0 or more`,
    );
  }
  const isAllowed = allowance(options.allow ?? []);
  const decoder = new Decoder();
  const leaks = new Leaks(decoder);
  const log = await follow(source, options, decoder, leaks.operations);
  return leaks.report(log, isAllowed, minAge);
}

class Leaks extends Watcher {
  readonly operations: Operations;
  #stacks = false;
  #contexts = false;
  /** By group, promises that were collected before they settled, and how long they lived. */
  readonly #collected = new Map<
    number,
    { count: number; oldest: number; youngest: number; stack: Stack | undefined }
  >();
  readonly #held = new HeldStacks();
  /** By run, how many file handles were opened less how many were closed: their own destroy comes when it likes. */
  readonly #files = new Map<Run, number>();

  constructor(decoder: Decoder) {
    super();
    this.operations = new Operations(decoder, this, true);
  }

  override started(run: Run, row: number, group: number, exec: number, decoder: Decoder): void {
    if (decoder.stack >= 0) {
      this.#stacks = true;
      const stack = decoder.stacks.at(decoder.stack);
      this.#held.hold(run, row, stack);
      if (stack.length >= run.stackLimit) {
        run.live.flags[row] |= CUT;
      }
    }
    const { kind } = this.operations.groups;
    if (kind[group] === 'object' || kind[group] === 'request') {
      this.#countFiles(run, decoder);
    }
    if (kind[group] !== 'promise' || decoder.parentopid === exec) {
      return;
    }
    // A promise that another one triggered outside of its callback is the result of `await`, `then` and their kind.
    const { live } = run;
    const parent = live.find(decoder.parentopid);
    if (
      parent !== NO_ROW &&
      kind[live.group[parent]] === 'promise' &&
      !(live.flags[parent] & (SETTLED | RAN))
    ) {
      live.flags[row] |= DERIVED;
    }
  }

  #countFiles(run: Run, decoder: Decoder): void {
    const op = decoder.ops.names[decoder.op];
    if (op === 'FILEHANDLE') {
      this.#files.set(run, (this.#files.get(run) ?? 0) + 1);
    } else if (op === 'FILEHANDLECLOSEREQ') {
      this.#files.set(run, (this.#files.get(run) ?? 0) - 1);
    }
  }

  override entered(run: Run, row: number, group: number, _time: number, decoder: Decoder): void {
    if (row === NO_ROW || this.operations.groups.kind[group] !== 'timer') {
      return;
    }
    const context = decoder.context();
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

  override forgotten(run: Run, row: number): void {
    this.#held.release(run, row);
  }

  override ended(run: Run, row: number, group: number, time: number): void {
    const stack = this.#held.release(run, row);
    if (this.operations.groups.kind[group] !== 'promise') {
      return;
    }
    if (run.live.flags[row] & (SETTLED | RAN | DERIVED)) {
      return;
    }
    const age = time - run.live.init[row];
    const sum = this.#collected.get(group);
    if (sum === undefined) {
      this.#collected.set(group, { count: 1, oldest: age, youngest: age, stack: this.#held.keep(stack) });
    } else {
      sum.count++;
      sum.oldest = Math.max(sum.oldest, age);
      sum.youngest = Math.min(sum.youngest, age);
    }
  }

  report(log: LogReport, isAllowed: Allow, minAge: number): LeaksReport {
    const { groups, runs } = this.operations;
    const known = {
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
      { code, verdict, reason }: Judgement,
      stack: Stack | undefined,
    ): LeakRow => {
      const key = `${groups.alike(group)} ${code}`;
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
          stack: stack?.frames() ?? null,
          atLeast: false,
          collected: false,
          unref: null,
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
      for (const row of order) {
        const group = table.group[row];
        const kind = groups.kind[group];
        if (kind === null) {
          continue;
        }
        live[kind]++;
        const flags = table.flags[row];
        const judgement = judge(run, row, groups, openFiles);
        if (judgement === undefined) {
          continue;
        }
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
        const told = rowOf(group, judgement, this.#held.of(run, row));
        told.count++;
        told.atLeast ||= run.end === undefined;
        told.oldest = Math.max(told.oldest, age);
        told.youngest = Math.min(told.youngest, age);
        if (told.opids.length < MAX_IDS) {
          told.opids.push(table.id[row]);
        }
        if (kind === 'timer' && flags & CONTEXT) {
          told.unref = (told.unref ?? 0) + (flags & UNREF ? 1 : 0);
        }
      }
    }
    let collected = 0;
    if (known.resolves) {
      for (const [group, { count, oldest, youngest, stack }] of this.#collected) {
        const judgement = judgeDropped(groups.siteFor(group)?.via);
        if (judgement === undefined || oldest < minAge) {
          continue;
        }
        collected += count;
        if (isAllowed(groups.describe(group))) {
          allowed += count;
        } else {
          Object.assign(rowOf(group, judgement, stack), { count, oldest, youngest, collected: true });
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
      promises: { recorded: known.resolves, pending, collected },
      notes: notesFor(known, live, runs),
      findings: [...lostFindings(log, this.operations.runs), ...leakFindings(list)],
    };
  }
}
