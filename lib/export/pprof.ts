/**
 * A profile of pprof, gzipped, as `go tool pprof` reads it: https://github.com/google/pprof/blob/main/proto/profile.proto
 *
 * A sample is what the operations of one op and stack amount to. Its innermost frame is the op, at the line of the call
 * site, so that `-top` shows sums by op, and `-top -lines` sums by op and call site; the frames around it are the stack.
 */
import { gzipSync } from 'node:zlib';
import type { Groups } from '../analyze/model/groups';
import type { Operations } from '../analyze/model/operations';
import { type Frame, parseFrame } from '../analyze/site/frame';
import type { Chunks } from './chunks';
import type { Cut } from './cut';
import type { ExportCounts, Exporter } from './format';
import { ProtobufWriter } from './protobuf';
import { type Sample, Samples } from './samples';
import { opName, wellFormed } from './track';

const NS_PER_MS = 1e6;
/** The first one is the one that `-top` shows by itself: the last of the list. */
const SAMPLE_TYPES = [
  ['count', 'count'],
  ['live', 'count'],
  ['run', 'nanoseconds'],
  ['wait', 'nanoseconds'],
] as const;

/** Numbers of fields. */
const PROFILE = {
  sampleType: 1,
  sample: 2,
  location: 4,
  function: 5,
  text: 6,
  time: 9,
  duration: 10,
  defaultType: 14,
};
const VALUE_TYPE = { type: 1, unit: 2 };
const SAMPLE = { locations: 1, values: 2, label: 3 };
const LABEL = { key: 1, text: 2 };
const LOCATION = { id: 1, line: 4 };
const LINE = { function: 1, line: 2, column: 3 };
const FUNCTION = { id: 1, name: 2, systemName: 3, file: 4 };

class Pprof {
  readonly #groups: Groups;
  readonly #writer = new ProtobufWriter();
  readonly #texts = new Map<string, number>([['', 0]]);
  readonly #functions = new Map<string, number>();
  readonly #locations = new Map<string, number>();
  samples = 0;

  constructor(groups: Groups) {
    this.#groups = groups;
  }

  write(samples: Samples, from: number, to: number): Uint8Array {
    const writer = this.#writer;
    for (const [type, unit] of SAMPLE_TYPES) {
      const valueType = writer.open(PROFILE.sampleType);
      writer.varint(VALUE_TYPE.type, this.#text(type));
      writer.varint(VALUE_TYPE.unit, this.#text(unit));
      writer.close(valueType);
    }
    for (const sample of samples.all) {
      this.#sample(sample, samples.liveOf(sample));
    }
    writer.varint(PROFILE.time, BigInt(Math.round(from * 1000)) * 1000n);
    writer.varint(PROFILE.duration, Math.round((to - from) * NS_PER_MS));
    writer.varint(PROFILE.defaultType, this.#text('wait'));
    for (const text of this.#texts.keys()) {
      writer.text(PROFILE.text, text);
    }
    return writer.take();
  }

  #sample({ group, frames, count, wait, run, runs }: Sample, live: number): void {
    if (count === 0 && runs === 0) {
      return;
    }
    const site = this.#groups.siteOf(group)?.frame;
    const op = {
      function: opName(this.#groups, group),
      file: site?.file ?? '',
      line: site?.line ?? 0,
      column: 0,
    };
    const parsed = frames.map(parseFrame).filter((frame) => frame !== undefined);
    // The site of an operation without a user frame is that of the one which triggered it.
    const around = parsed.length === 0 && site !== undefined ? [site] : parsed;
    // Locations come first, in messages of their own: messages must not overlap.
    const locations = [op, ...around].map((frame) => this.#location(frame));
    const area = this.#text(this.#groups.areaOf(group) ?? 'unknown');
    const key = this.#text('area');
    const writer = this.#writer;
    const sample = writer.open(PROFILE.sample);
    writer.packed(SAMPLE.locations, locations);
    writer.packed(SAMPLE.values, [count, live, Math.round(run * NS_PER_MS), Math.round(wait * NS_PER_MS)]);
    const label = writer.open(SAMPLE.label);
    writer.varint(LABEL.key, key);
    writer.varint(LABEL.text, area);
    writer.close(label);
    writer.close(sample);
    this.samples++;
  }

  #location(frame: Frame): number {
    const functionId = this.#function(frame);
    const key = `${functionId} ${frame.line} ${frame.column}`;
    const known = this.#locations.get(key);
    if (known !== undefined) {
      return known;
    }
    const id = this.#locations.size + 1;
    this.#locations.set(key, id);
    const writer = this.#writer;
    const location = writer.open(PROFILE.location);
    writer.varint(LOCATION.id, id);
    const line = writer.open(LOCATION.line);
    writer.varint(LINE.function, functionId);
    writer.varint(LINE.line, frame.line);
    writer.varint(LINE.column, frame.column);
    writer.close(line);
    writer.close(location);
    return id;
  }

  #function(frame: Frame): number {
    const key = `${frame.function}\0${frame.file}`;
    const known = this.#functions.get(key);
    if (known !== undefined) {
      return known;
    }
    const id = this.#functions.size + 1;
    this.#functions.set(key, id);
    // pprof takes what is in angle brackets for the arguments of a template, and drops it.
    const name = this.#text(frame.function.replace(/<(.*?)>/g, '($1)') || '(anonymous)');
    const file = this.#text(frame.file);
    const writer = this.#writer;
    const message = writer.open(PROFILE.function);
    writer.varint(FUNCTION.id, id);
    writer.varint(FUNCTION.name, name);
    writer.varint(FUNCTION.systemName, name);
    writer.varint(FUNCTION.file, file);
    writer.close(message);
    return id;
  }

  #text(text: string): number {
    const formed = wellFormed(text);
    let number = this.#texts.get(formed);
    if (number === undefined) {
      number = this.#texts.size;
      this.#texts.set(formed, number);
    }
    return number;
  }
}

export function createPprof(operations: Operations, cut: Cut, chunks: Chunks): Exporter {
  const samples = new Samples(operations, cut);
  const pprof = new Pprof(operations.groups);
  return {
    visitor: samples,
    *finish() {
      const timed = operations.runs.filter(({ from }) => !Number.isNaN(from));
      const from = timed.reduce((least, run) => Math.min(least, run.from), Number.POSITIVE_INFINITY);
      const to = timed.reduce((most, run) => Math.max(most, run.to), Number.NEGATIVE_INFINITY);
      chunks.push(gzipSync(timed.length === 0 ? pprof.write(samples, 0, 0) : pprof.write(samples, from, to)));
      yield;
    },
    counts(): ExportCounts {
      const open = operations.runs.reduce((sum, run) => sum + run.callbacks.depth, 0);
      return {
        operations: samples.operations,
        callbacks: samples.callbacks,
        flows: 0,
        leftOut: Math.max(0, operations.unpaired - open),
        unended: open,
        events: pprof.samples,
      };
    },
  };
}
