/**
 * Trace Event JSON, for chrome://tracing, DevTools' performance panel and Perfetto.
 *
 *     callback    X on the track of its thread
 *     operation   b and e with `id2.local`, an async span of the process
 *     flow        s in the callback that started an operation, f at its first callback
 *
 * The format: https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU
 */
import type { Groups } from '../analyze/model/groups';
import type { Operations } from '../analyze/model/operations';
import { frameText } from '../analyze/site/frame';
import type { Chunks } from './chunks';
import type { Cut } from './cut';
import type { Exporter } from './format';
import { timelineExporter } from './timeline-exporter';
import { ENDED, OPEN, type Slice, type Span, type TimelineFormat } from './timeline-format';
import { callbackName, opName, type Track, wellFormed } from './track';

/** The ids of a run have 40 bits in an id of the file; larger ones, which no process reaches, are written beside it. */
const RUN_STRIDE = 2 ** 40;

/** As a JSON string that may also stand in a script of a page. */
export function jsonText(text: string): string {
  return JSON.stringify(wellFormed(text)).replace(
    /[<\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** Microseconds since the epoch. */
const us = (ms: number) => Math.round(ms * 1000);

class Chrome implements TimelineFormat {
  readonly needsStarted = false;
  readonly needsStacks = false;
  readonly #chunks: Chunks;
  readonly #groups: Groups;
  /** By group, the texts that events of it share. */
  readonly #sliceHeads: string[] = [];
  readonly #spanHeads: string[] = [];
  readonly #sites: string[] = [];
  /** By run, the process and thread of an event. */
  readonly #places: string[] = [];
  #separator = '\n';
  events = 0;

  constructor(groups: Groups, chunks: Chunks) {
    this.#groups = groups;
    this.#chunks = chunks;
    chunks.text('{"displayTimeUnit":"ms","otherData":{"producer":"async-tracer"},"traceEvents":[');
  }

  track({ run, pid, tid, process, thread, isFirst }: Track): void {
    this.#places[run.index] = `"pid":${pid},"tid":${tid}`;
    const place = this.#places[run.index];
    if (isFirst) {
      this.#put(`{"ph":"M","name":"process_name",${place},"args":{"name":${jsonText(process)}}}`);
    }
    this.#put(`{"ph":"M","name":"thread_name",${place},"args":{"name":${jsonText(thread)}}}`);
  }

  enter(track: Track, slice: Slice): void {
    if (slice.state !== OPEN) {
      this.#slice(track, slice);
    }
    slice.wasWritten = slice.state !== OPEN;
  }

  leave(track: Track, slice: Slice): void {
    if (!slice.wasWritten) {
      this.#slice(track, slice);
    }
  }

  flow({ run }: Track, slice: Slice): void {
    const source = slice.source!;
    // Within the source: the init may have the time of its end, and a slice does not contain its end.
    const from = us(slice.init < source.end || source.state === OPEN ? slice.init : source.start);
    const common = `"name":"starts","cat":"causality","id":"${idOf(run.index, slice.opid)}",${this.#places[run.index]}`;
    this.#put(`{"ph":"s",${common},"ts":${Math.min(from, us(slice.start))}}`);
    this.#put(`{"ph":"f","bp":"e",${common},"ts":${us(slice.start)}}`);
  }

  span({ run }: Track, { opid, group, parentopid, start, end, isLive }: Span): void {
    this.#spanHeads[group] ??= `"name":${jsonText(opName(this.#groups, group))},"cat":${this.#area(group)}`;
    const common = `${this.#spanHeads[group]},"id2":{"local":"${idOf(run.index, opid)}"},${this.#places[run.index]}`;
    this.#put(
      `{"ph":"b",${common},"ts":${us(start)},"args":{"opid":${opid},"parentopid":${parentopid}${this.#site(group)}${isLive ? ',"live":true' : ''}}}`,
    );
    this.#put(`{"ph":"e",${common},"ts":${us(end)}}`);
  }

  pause(): void {}

  finish(): void {
    this.#chunks.text('\n]}\n');
  }

  #slice({ run }: Track, { opid, group, start, end, state }: Slice): void {
    this.#sliceHeads[group] ??=
      `"name":${jsonText(callbackName(this.#groups, group))},"cat":${this.#area(group)}`;
    const from = us(start);
    this.#put(
      `{"ph":"X",${this.#sliceHeads[group]},${this.#places[run.index]},"ts":${from},"dur":${us(end) - from},"args":{"opid":${opid}${this.#site(group)}${state === ENDED ? '' : ',"ended":false'}}}`,
    );
  }

  #area(group: number): string {
    return jsonText(this.#groups.areaOf(group) ?? 'unknown');
  }

  #site(group: number): string {
    const known = this.#sites[group];
    if (known !== undefined) {
      return known;
    }
    const frame = this.#groups.siteOf(group)?.frame;
    this.#sites[group] = frame === undefined ? '' : `,"site":${jsonText(frameText(frame))}`;
    return this.#sites[group];
  }

  #put(event: string): void {
    this.#chunks.text(this.#separator + event);
    this.#separator = ',\n';
    this.events++;
  }
}

/** An id that no other operation of the file has, in hexadecimal digits. */
function idOf(run: number, opid: number): string {
  return opid < RUN_STRIDE
    ? `0x${(run * RUN_STRIDE + opid).toString(16)}`
    : `0x${run.toString(16)}${opid.toString(16).padStart(16, '0')}`;
}

export function createChrome(operations: Operations, cut: Cut, chunks: Chunks): Exporter {
  const chrome = new Chrome(operations.groups, chunks);
  return timelineExporter(operations, cut, chrome);
}
