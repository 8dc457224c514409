import type { EndRecord, StartRecord } from '../../log/event';
import type { Decoder } from '../decode/decoder';
import { AFTER, BEFORE, DESTROY, END, INIT, RESOLVE, START } from '../decode/record';
import { type LogCounts, type ReadOptions, scan } from '../read/reader';
import type { LogSource } from '../read/source';
import type { LogReport } from '../report';
import { Groups } from './groups';
import { round } from './histograms';
import { NO_ROW, RAN, RAN_AGAIN, SETTLED } from './live-operations';
import { Run } from './run';

/** Longer lists of runs than this are cut in reports. */
export const MAX_RUNS_LISTED = 1000;

/** Reads a whole log through `operations`, which belong to `decoder`. */
export async function follow(
  source: LogSource,
  options: ReadOptions,
  decoder: Decoder,
  operations: Operations,
): Promise<LogReport> {
  const counts = await scan(source, options, decoder, () => operations.take());
  operations.finish();
  return operations.report(counts);
}

/** What an analysis is told while a log is read. Each method does nothing unless it is overridden. */
export abstract class Watcher {
  /** An init. `row` is the operation's place in `run.live`, `exec` the operation that was executing. */
  started(_run: Run, _row: number, _group: number, _exec: number, _decoder: Decoder): void {}
  /** The first before of an operation whose init was seen, `wait` after it. */
  waited(_run: Run, _row: number, _group: number, _wait: number): void {}
  /** Each before, ahead of its callback being open. `row` is NO_ROW where the init was not seen. */
  entered(_run: Run, _row: number, _group: number, _time: number, _decoder: Decoder): void {}
  /** Each after of a callback whose before was seen; the callback's figures are in `run.callbacks`. */
  ran(_run: Run, _row: number, _opid: number, _time: number): void {}
  /** The first resolve of an operation. */
  settled(_run: Run, _row: number, _group: number, _time: number): void {}
  /** A destroy; the row is there still. */
  ended(_run: Run, _row: number, _group: number, _time: number): void {}
  /** A promise is given up so that memory stays bounded; the row is there still. */
  forgotten(_run: Run, _row: number, _group: number): void {}
  /** Reading goes on in another run, or is over. A run may be taken up again. */
  paused(_run: Run): void {}
}

const loopLevel = (area: string | undefined) => area !== 'ticks' && area !== 'promises';

/**
 * Follows the operations of a log by its records: which are live, which run, for how long. State is kept for live
 * operations only.
 *
 * Ids are unique in a run. A run begins with a `start` record, unless one with the same process, thread and anchor is
 * known, which then goes on (a log that was rotated); and where an init has an id that was given before, which is how
 * runs without headers in one file or several are told apart. Files that hold parts of one run without a header must
 * come in their order, with no other run's between them.
 */
export class Operations {
  readonly runs: Run[] = [];
  readonly groups: Groups;
  withoutInit = 0;
  unpaired = 0;

  readonly #watcher: Watcher;
  readonly #apart: boolean;
  readonly #decoder: Decoder;
  readonly #known = new Map<string, Run>();
  #run: Run | undefined;

  /** @param apart whether operations that a report names alike are told apart: see `Groups.alike` */
  constructor(decoder: Decoder, watcher: Watcher, apart = false) {
    this.#decoder = decoder;
    this.#watcher = watcher;
    this.#apart = apart;
    this.groups = new Groups(decoder);
  }

  /** Takes the record that the decoder has just read. */
  take(): void {
    const decoder = this.#decoder;
    const { phase, time } = decoder;
    let run = this.#run;
    if (phase === INIT) {
      if (run === undefined || run.beginsAnew(decoder.opid)) {
        run = this.#begin(undefined);
      }
    } else if (phase === START) {
      run = this.#resume(decoder.parsed as StartRecord);
    } else if (run === undefined) {
      run = this.#begin(undefined);
    }
    if (phase !== START || run.tracesFromStart) {
      run.extendTo(time);
    }
    switch (phase) {
      case INIT:
        this.#init(run, decoder);
        break;
      case BEFORE:
        this.#before(run, decoder);
        break;
      case AFTER:
        this.#after(run, decoder);
        break;
      case DESTROY:
        this.#destroy(run, decoder);
        break;
      case RESOLVE:
        this.#resolve(run, decoder);
        break;
      case START:
        break;
      case END:
        run.end = decoder.parsed as EndRecord;
        break;
      default:
        run.lost += Number(decoder.parsed!['count']);
        run.callbacks.giveUp();
    }
  }

  /** All records were taken. */
  finish(): void {
    if (this.#run !== undefined) {
      this.#watcher.paused(this.#run);
    }
    for (const run of this.runs) {
      if (Number.isNaN(run.from) && run.start !== undefined) {
        run.extendTo(run.start.time);
      }
      this.unpaired += run.callbacks.abandoned + run.callbacks.depth;
    }
  }

  report(counts: LogCounts): LogReport {
    const { runs } = this;
    const timed = runs.filter((run) => !Number.isNaN(run.from));
    return {
      ...counts,
      from:
        timed.length === 0
          ? null
          : timed.reduce((from, run) => Math.min(from, run.from), Number.POSITIVE_INFINITY),
      to:
        timed.length === 0 ? null : timed.reduce((to, run) => Math.max(to, run.to), Number.NEGATIVE_INFINITY),
      elapsed: round(this.elapsed),
      operationRecords: runs.reduce((sum, run) => sum + run.records, 0),
      withoutInit: this.withoutInit,
      forgotten: runs.reduce((sum, run) => sum + run.forgotten, 0),
      unpaired: this.unpaired,
      runs: runs.slice(0, MAX_RUNS_LISTED).map((run) => run.report()),
      runCount: runs.length,
    };
  }

  get elapsed(): number {
    return this.runs.reduce((sum, run) => sum + (run.to - run.from || 0), 0);
  }

  #init(run: Run, decoder: Decoder): void {
    const { opid } = decoder;
    run.counts[INIT]++;
    run.met(opid);
    let group = this.groups.of(decoder);
    if (this.groups.isRootless(group)) {
      const trigger = run.live.find(decoder.parentopid);
      if (trigger !== NO_ROW) {
        group = this.groups.inherit(group, run.live.group[trigger]);
      }
    }
    if (!this.#apart) {
      group = this.groups.alike(group);
    }
    if (!run.promiseDestroys && this.groups.kind[group] === 'promise') {
      this.#forget(run, run.windowed(opid));
    }
    const row = run.live.add(opid, decoder.time, group);
    const exec = Number.isNaN(decoder.execopid) ? decoder.parentopid : decoder.execopid;
    this.#watcher.started(run, row, group, exec, decoder);
  }

  #before(run: Run, decoder: Decoder): void {
    const { opid, time } = decoder;
    const { live } = run;
    run.counts[BEFORE]++;
    const row = live.find(opid);
    let group: number;
    if (row === NO_ROW) {
      group = this.#unseen(decoder);
    } else {
      group = live.group[row];
      const flags = live.flags[row];
      if ((flags & RAN) === 0) {
        live.flags[row] = flags | RAN;
        this.#watcher.waited(run, row, group, Math.max(0, time - live.init[row]));
      } else {
        live.flags[row] = flags | RAN_AGAIN;
      }
    }
    if (run.callbacks.depth === 0 && loopLevel(this.#areaOf(group))) {
      run.lastTurn = time;
    }
    this.#watcher.entered(run, row, group, time, decoder);
    run.callbacks.open(opid, group, time);
  }

  #after(run: Run, decoder: Decoder): void {
    const { opid, time } = decoder;
    const { callbacks, live } = run;
    run.counts[AFTER]++;
    const row = live.find(opid);
    if (row === NO_ROW) {
      this.#unseen(decoder);
    } else {
      live.last[row] = time;
    }
    if (!callbacks.close(opid, time)) {
      this.unpaired++;
      return;
    }
    run.busy += callbacks.self;
    this.#watcher.ran(run, row, opid, time);
  }

  #destroy(run: Run, decoder: Decoder): void {
    const { live } = run;
    run.counts[DESTROY]++;
    const row = live.find(decoder.opid);
    if (row === NO_ROW) {
      const group = this.#unseen(decoder);
      if (!run.promiseDestroys && this.groups.kind[group] === 'promise') {
        run.promiseDestroyed();
      }
      return;
    }
    const group = live.group[row];
    if (!run.promiseDestroys && this.groups.kind[group] === 'promise') {
      run.promiseDestroyed();
    }
    this.#watcher.ended(run, row, group, decoder.time);
    live.remove(row);
  }

  #resolve(run: Run, decoder: Decoder): void {
    const { live } = run;
    run.counts[RESOLVE]++;
    const row = live.find(decoder.opid);
    if (row === NO_ROW) {
      this.#unseen(decoder);
      return;
    }
    const flags = live.flags[row];
    if (flags & SETTLED) {
      return;
    }
    live.flags[row] = flags | SETTLED;
    this.#watcher.settled(run, row, live.group[row], decoder.time);
  }

  /** The group of an operation that is not live, by the op that its record carries. */
  #unseen(decoder: Decoder): number {
    const group = this.groups.of(decoder);
    // A promise that was given up has its init in the log.
    if (this.#run!.forgotten === 0 || this.groups.kind[group] !== 'promise') {
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
    this.#watcher.forgotten(run, row, run.live.group[row]);
    run.live.remove(row);
  }

  #areaOf(group: number): string | undefined {
    const op = this.groups.op[group];
    return op < 0 ? undefined : this.#decoder.ops.areas[op];
  }

  #resume(start: StartRecord): Run {
    const { pid, thread, anchor } = start;
    const key = `${pid} ${thread} ${anchor?.epoch} ${anchor?.monotonic}`;
    const known = this.#known.get(key);
    if (known === undefined) {
      const run = this.#begin(start);
      this.#known.set(key, run);
      return run;
    }
    if (known !== this.#run) {
      if (this.#run !== undefined) {
        this.#watcher.paused(this.#run);
      }
      this.#run = known;
    }
    return known;
  }

  #begin(start: StartRecord | undefined): Run {
    if (this.#run !== undefined) {
      this.#watcher.paused(this.#run);
    }
    const run = new Run(this.runs.length, start);
    this.runs.push(run);
    this.#run = run;
    return run;
  }
}
