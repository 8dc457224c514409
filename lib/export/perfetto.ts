/**
 * TrackEvents of Perfetto, as protocol buffers: https://perfetto.dev/docs/reference/synthetic-track-event
 *
 * Each run is a packet sequence with its own clock, in microseconds, and its own interned names, call sites and stacks.
 * Callbacks are slices on the track of their thread. Operations are slices on lanes by area: tracks of the same name
 * under a thread, which the viewer shows as one. The timestamps of each track rise.
 */
import type { Stack } from '../analyze/decode/stack-table';
import type { Groups } from '../analyze/model/groups';
import type { Operations } from '../analyze/model/operations';
import { type Frame, parseFrame } from '../analyze/site/frame';
import type { Chunks } from './chunks';
import type { Cut } from './cut';
import type { Exporter } from './format';
import { Lanes } from './lanes';
import { ProtobufWriter } from './protobuf';
import { ENDED, type Slice, type Span, type TimelineFormat } from './timeline';
import { timelineExporter } from './timeline-exporter';
import { callbackName, opName, type Track, wellFormed } from './track';

/** Numbers of fields, and of constants. */
const TRACE = { packet: 1 };
const PACKET = {
  clockSnapshot: 6,
  timestamp: 8,
  sequence: 10,
  event: 11,
  interned: 12,
  flags: 13,
  defaults: 59,
  descriptor: 60,
};
const CLEARED = 1;
const NEEDS_STATE = 2;
const SNAPSHOT = { clock: 1, primary: 2 };
const CLOCK = { id: 1, timestamp: 2, unit: 4 };
const REALTIME = 1;
const BOOTTIME = 6;
/** Clocks from this number on belong to a sequence. */
const SEQUENCE_CLOCK = 64;
const DEFAULTS = { clock: 58, event: 11 };
const DESCRIPTOR = { uuid: 1, name: 2, process: 3, thread: 4, parent: 5 };
const PROCESS = { pid: 1, name: 6 };
const THREAD = { pid: 1, tid: 2, name: 5 };
const EVENT = {
  category: 3,
  annotation: 4,
  type: 9,
  name: 10,
  track: 11,
  sourceLocation: 34,
  flow: 47,
  terminatingFlow: 48,
  callstack: 56,
};
const BEGIN = 1;
const END = 2;
const INTERNED = {
  category: 1,
  name: 2,
  annotationName: 3,
  sourceLocation: 4,
  functionName: 5,
  frame: 6,
  callstack: 7,
  mapping: 19,
};
const NAMED = { iid: 1, name: 2 };
const SOURCE_LOCATION = { iid: 1, file: 2, function: 3, line: 4 };
const FRAME = { iid: 1, functionName: 2, mapping: 3 };
const CALLSTACK = { iid: 1, frame: 2 };
const ANNOTATION = { name: 1, number: 3 };
/** Interned ids of annotation names. */
const OPID = 1;
const PARENTOPID = 2;
const UNENDED_NAME = 3;
const ANNOTATION_NAMES = ['opid', 'parentopid', 'unended'];
/** The ids of a run have 40 bits in an id of a flow. */
const RUN_STRIDE = 2 ** 40;
/** Distinct stacks beyond this number are left out of a run. */
const MAX_STACKS = 50_000;

/** What was interned in a sequence, and its tracks. */
interface Sequence {
  readonly id: number;
  readonly thread: number;
  readonly lanes: Map<string, Lanes>;
  readonly categories: Map<string, number>;
  readonly names: Map<string, number>;
  readonly frames: Map<string, number>;
  readonly stacks: Map<string, number>;
  /** The same by the object, which is found faster. */
  readonly knownStacks: WeakMap<Stack, number>;
  /** By group. */
  readonly sliceNames: number[];
  readonly spanNames: number[];
  readonly groupCategories: number[];
  readonly sites: number[];
  siteCount: number;
}

class Perfetto implements TimelineFormat {
  readonly needsStarted = true;
  readonly needsStacks = true;
  readonly #groups: Groups;
  readonly #chunks: Chunks;
  readonly #writer = new ProtobufWriter();
  readonly #interned = new ProtobufWriter();
  /** By run. */
  readonly #sequences: Sequence[] = [];
  readonly #processes = new Map<number, number>();
  #uuids = 0;
  events = 0;

  constructor(groups: Groups, chunks: Chunks) {
    this.#groups = groups;
    this.#chunks = chunks;
  }

  track(track: Track): void {
    const { run, pid, tid, from } = track;
    let process = this.#processes.get(pid);
    const isNew = process === undefined;
    process ??= ++this.#uuids;
    this.#processes.set(pid, process);
    const thread = ++this.#uuids;
    const sequence: Sequence = {
      id: run.index + 1,
      thread,
      lanes: new Map(),
      categories: new Map(),
      names: new Map(),
      frames: new Map(),
      stacks: new Map(),
      knownStacks: new WeakMap(),
      sliceNames: [],
      spanNames: [],
      groupCategories: [],
      sites: [],
      siteCount: 0,
    };
    this.#sequences[run.index] = sequence;
    this.#clocks(sequence, from);
    if (isNew) {
      this.#descriptor(sequence, process, undefined, undefined, (writer) => {
        const message = writer.open(DESCRIPTOR.process);
        writer.int64(PROCESS.pid, pid);
        writer.text(PROCESS.name, wellFormed(track.process));
        writer.close(message);
      });
    }
    this.#descriptor(sequence, thread, process, undefined, (writer) => {
      const message = writer.open(DESCRIPTOR.thread);
      writer.int64(THREAD.pid, pid);
      writer.int64(THREAD.tid, tid);
      writer.text(THREAD.name, wellFormed(track.thread));
      writer.close(message);
    });
  }

  enter(track: Track, slice: Slice): void {
    const { group, opid, start, started, source, state } = slice;
    const sequence = this.#sequences[track.run.index];
    sequence.sliceNames[group] ??= this.#name(sequence, callbackName(this.#groups, group));
    const category = this.#category(sequence, group);
    const site = this.#site(sequence, group);
    const writer = this.#writer;
    const packet = this.#packet(sequence, track, start);
    this.#writeInterned();
    writer.varint(PACKET.flags, NEEDS_STATE);
    const event = writer.open(PACKET.event);
    writer.varint(EVENT.type, BEGIN);
    writer.varint(EVENT.category, category);
    writer.varint(EVENT.name, sequence.sliceNames[group]);
    if (site > 0) {
      writer.varint(EVENT.sourceLocation, site);
    }
    this.#annotate(OPID, opid);
    if (state !== ENDED) {
      this.#annotate(UNENDED_NAME, 1);
    }
    for (const begun of started!) {
      writer.fixed64(EVENT.flow, flowOf(track, begun));
    }
    if (source?.isEntered === true) {
      writer.fixed64(EVENT.terminatingFlow, flowOf(track, opid));
    }
    writer.close(event);
    this.#end(packet);
  }

  leave(track: Track, slice: Slice): void {
    const sequence = this.#sequences[track.run.index];
    const packet = this.#packet(sequence, track, slice.end);
    const event = this.#writer.open(PACKET.event);
    this.#writer.varint(EVENT.type, END);
    this.#writer.close(event);
    this.#end(packet);
  }

  /** The arrow stands in the slices themselves. */
  flow(): void {}

  span(track: Track, { opid, group, parentopid, start, end, isLive, stack }: Span): void {
    const sequence = this.#sequences[track.run.index];
    sequence.spanNames[group] ??= this.#name(sequence, opName(this.#groups, group));
    const area = this.#groups.areaOf(group) ?? 'unknown';
    let lanes = sequence.lanes.get(area);
    if (lanes === undefined) {
      lanes = new Lanes(() => {
        const uuid = ++this.#uuids;
        this.#descriptor(sequence, uuid, sequence.thread, area, () => {});
        return uuid;
      });
      sequence.lanes.set(area, lanes);
    }
    const { uuid } = lanes.place(start, end);
    const category = this.#category(sequence, group);
    const site = stack === undefined ? this.#site(sequence, group) : 0;
    const callstack = stack === undefined ? 0 : this.#callstack(sequence, stack);
    const writer = this.#writer;
    let packet = this.#packet(sequence, track, start);
    this.#writeInterned();
    writer.varint(PACKET.flags, NEEDS_STATE);
    let event = writer.open(PACKET.event);
    writer.varint(EVENT.type, BEGIN);
    writer.varint(EVENT.track, uuid);
    writer.varint(EVENT.category, category);
    writer.varint(EVENT.name, sequence.spanNames[group]);
    if (site > 0) {
      writer.varint(EVENT.sourceLocation, site);
    }
    if (callstack > 0) {
      writer.varint(EVENT.callstack, callstack);
    }
    this.#annotate(OPID, opid);
    this.#annotate(PARENTOPID, parentopid);
    if (isLive) {
      this.#annotate(UNENDED_NAME, 1);
    }
    writer.close(event);
    this.#end(packet);
    packet = this.#packet(sequence, track, end);
    event = writer.open(PACKET.event);
    writer.varint(EVENT.type, END);
    writer.varint(EVENT.track, uuid);
    writer.close(event);
    this.#end(packet);
  }

  pause(): void {}

  finish(): void {
    this.#pass();
  }

  /** The clock of a sequence counts microseconds from its first record. */
  #clocks(sequence: Sequence, from: number): void {
    const writer = this.#writer;
    const packet = writer.open(TRACE.packet);
    writer.varint(PACKET.sequence, sequence.id);
    writer.varint(PACKET.flags, CLEARED);
    const snapshot = writer.open(PACKET.clockSnapshot);
    const epochNs = BigInt(Math.round(from * 1000)) * 1000n;
    for (const [id, timestamp, unit] of [
      [BOOTTIME, epochNs, 1],
      [REALTIME, epochNs, 1],
      [SEQUENCE_CLOCK, 0, 1000],
    ] as const) {
      const clock = writer.open(SNAPSHOT.clock);
      writer.varint(CLOCK.id, id);
      writer.varint(CLOCK.timestamp, timestamp);
      if (unit > 1) {
        writer.varint(CLOCK.unit, unit);
      }
      writer.close(clock);
    }
    writer.varint(SNAPSHOT.primary, BOOTTIME);
    writer.close(snapshot);
    const defaults = writer.open(PACKET.defaults);
    writer.varint(DEFAULTS.clock, SEQUENCE_CLOCK);
    const event = writer.open(DEFAULTS.event);
    writer.varint(EVENT.track, sequence.thread);
    writer.close(event);
    writer.close(defaults);
    this.#mapping();
    this.#writeInterned();
    this.#end(packet);
  }

  /** Frames of stacks need a mapping, and annotations need their names. */
  #mapping(): void {
    const mapping = this.#interned.open(INTERNED.mapping);
    this.#interned.varint(NAMED.iid, 1);
    this.#interned.close(mapping);
    ANNOTATION_NAMES.forEach((name, i) => {
      this.#intern(INTERNED.annotationName, i + 1, name);
    });
  }

  #descriptor(
    sequence: Sequence,
    uuid: number,
    parent: number | undefined,
    name: string | undefined,
    write: (writer: ProtobufWriter) => void,
  ): void {
    const writer = this.#writer;
    const packet = writer.open(TRACE.packet);
    writer.varint(PACKET.sequence, sequence.id);
    const descriptor = writer.open(PACKET.descriptor);
    writer.varint(DESCRIPTOR.uuid, uuid);
    if (name !== undefined) {
      writer.text(DESCRIPTOR.name, wellFormed(name));
    }
    if (parent !== undefined) {
      writer.varint(DESCRIPTOR.parent, parent);
    }
    write(writer);
    writer.close(descriptor);
    this.#end(packet);
  }

  #packet(sequence: Sequence, track: Track, time: number): number {
    const writer = this.#writer;
    const packet = writer.open(TRACE.packet);
    writer.varint(PACKET.timestamp, Math.max(0, Math.round((time - track.from) * 1000)));
    writer.varint(PACKET.sequence, sequence.id);
    return packet;
  }

  #end(packet: number): void {
    this.#writer.close(packet);
    this.events++;
    if (this.#writer.length >= 60_000) {
      this.#pass();
    }
  }

  #pass(): void {
    this.#chunks.push(this.#writer.take());
  }

  #annotate(name: number, value: number): void {
    const annotation = this.#writer.open(EVENT.annotation);
    this.#writer.varint(ANNOTATION.name, name);
    this.#writer.varint(ANNOTATION.number, value);
    this.#writer.close(annotation);
  }

  /** What is referred to first by the packet that is being written. */
  #writeInterned(): void {
    if (this.#interned.length > 0) {
      this.#writer.message(PACKET.interned, this.#interned.take());
    }
  }

  #intern(field: number, iid: number, name: string): void {
    const message = this.#interned.open(field);
    this.#interned.varint(NAMED.iid, iid);
    this.#interned.text(NAMED.name, name);
    this.#interned.close(message);
  }

  #name(sequence: Sequence, name: string): number {
    let iid = sequence.names.get(name);
    if (iid === undefined) {
      iid = sequence.names.size + 1;
      sequence.names.set(name, iid);
      this.#intern(INTERNED.name, iid, name);
    }
    return iid;
  }

  #category(sequence: Sequence, group: number): number {
    const known = sequence.groupCategories[group];
    if (known !== undefined) {
      return known;
    }
    const area = wellFormed(this.#groups.areaOf(group) ?? 'unknown');
    let iid = sequence.categories.get(area);
    if (iid === undefined) {
      iid = sequence.categories.size + 1;
      sequence.categories.set(area, iid);
      this.#intern(INTERNED.category, iid, area);
    }
    sequence.groupCategories[group] = iid;
    return iid;
  }

  /** 0 where the call site is not known. */
  #site(sequence: Sequence, group: number): number {
    const known = sequence.sites[group];
    if (known !== undefined) {
      return known;
    }
    const frame = this.#groups.siteOf(group)?.frame;
    const iid = frame === undefined ? 0 : ++sequence.siteCount;
    sequence.sites[group] = iid;
    if (frame !== undefined) {
      const writer = this.#interned;
      const message = writer.open(INTERNED.sourceLocation);
      writer.varint(SOURCE_LOCATION.iid, iid);
      writer.text(SOURCE_LOCATION.file, wellFormed(frame.file));
      writer.text(SOURCE_LOCATION.function, wellFormed(frame.function));
      writer.varint(SOURCE_LOCATION.line, frame.line);
      writer.close(message);
    }
    return iid;
  }

  /** 0 where there are too many of them. */
  #callstack(sequence: Sequence, stack: Stack): number {
    const known = sequence.knownStacks.get(stack);
    if (known !== undefined) {
      return known;
    }
    const text = stack.json.toString('latin1');
    let iid = sequence.stacks.get(text);
    if (iid === undefined) {
      if (sequence.stacks.size >= MAX_STACKS) {
        return 0;
      }
      iid = sequence.stacks.size + 1;
      sequence.stacks.set(text, iid);
      const frames = stack
        .frames()
        .map(parseFrame)
        .filter((frame) => frame !== undefined)
        .map((frame) => this.#frame(sequence, frame));
      const message = this.#interned.open(INTERNED.callstack);
      this.#interned.varint(CALLSTACK.iid, iid);
      // Outermost first.
      for (const frame of frames.reverse()) {
        this.#interned.varint(CALLSTACK.frame, frame);
      }
      this.#interned.close(message);
    }
    sequence.knownStacks.set(stack, iid);
    return iid;
  }

  #frame(sequence: Sequence, { function: name, file, line }: Frame): number {
    const text = wellFormed(`${name || '<anonymous>'} (${file}:${line})`);
    let iid = sequence.frames.get(text);
    if (iid === undefined) {
      iid = sequence.frames.size + 1;
      sequence.frames.set(text, iid);
      this.#intern(INTERNED.functionName, iid, text);
      const writer = this.#interned;
      const message = writer.open(INTERNED.frame);
      writer.varint(FRAME.iid, iid);
      writer.varint(FRAME.functionName, iid);
      writer.varint(FRAME.mapping, 1);
      writer.close(message);
    }
    return iid;
  }
}

function flowOf({ run }: Track, opid: number): number {
  return run.index * RUN_STRIDE + (opid % RUN_STRIDE);
}

export function createPerfetto(operations: Operations, cut: Cut, chunks: Chunks): Exporter {
  return timelineExporter(operations, cut, new Perfetto(operations.groups, chunks));
}
