/**
 * A file of speedscope: https://github.com/jlfwong/speedscope/wiki/Importing-from-custom-sources
 *
 * Each thread is an evented profile of its callbacks. The last profile is a sampled one: how long operations waited for
 * their first callback, by kind, op and stack. Frames come after the profiles, since they are known when all is written.
 */
import type { Groups } from '../analyze/model/groups';
import type { Operations } from '../analyze/model/operations';
import { round } from '../analyze/model/percentiles';
import { type Frame, parseFrame } from '../analyze/site/frame';
import { Both } from './both';
import { jsonText } from './chrome';
import type { Chunks } from './chunks';
import type { Cut } from './cut';
import type { ExportCounts, Exporter } from './format';
import { type Sample, Samples } from './samples';
import { Timeline } from './timeline';
import type { Slice, TimelineFormat } from './timeline-format';
import { callbackName, opName, type Track } from './track';

/** Microseconds after the begin of the track. */
const us = (track: Track, time: number) => Math.round((time - track.from) * 1000);

class Speedscope implements TimelineFormat {
  readonly needsStarted = false;
  readonly needsStacks = false;
  readonly #groups: Groups;
  readonly #chunks: Chunks;
  readonly #frames = new Map<string, number>();
  /** By group, the frame of its callbacks. */
  readonly #callbackFrames: number[] = [];
  /** The track whose profile is being written. */
  #current: Track | undefined;
  /** By track, how many profiles it has; more than one where runs alternate in the log. */
  readonly #parts = new Map<Track, number>();
  /** Callbacks of the current track that were entered and not left. */
  readonly #open = new Map<Track, number[]>();
  #at = 0;
  #profileSeparator = '\n';
  #eventSeparator = '\n';
  events = 0;

  constructor(groups: Groups, chunks: Chunks) {
    this.#groups = groups;
    this.#chunks = chunks;
    chunks.text(
      '{"$schema":"https://www.speedscope.app/file-format-schema.json","exporter":"async-tracer","profiles":[',
    );
  }

  track(track: Track): void {
    this.#open.set(track, []);
  }

  enter(track: Track, { group, start }: Slice): void {
    const at = us(track, start);
    this.#begin(track, at);
    this.#callbackFrames[group] ??= this.#callbackFrame(group);
    const frame = this.#callbackFrames[group];
    this.#open.get(track)!.push(frame);
    this.#event('O', frame, at);
  }

  leave(track: Track, { end }: Slice): void {
    const at = us(track, end);
    this.#begin(track, at);
    this.#event('C', this.#open.get(track)!.pop()!, at);
  }

  flow(): void {}

  span(): void {}

  pause(track: Track): void {
    if (this.#current !== track) {
      return;
    }
    for (const frame of this.#open.get(track)!.toReversed()) {
      this.#event('C', frame, this.#at);
    }
    this.#chunks.text(`\n],"endValue":${this.#at}}`);
    this.#current = undefined;
  }

  waits(samples: Samples): void {
    const waiting = samples.all.filter(({ wait }) => wait > 0);
    const total = waiting.reduce((sum, { wait }) => sum + wait, 0);
    this.#chunks.text(
      `${this.#profileSeparator}{"type":"sampled","name":"where waiting comes from","unit":"milliseconds","startValue":0,"endValue":${round(total)},"samples":[`,
    );
    waiting.forEach((sample, i) => {
      this.#chunks.text(`${i === 0 ? '' : ','}\n[${this.#stackOf(sample).join(',')}]`);
    });
    this.#chunks.text('\n],"weights":[');
    waiting.forEach(({ wait }, i) => {
      this.#chunks.text(`${i === 0 ? '' : ','}${round(wait)}`);
    });
    this.#chunks.text(']}');
    this.events += waiting.length;
  }

  finish(): void {
    this.#chunks.text('\n],"shared":{"frames":[');
    let separator = '\n';
    for (const text of this.#frames.keys()) {
      this.#chunks.text(separator + text);
      separator = ',\n';
    }
    this.#chunks.text('\n]}}\n');
  }

  #begin(track: Track, at: number): void {
    if (this.#current === track) {
      return;
    }
    if (this.#current !== undefined) {
      this.pause(this.#current);
    }
    this.#current = track;
    const part = (this.#parts.get(track) ?? 0) + 1;
    this.#parts.set(track, part);
    const name = `${track.process} (pid ${track.pid}), ${track.thread}${part === 1 ? '' : `, part ${part}`}`;
    this.#chunks.text(
      `${this.#profileSeparator}{"type":"evented","name":${jsonText(name)},"unit":"microseconds","startValue":${part === 1 ? 0 : at},"events":[`,
    );
    this.#profileSeparator = ',\n';
    this.#eventSeparator = '\n';
    for (const frame of this.#open.get(track)!) {
      this.#event('O', frame, at);
    }
  }

  #event(type: 'O' | 'C', frame: number, at: number): void {
    this.#at = at;
    this.#chunks.text(`${this.#eventSeparator}{"type":"${type}","frame":${frame},"at":${at}}`);
    this.#eventSeparator = ',\n';
    this.events++;
  }

  /** Outermost first: the kind of operation, the stack, the op. */
  #stackOf({ group, frames }: Sample): number[] {
    const groups = this.#groups;
    const site = groups.siteOf(group)?.frame;
    const parsed = frames.map(parseFrame).filter((frame) => frame !== undefined);
    const around = parsed.length === 0 && site !== undefined ? [site] : parsed;
    return [
      this.#frame(`${groups.kind[group] ?? 'unknown'}s`, undefined),
      ...around.map((frame) => this.#frame(frame.function || '<anonymous>', frame)).reverse(),
      this.#frame(opName(groups, group), undefined),
    ];
  }

  #callbackFrame(group: number): number {
    return this.#frame(callbackName(this.#groups, group), this.#groups.siteOf(group)?.frame);
  }

  #frame(name: string, place: Frame | undefined): number {
    const where =
      place === undefined ? '' : `,"file":${jsonText(place.file)},"line":${place.line},"col":${place.column}`;
    const text = `{"name":${jsonText(name)}${where}}`;
    let number = this.#frames.get(text);
    if (number === undefined) {
      number = this.#frames.size;
      this.#frames.set(text, number);
    }
    return number;
  }
}

export function createSpeedscope(operations: Operations, cut: Cut, chunks: Chunks): Exporter {
  const speedscope = new Speedscope(operations.groups, chunks);
  const timeline = new Timeline(operations, cut, speedscope);
  const samples = new Samples(operations, cut);
  return {
    visitor: new Both(timeline, samples),
    *finish() {
      yield* timeline.finish();
      speedscope.waits(samples);
      speedscope.finish();
    },
    counts(): ExportCounts {
      const { slices, leftOut, unended } = timeline;
      return {
        operations: samples.operations,
        callbacks: slices,
        flows: 0,
        leftOut,
        unended,
        events: speedscope.events,
      };
    },
  };
}
