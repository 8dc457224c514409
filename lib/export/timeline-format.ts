import type { Stack } from '../analyze/decode/stack-table';
import type { Track } from './track';

/** The states of a slice. */
export const OPEN = 0;
export const ENDED = 1;
/** The log ends before it does. Its end is that of the log. */
export const UNENDED = 2;
/** Its end is not in the log, though the log goes on: a record is missing. */
export const LEFT_OUT = 3;

/** A callback on the track of its thread. */
export interface Slice {
  readonly opid: number;
  readonly group: number;
  readonly start: number;
  /** Not known while `state` is OPEN. */
  end: number;
  state: number;
  isEntered: boolean;
  /** For the format. */
  wasWritten: boolean;
  /** Number of callbacks around it, in the model. */
  depth: number;
  /** The operations that began in it, where the format asks for them. */
  readonly started: number[] | undefined;
  /** Where it is the first callback of an operation: the callback in which that began, and when. */
  readonly source: Slice | undefined;
  readonly init: number;
}

/** An operation, from its begin to its end. The object is reused. */
export interface Span {
  opid: number;
  group: number;
  parentopid: number;
  start: number;
  end: number;
  /** Whether the log ends before it does. */
  isLive: boolean;
  stack: Stack | undefined;
}

export function emptySpan(): Span {
  return { opid: 0, group: 0, parentopid: 0, start: 0, end: 0, isLive: false, stack: undefined };
}

/**
 * A format that shows the log over time. Slices of a track come in the order of their starts, each before those nested in
 * it; `leave` comes after them. Spans come when their ends are known, in no order of time.
 */
export interface TimelineFormat {
  /** Whether slices have `started`, and spans their `stack`. */
  readonly needsStarted: boolean;
  readonly needsStacks: boolean;
  track(track: Track): void;
  enter(track: Track, slice: Slice): void;
  leave(track: Track, slice: Slice): void;
  /** Called after `enter` of the slice that an arrow points to. `slice.source` was entered before. */
  flow(track: Track, slice: Slice): void;
  span(track: Track, span: Span): void;
  /** The next slices may be of another track. */
  pause(track: Track): void;
}
