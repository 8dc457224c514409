import type { RecordCursor } from '../analyze/decode/cursor';
import type { Operations } from '../analyze/model/operations';
import { round } from '../analyze/model/percentiles';
import type { Run } from '../analyze/model/run';
import { OperationVisitor } from '../analyze/model/visitor';
import { LevelBuckets, TimeBuckets } from './buckets';
import type { TimelineData } from './data';

const LOOP_BUCKETS = 4096;
const LIVE_BUCKETS = 1024;
/** More timelines than these are not in the page. */
const MAX_TIMELINES = 16;
/** The area of operations whose op is not in the log. */
const NO_AREA = '?';

class RunTimeline {
  readonly held = new TimeBuckets(LOOP_BUCKETS);
  readonly busy = new TimeBuckets(LOOP_BUCKETS);
  readonly live = new Map<string, { count: number; peak: number; levels: LevelBuckets }>();
  lastEnd = Number.NEGATIVE_INFINITY;

  constructor(
    readonly run: Run,
    /** Of the first record; of the run too, unless its clock went back. */
    readonly from: number,
  ) {}

  change(area: string, by: number, time: number): void {
    let level = this.live.get(area);
    if (level === undefined) {
      level = { count: 0, peak: 0, levels: new LevelBuckets(LIVE_BUCKETS) };
      this.live.set(area, level);
    }
    level.count += by;
    level.peak = Math.max(level.peak, level.count);
    level.levels.set(time - this.from, level.count);
  }

  data(heldMs: number, name: string): TimelineData {
    const { run, from, held, busy } = this;
    const open = run.callbacks.outermost();
    // A callback that holds the loop until the log ends. Where others have ended since, only its after may be missing.
    if (open !== undefined && run.to - open.start >= heldMs && this.lastEnd <= open.start) {
      held.add(open.start - from, run.to - from);
    }
    const width = Math.max(held.width, busy.width);
    const areas = [...this.live]
      .filter(([area, { peak }]) => peak > 0 && (run.promiseDestroys || area !== 'promises'))
      .sort(([, a], [, b]) => b.peak - a.peak);
    const liveWidth = Math.max(0, ...areas.map(([, { levels }]) => levels.width));
    return {
      run: run.index,
      name,
      from,
      to: run.to,
      width,
      held: held.values(width).map(round),
      busy: busy.values(width).map(round),
      liveWidth,
      live: areas.map(([area, { levels }]) => ({ area, counts: levels.values(liveWidth, run.to - from) })),
    };
  }
}

/**
 * How each run used its event loop over time: in callbacks that took `heldMs` or more, in others, or at rest; and how many
 * operations of each area were alive. Promises are counted where the log has their destroys.
 */
export class Timelines extends OperationVisitor {
  readonly #operations: Operations;
  readonly #heldMs: number;
  readonly #runs: RunTimeline[] = [];

  constructor(operations: Operations, heldMs: number) {
    super();
    this.#operations = operations;
    this.#heldMs = heldMs;
  }

  override init(run: Run, _row: number, group: number, _executionId: number, record: RecordCursor): void {
    this.#change(run, group, 1, record.time);
  }

  override after(run: Run, _row: number, record: RecordCursor): void {
    const timeline = this.#of(run);
    const { depth, start, total } = run.callbacks;
    timeline.lastEnd = record.time;
    if (depth === 0) {
      const buckets = total >= this.#heldMs ? timeline.held : timeline.busy;
      buckets.add(start - timeline.from, start + total - timeline.from);
    }
  }

  override destroy(run: Run, _row: number, group: number, record: RecordCursor): void {
    this.#change(run, group, -1, record.time);
  }

  /** Of the runs that took longest, in the order of the log. */
  data(): TimelineData[] {
    return this.#runs
      .filter((timeline) => timeline !== undefined)
      .sort((a, b) => b.run.to - b.run.from - (a.run.to - a.run.from))
      .slice(0, MAX_TIMELINES)
      .sort((a, b) => a.run.index - b.run.index)
      .map((timeline) => timeline.data(this.#heldMs, nameOf(timeline.run)));
  }

  #of(run: Run): RunTimeline {
    this.#runs[run.index] ??= new RunTimeline(run, run.from);
    return this.#runs[run.index];
  }

  #change(run: Run, group: number, by: number, time: number): void {
    this.#of(run).change(this.#operations.groups.areaOf(group) ?? NO_AREA, by, time);
  }
}

function nameOf({ index, start }: Run): string {
  const thread = start?.thread ? ` thread ${start.thread}` : '';
  return start === undefined ? `run ${index + 1}` : `pid ${start.pid}${thread}`;
}
