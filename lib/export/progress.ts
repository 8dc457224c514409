import type { Stack } from '../analyze/decode/stack-table';
import type { Slice } from './timeline-format';
import type { Track } from './track';

/** How far a timeline has come with a run. */
export interface Progress {
  readonly track: Track;
  readonly open: Slice[];
  /** Slices of this turn of the loop that are not written yet, by their starts. */
  buffer: Slice[];
  /** Slices that were entered and not left. */
  readonly entered: Slice[];
  /** The latest time so far: a clock that was set back must not make slices overlap. */
  now: number;
  /** By row of live operations. `parents` is NaN where the operation is not exported. */
  parents: Float64Array;
  settled: Float64Array;
  readonly sources: (Slice | undefined)[];
  readonly stacks: (Stack | undefined)[];
}

export function createProgress(track: Track, time: number): Progress {
  return {
    track,
    open: [],
    buffer: [],
    entered: [],
    now: time,
    // Operations that began before have rows too.
    parents: new Float64Array(track.run.live.id.length).fill(Number.NaN),
    settled: new Float64Array(track.run.live.id.length),
    sources: [],
    stacks: [],
  };
}
