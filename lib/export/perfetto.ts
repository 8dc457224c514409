/**
 * TrackEvents of Perfetto, as protocol buffers: https://perfetto.dev/docs/reference/synthetic-track-event
 *
 * Each run is a packet sequence with its own clock, in microseconds, and its own interned names, call sites and stacks.
 * Callbacks are slices on the track of their thread. Operations are slices on lanes by area: tracks of the same name
 * under a thread, which the viewer shows as one. The timestamps of each track rise.
 */
import type { Groups } from '../analyze/model/groups';
import type { Operations } from '../analyze/model/operations';
import type { Chunks } from './chunks';
import type { Cut } from './cut';
import type { Exporter } from './format';
import { Lanes } from './lanes';
import { writeClocks } from './perfetto-clocks';
import {
  ANNOTATION,
  BEGIN,
  CLEARED,
  DEFAULTS,
  DESCRIPTOR,
  END,
  EVENT,
  NEEDS_STATE,
  OPID,
  PACKET,
  PARENTOPID,
  PROCESS,
  SEQUENCE_CLOCK,
  THREAD,
  TRACE,
  UNENDED_NAME,
} from './perfetto-fields';
import { Interned } from './perfetto-interned';
import { ProtobufWriter } from './protobuf';
import { timelineExporter } from './timeline-exporter';
import { ENDED, type Slice, type Span, type TimelineFormat } from './timeline-format';
import { callbackName, opName, type Track, wellFormed } from './track';

/** The ids of a run have 40 bits in an id of a flow. */
const RUN_STRIDE = 2 ** 40;

/** What a run is in the file. */
interface Sequence {
  readonly id: number;
  /** The track of its thread. */
  readonly thread: number;
  /** By area. */
  readonly lanes: Map<string, Lanes>;
  readonly interned: Interned;
  /** By group. */
  readonly sliceNames: number[];
  readonly spanNames: number[];
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
      interned: new Interned(this.#groups, this.#interned),
      sliceNames: [],
      spanNames: [],
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
    sequence.sliceNames[group] ??= sequence.interned.name(callbackName(this.#groups, group));
    const category = sequence.interned.category(group);
    const site = sequence.interned.site(group);
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
    sequence.spanNames[group] ??= sequence.interned.name(opName(this.#groups, group));
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
    const category = sequence.interned.category(group);
    const site = stack === undefined ? sequence.interned.site(group) : 0;
    const callstack = stack === undefined ? 0 : sequence.interned.callstack(stack);
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
    writeClocks(writer, from);
    const defaults = writer.open(PACKET.defaults);
    writer.varint(DEFAULTS.clock, SEQUENCE_CLOCK);
    const event = writer.open(DEFAULTS.event);
    writer.varint(EVENT.track, sequence.thread);
    writer.close(event);
    writer.close(defaults);
    this.#writeInterned();
    this.#end(packet);
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
}

function flowOf({ run }: Track, opid: number): number {
  return run.index * RUN_STRIDE + (opid % RUN_STRIDE);
}

export function createPerfetto(operations: Operations, cut: Cut, chunks: Chunks): Exporter {
  return timelineExporter(operations, cut, new Perfetto(operations.groups, chunks));
}
