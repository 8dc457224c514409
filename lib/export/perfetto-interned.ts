import type { Stack } from '../analyze/decode/stack-table';
import type { Groups } from '../analyze/model/groups';
import { type Frame, parseFrame } from '../analyze/site/frame';
import { ANNOTATION_NAMES, CALLSTACK, FRAME, INTERNED, NAMED, SOURCE_LOCATION } from './perfetto-fields';
import type { ProtobufWriter } from './protobuf';
import { wellFormed } from './track';

/** Distinct stacks beyond this number are left out of a run. */
const MAX_STACKS = 50_000;

/**
 * What a packet sequence refers to by number: names, areas, call sites, stacks. Each is defined once, in the packet that
 * refers to it first: the definitions are written to `writer`, for that packet to take.
 */
export class Interned {
  readonly #groups: Groups;
  readonly writer: ProtobufWriter;
  readonly #categories = new Map<string, number>();
  readonly #names = new Map<string, number>();
  readonly #frames = new Map<string, number>();
  readonly #stacks = new Map<string, number>();
  /** The same by the object, which is found faster. */
  readonly #knownStacks = new WeakMap<Stack, number>();
  /** By group. */
  readonly #groupCategories: number[] = [];
  readonly #sites: number[] = [];
  #siteCount = 0;

  constructor(groups: Groups, writer: ProtobufWriter) {
    this.#groups = groups;
    this.writer = writer;
    // Frames of stacks need a mapping.
    const mapping = writer.open(INTERNED.mapping);
    writer.varint(NAMED.iid, 1);
    writer.close(mapping);
    ANNOTATION_NAMES.forEach((name, i) => {
      this.#intern(INTERNED.annotationName, i + 1, name);
    });
  }

  #intern(field: number, iid: number, name: string): void {
    const message = this.writer.open(field);
    this.writer.varint(NAMED.iid, iid);
    this.writer.text(NAMED.name, name);
    this.writer.close(message);
  }

  name(name: string): number {
    let iid = this.#names.get(name);
    if (iid === undefined) {
      iid = this.#names.size + 1;
      this.#names.set(name, iid);
      this.#intern(INTERNED.name, iid, name);
    }
    return iid;
  }

  category(group: number): number {
    const known = this.#groupCategories[group];
    if (known !== undefined) {
      return known;
    }
    const area = wellFormed(this.#groups.areaOf(group) ?? 'unknown');
    let iid = this.#categories.get(area);
    if (iid === undefined) {
      iid = this.#categories.size + 1;
      this.#categories.set(area, iid);
      this.#intern(INTERNED.category, iid, area);
    }
    this.#groupCategories[group] = iid;
    return iid;
  }

  /** 0 where the call site is not known. */
  site(group: number): number {
    const known = this.#sites[group];
    if (known !== undefined) {
      return known;
    }
    const frame = this.#groups.siteOf(group)?.frame;
    const iid = frame === undefined ? 0 : ++this.#siteCount;
    this.#sites[group] = iid;
    if (frame !== undefined) {
      const writer = this.writer;
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
  callstack(stack: Stack): number {
    const known = this.#knownStacks.get(stack);
    if (known !== undefined) {
      return known;
    }
    const text = stack.json.toString('latin1');
    let iid = this.#stacks.get(text);
    if (iid === undefined) {
      if (this.#stacks.size >= MAX_STACKS) {
        return 0;
      }
      iid = this.#stacks.size + 1;
      this.#stacks.set(text, iid);
      const frames = stack
        .frames()
        .map(parseFrame)
        .filter((frame) => frame !== undefined)
        .map((frame) => this.#frame(frame));
      const message = this.writer.open(INTERNED.callstack);
      this.writer.varint(CALLSTACK.iid, iid);
      // Outermost first.
      for (const frame of frames.reverse()) {
        this.writer.varint(CALLSTACK.frame, frame);
      }
      this.writer.close(message);
    }
    this.#knownStacks.set(stack, iid);
    return iid;
  }

  #frame({ function: name, file, line }: Frame): number {
    const text = wellFormed(`${name || '<anonymous>'} (${file}:${line})`);
    let iid = this.#frames.get(text);
    if (iid === undefined) {
      iid = this.#frames.size + 1;
      this.#frames.set(text, iid);
      this.#intern(INTERNED.functionName, iid, text);
      const writer = this.writer;
      const message = writer.open(INTERNED.frame);
      writer.varint(FRAME.iid, iid);
      writer.varint(FRAME.functionName, iid);
      writer.varint(FRAME.mapping, 1);
      writer.close(message);
    }
    return iid;
  }
}
