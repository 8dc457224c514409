import type { RecordCursor } from '../analyze/decode/cursor';
import { MAX_OPEN } from '../analyze/model/callback-stack';
import { roomFor } from '../analyze/model/column';
import type { Operations } from '../analyze/model/operations';
import type { Run } from '../analyze/model/run';
import { OperationVisitor } from '../analyze/model/visitor';
import type { Cut } from './cut';
import { createProgress, type Progress } from './progress';
import {
  ENDED,
  emptySpan,
  LEFT_OUT,
  OPEN,
  type Slice,
  type TimelineFormat,
  UNENDED,
} from './timeline-format';
import { Tracks } from './track';

/**
 * When so many slices wait for the end of their turn, they are written with those around them that are still open. Where
 * the end of a callback is missing, all later ones seem to be nested in it, and the turn would last as long as the log.
 */
const MAX_BUFFERED = 50_000;

/** Makes slices, spans and flows of the operations of a log. Keeps live operations and one turn of the loop. */
export class Timeline extends OperationVisitor {
  readonly #operations: Operations;
  readonly #cut: Cut;
  readonly #format: TimelineFormat;
  readonly #tracks = new Tracks();
  readonly #progress: Progress[] = [];
  readonly #span = emptySpan();
  #firstSource: Slice | undefined;
  #firstInit = Number.NaN;
  spans = 0;
  slices = 0;
  flows = 0;
  /** Callbacks whose end is not in the log though the log goes on. */
  leftOut = 0;
  /** Callbacks that had not ended when the log did. */
  unended = 0;

  constructor(operations: Operations, cut: Cut, format: TimelineFormat) {
    super();
    this.#operations = operations;
    this.#cut = cut;
    this.#format = format;
  }

  override init(run: Run, row: number, group: number, _executionId: number, record: RecordCursor): void {
    const taken = this.#cut.takesOperation(run, group, record);
    if (!taken && this.#progress[run.index] === undefined) {
      return;
    }
    const progress = this.#of(run, record.time);
    if (row >= progress.parents.length) {
      progress.parents = roomFor(progress.parents, row + 1);
      progress.settled = roomFor(progress.settled, row + 1);
    }
    progress.parents[row] = taken ? record.parentopid : Number.NaN;
    progress.settled[row] = 0;
    const innermost = taken ? this.#innermost(progress, run) : undefined;
    // Where the begin of an arrow is a part of the slice, a slice that was written cannot get more.
    const source = this.#format.needsStarted && innermost?.isEntered === true ? undefined : innermost;
    progress.sources[row] = source;
    source?.started?.push(record.opid);
    if (this.#format.needsStacks) {
      progress.stacks[row] = record.stack < 0 ? undefined : record.stacks.at(record.stack);
    }
  }

  override firstBefore(run: Run, row: number): void {
    const progress = this.#progress[run.index];
    if (progress === undefined || row >= progress.parents.length) {
      return;
    }
    this.#firstSource = progress.sources[row];
    this.#firstInit = run.live.init[row];
    progress.sources[row] = undefined;
  }

  override before(run: Run, _row: number, group: number, record: RecordCursor): void {
    const source = this.#firstSource;
    this.#firstSource = undefined;
    const { opid, time } = record;
    if (!this.#cut.takesCallback(run, opid, group, time)) {
      return;
    }
    const progress = this.#of(run, time);
    const { depth } = run.callbacks;
    this.#leaveOut(progress, depth);
    progress.now = Math.max(progress.now, time);
    const slice: Slice = {
      opid,
      group,
      start: progress.now,
      end: progress.now,
      state: OPEN,
      isEntered: false,
      wasWritten: false,
      depth,
      started: this.#format.needsStarted ? [] : undefined,
      source,
      init: this.#firstInit,
    };
    progress.open.push(slice);
    progress.buffer.push(slice);
    if (depth >= MAX_OPEN) {
      this.#leaveOutOutermost(progress);
    }
    if (progress.buffer.length >= MAX_BUFFERED) {
      this.#write(progress);
    }
  }

  override after(run: Run, _row: number, record: RecordCursor): void {
    const progress = this.#progress[run.index];
    if (progress === undefined) {
      return;
    }
    const { depth } = run.callbacks;
    this.#leaveOut(progress, depth + 1);
    const slice = progress.open.at(-1);
    if (slice === undefined || slice.depth !== depth) {
      return;
    }
    progress.open.pop();
    progress.now = Math.max(progress.now, record.time);
    slice.end = progress.now;
    slice.state = ENDED;
    if (progress.open.length === 0) {
      this.#write(progress);
    }
  }

  override resolve(run: Run, row: number, _group: number, record: RecordCursor): void {
    const progress = this.#progress[run.index];
    if (progress !== undefined && row < progress.settled.length) {
      progress.settled[row] = record.time;
    }
  }

  override destroy(run: Run, row: number, group: number, record: RecordCursor): void {
    this.#end(run, row, group, record.time, false);
  }

  override forget(run: Run, row: number, group: number): void {
    this.#end(run, row, group, Number.NaN, false);
  }

  override leaveRun(run: Run): void {
    const progress = this.#progress[run.index];
    if (progress !== undefined) {
      this.#format.pause(progress.track);
    }
  }

  /** What had not ended when the log did. Yields now and then, so that it can be passed on. */
  *finish(): Generator<void> {
    let steps = 0;
    for (const progress of this.#progress) {
      // A run of which nothing is exported has none.
      if (progress === undefined) {
        continue;
      }
      const { run } = progress.track;
      this.#leaveOut(progress, run.callbacks.depth);
      progress.now = Math.max(progress.now, run.to);
      for (const slice of progress.open) {
        slice.end = progress.now;
        slice.state = UNENDED;
        this.unended++;
      }
      progress.open.length = 0;
      this.#write(progress);
      for (const row of run.live.rows()) {
        this.#end(run, row, run.live.group[row], run.to, true);
        if (++steps % 4096 === 0) {
          yield;
        }
      }
      this.#format.pause(progress.track);
      yield;
    }
  }

  /**
   * A promise ends when it has run for the last time or was settled, since its destroy only shows when the garbage
   * collector came.
   */
  #end(run: Run, row: number, group: number, time: number, isLive: boolean): void {
    const progress = this.#progress[run.index];
    if (progress === undefined || row >= progress.parents.length || Number.isNaN(progress.parents[row])) {
      return;
    }
    const { live } = run;
    const span = this.#span;
    const isPromise = this.#operations.groups.kind[group] === 'promise';
    span.opid = live.id[row];
    span.group = group;
    span.parentopid = progress.parents[row];
    span.start = live.init[row];
    span.end = Math.max(
      span.start,
      isPromise || Number.isNaN(time) ? Math.max(live.last[row], progress.settled[row]) : time,
    );
    span.isLive = isLive;
    span.stack = progress.stacks[row];
    progress.stacks[row] = undefined;
    progress.sources[row] = undefined;
    progress.parents[row] = Number.NaN;
    this.spans++;
    this.#format.span(progress.track, span);
  }

  #of(run: Run, time: number): Progress {
    let progress = this.#progress[run.index];
    if (progress === undefined) {
      progress = createProgress(this.#tracks.add(run, time), time);
      this.#progress[run.index] = progress;
      this.#format.track(progress.track);
    }
    return progress;
  }

  #innermost({ open }: Progress, run: Run): Slice | undefined {
    const slice = open.at(-1);
    return slice !== undefined && slice.depth < run.callbacks.depth ? slice : undefined;
  }

  /** Leaves out the open slices that the model has abandoned: those from `depth` on. */
  #leaveOut(progress: Progress, depth: number): void {
    const { open } = progress;
    for (let slice = open.at(-1); slice !== undefined && slice.depth >= depth; slice = open.at(-1)) {
      this.#abandon(progress, slice);
      open.pop();
    }
    if (open.length === 0 && progress.buffer.length > 0) {
      this.#write(progress);
    }
  }

  /** A slice that was entered already ends here, without counting as left out. */
  #abandon({ now }: Progress, slice: Slice): void {
    if (slice.isEntered) {
      slice.state = UNENDED;
      slice.end = now;
      this.unended++;
    } else {
      slice.state = LEFT_OUT;
      this.leftOut++;
    }
  }

  /** Does what the model does when too many callbacks are open. */
  #leaveOutOutermost(progress: Progress): void {
    const half = MAX_OPEN / 2;
    const { open } = progress;
    const outer = open.filter(({ depth }) => depth < half);
    for (const slice of outer) {
      this.#abandon(progress, slice);
    }
    open.splice(0, outer.length);
    for (const slice of open) {
      slice.depth -= half;
    }
  }

  /** Writes the slices of the buffer. Those that are open stay entered: a turn was too long for the buffer. */
  #write(progress: Progress): void {
    const { track, buffer, entered } = progress;
    const format = this.#format;
    progress.buffer = [];
    for (const slice of buffer) {
      if (slice.state === LEFT_OUT) {
        continue;
      }
      for (let top = entered.at(-1); top !== undefined && top.depth >= slice.depth; top = entered.at(-1)) {
        entered.pop();
        format.leave(track, top);
      }
      entered.push(slice);
      slice.isEntered = true;
      this.slices++;
      format.enter(track, slice);
      const { source } = slice;
      if (source?.isEntered === true) {
        this.flows++;
        format.flow(track, slice);
      }
    }
    for (let top = entered.at(-1); top !== undefined && top.state !== OPEN; top = entered.at(-1)) {
      entered.pop();
      format.leave(track, top);
    }
  }
}
