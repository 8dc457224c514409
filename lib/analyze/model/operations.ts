import type { EndRecord, InitRecord, StartRecord } from '../../log/event';
import type { RecordCursor } from '../decode/cursor';
import { AFTER, BEFORE, DESTROY, END, INIT, RESOLVE, START } from '../decode/record';
import type { Code } from '../site/site';
import type { SiteTable } from '../site/site-table';
import { Groups } from './groups';
import { kindOf } from './kind';
import { NO_ROW, RAN, RAN_AGAIN, SETTLED } from './live-operations';
import { RecentlyEnded } from './recently-ended';
import type { Run } from './run';
import { Runs } from './runs';
import type { OperationVisitor } from './visitor';

export interface OperationsOptions {
  /** Whether groups that differ only in `Site.via` are kept separate: see `Groups.merged`. Default false. */
  splitByVia?: boolean;
  /** The table of call sites. Models of one decoder must share it, because a stack keeps its number in one table. */
  sites?: SiteTable;
  /** Where call sites are looked for. Default 'user'. */
  code?: Code;
}

const isLoopArea = (area: string | undefined) => area !== 'ticks' && area !== 'promises';

/**
 * Follows the operations of a log by its records: which are live, which run, for how long; and calls a visitor. State is
 * kept for live operations only.
 *
 * An operation without a frame of the user's code has the place of its nearest ancestor: of what triggered it, else of what
 * was executing. Each operation gets its place at its init, so the place of a parent is already that of its ancestors.
 */
export class Operations {
  visitor!: OperationVisitor;
  readonly groups: Groups;
  /** Records of operations whose init was not read, or that come after the destroy. */
  withoutInit = 0;
  /** Callbacks whose before or after is missing. */
  unpaired = 0;

  readonly #runs = new Runs((run) => this.visitor.leaveRun(run));
  readonly #splitByVia: boolean;
  readonly #record: RecordCursor;
  readonly #ended = new RecentlyEnded();
  /** An init that waits for the next record: see `isOrphan`. */
  #orphan: InitRecord | undefined;

  constructor(record: RecordCursor, { splitByVia = false, sites, code = 'user' }: OperationsOptions = {}) {
    this.#record = record;
    this.#splitByVia = splitByVia;
    this.groups = new Groups(record, code, sites);
  }

  get runs(): readonly Run[] {
    return this.#runs.all;
  }

  /** Takes the record that was read last. */
  take(): void {
    const record = this.#record;
    if (this.#orphan !== undefined) {
      const current = record.record();
      this.#takeOrphan(record);
      record.assign(current);
    }
    if (record.phase === INIT && isOrphan(record)) {
      this.#orphan = record.record() as InitRecord;
      return;
    }
    this.#take(record);
  }

  #take(record: RecordCursor): void {
    const { phase, time } = record;
    let run = this.#runs.current;
    if (phase === INIT) {
      if (run === undefined || run.isOfNextRun(record.opid)) {
        run = this.#runs.begin(undefined);
      }
    } else if (phase === START) {
      run = this.#runs.open(record.parsed as StartRecord);
    } else if (run === undefined) {
      run = this.#runs.begin(undefined);
    }
    if (phase !== START || run.tracesFromStart) {
      run.extendTo(time);
    }
    switch (phase) {
      case INIT:
        this.#init(run, record);
        break;
      case BEFORE:
        this.#before(run, record);
        break;
      case AFTER:
        this.#after(run, record);
        break;
      case DESTROY:
        this.#destroy(run, record);
        break;
      case RESOLVE:
        this.#resolve(run, record);
        break;
      case START:
        break;
      case END:
        run.end = record.parsed as EndRecord;
        break;
      default:
        run.lost += Number(record.parsed!['count']);
        run.callbacks.abandonAll();
    }
  }

  /** All records were taken. */
  finish(): void {
    if (this.#orphan !== undefined) {
      this.#takeOrphan(this.#record);
    }
    this.#runs.leave();
    for (const run of this.runs) {
      if (Number.isNaN(run.from) && run.start !== undefined) {
        run.extendTo(run.start.time);
      }
      this.unpaired += run.callbacks.abandoned + run.callbacks.depth;
    }
  }

  #init(run: Run, record: RecordCursor): void {
    const { opid } = record;
    run.counts[INIT]++;
    run.addInit(opid);
    let group = this.groups.of(record);
    if (this.groups.seeksPlace(group)) {
      const { parentopid, execopid } = record;
      const execution = Number.isNaN(execopid) ? -1 : this.#placeOf(run, execopid);
      group = this.groups.under(group, this.#placeOf(run, parentopid), execution);
    }
    if (!this.#splitByVia) {
      group = this.groups.merged(group);
    }
    if (!run.promiseDestroys && this.groups.kind[group] === 'promise') {
      this.#forget(run, run.addPromise(opid));
    }
    const row = run.live.add(opid, record.time, group);
    const executionId = Number.isNaN(record.execopid) ? record.parentopid : record.execopid;
    this.visitor.init(run, row, group, executionId, record);
  }

  #before(run: Run, record: RecordCursor): void {
    const { opid, time } = record;
    const { live } = run;
    run.counts[BEFORE]++;
    const row = live.find(opid);
    let group: number;
    if (row === NO_ROW) {
      group = this.#groupWithoutInit(record);
    } else {
      group = live.group[row];
      const flags = live.flags[row];
      if ((flags & RAN) === 0) {
        live.flags[row] = flags | RAN;
        this.visitor.firstBefore(run, row, group, Math.max(0, time - live.init[row]));
      } else {
        live.flags[row] = flags | RAN_AGAIN;
      }
    }
    if (run.callbacks.depth === 0 && isLoopArea(this.groups.areaOf(group))) {
      run.lastLoopTurn = time;
    }
    this.visitor.before(run, row, group, record);
    run.callbacks.open(opid, group, time);
  }

  #after(run: Run, record: RecordCursor): void {
    const { opid, time } = record;
    const { callbacks, live } = run;
    run.counts[AFTER]++;
    const row = live.find(opid);
    if (row === NO_ROW) {
      this.#groupWithoutInit(record);
    } else {
      live.last[row] = time;
    }
    if (!callbacks.close(opid, time)) {
      this.unpaired++;
      return;
    }
    run.busy += callbacks.self;
    this.visitor.after(run, row, record);
  }

  #destroy(run: Run, record: RecordCursor): void {
    const { live } = run;
    run.counts[DESTROY]++;
    const row = live.find(record.opid);
    if (row === NO_ROW) {
      const group = this.#groupWithoutInit(record);
      if (!run.promiseDestroys && this.groups.kind[group] === 'promise') {
        run.promiseDestroyed();
      }
      return;
    }
    const group = live.group[row];
    if (!run.promiseDestroys && this.groups.kind[group] === 'promise') {
      run.promiseDestroyed();
    }
    this.visitor.destroy(run, row, group, record);
    this.#remove(run, row);
  }

  #resolve(run: Run, record: RecordCursor): void {
    const { live } = run;
    run.counts[RESOLVE]++;
    const row = live.find(record.opid);
    if (row === NO_ROW) {
      this.#groupWithoutInit(record);
      return;
    }
    const flags = live.flags[row];
    if (flags & SETTLED) {
      return;
    }
    live.flags[row] = flags | SETTLED;
    this.visitor.resolve(run, row, live.group[row], record);
  }

  /** The group of an operation that is not live, by the op that its record carries. */
  #groupWithoutInit(record: RecordCursor): number {
    const group = this.groups.of(record);
    // A promise that was dropped from memory has its init in the log.
    if (this.#runs.current!.forgotten === 0 || this.groups.kind[group] !== 'promise') {
      this.withoutInit++;
    }
    return group;
  }

  #forget(run: Run, opid: number): void {
    const row = Number.isNaN(opid) ? NO_ROW : run.live.find(opid);
    if (row === NO_ROW) {
      return;
    }
    run.forgotten++;
    this.visitor.forget(run, row, run.live.group[row]);
    this.#remove(run, row);
  }

  #remove(run: Run, row: number): void {
    const { live } = run;
    if (this.groups.hasPlace(live.group[row])) {
      this.#ended.add(run.index, live.id[row], live.group[row]);
    }
    live.remove(row);
  }

  /** The group of an operation that is live, or was not long ago; -1 where it is not known. */
  #placeOf(run: Run, opid: number): number {
    const row = run.live.find(opid);
    return row === NO_ROW ? this.#ended.groupOf(run.index, opid) : run.live.group[row];
  }

  /** Takes the init that waits. The record that follows it is in `record`, and is overwritten. */
  #takeOrphan(record: RecordCursor): void {
    const orphan = this.#orphan!;
    this.#orphan = undefined;
    const run = this.#runs.current;
    if (record.phase === BEFORE && run !== undefined && !run.isOfNextRun(orphan.opid)) {
      const row = run.live.find(record.opid);
      if (row !== NO_ROW && this.groups.kind[run.live.group[row]] === 'request') {
        orphan.parentopid = record.opid;
      }
    }
    record.assign(orphan);
    this.#take(record);
  }
}

/**
 * An object of Node's that nothing triggered: a FILEHANDLE of fs.promises.open, a DIRHANDLE. Node makes it outside of any
 * callback, just before the callback of the request that asked for it, so the next record names its parent.
 */
function isOrphan(record: RecordCursor): boolean {
  return (
    record.parentopid === 0 &&
    Number.isNaN(record.execopid) &&
    kindOf(record.ops.names[record.op], record.ops.areas[record.op]) === 'object'
  );
}
