import { isFrames } from '../decode/record';
import { type Frame, type Site, siteOf } from './site';

/** `Decoder.stack` of a record that carries no stack. */
export const NO_STACK = -1;

/** How many different stacks, and bytes of them, are remembered before all are forgotten and met anew. */
export const MAX_STACKS = 32_768;
const MAX_STACK_BYTES = 32 * 1024 * 1024;
/** Call sites beyond this number share one. */
export const MAX_SITES = 16_384;

const SLOTS = MAX_STACKS * 4;
const SAMPLES = 32;

/** A stack of the log. It outlives its index in `Stacks` for those who hold it. */
export class Stack {
  /** How many live operations hold it. */
  holders = 0;

  constructor(
    readonly json: Buffer,
    readonly length: number,
    /** The number of its call site. */
    readonly site: number,
  ) {}

  frames(): string[] {
    return JSON.parse(this.json.toString());
  }
}

/**
 * The stacks of a log, found again by their bytes, since a program has few places that start operations and each stack
 * of half a kilobyte stands in the log as often as its place was passed. Only the call sites are kept for the whole
 * log; the index of a stack means something until the next record is read.
 */
export class Stacks {
  /** By site number. */
  readonly sites: Site[] = [];
  readonly #siteOfKey = new Map<string, number>();

  #stacks: Stack[] = [];
  #slots = new Int32Array(SLOTS).fill(-1);
  #bytes = 0;

  /** The number of the call site of a stack. */
  siteOf(stack: number): number {
    return this.#stacks[stack].site;
  }

  at(stack: number): Stack {
    return this.#stacks[stack];
  }

  frames(stack: number): string[] {
    return this.#stacks[stack].frames();
  }

  /** The index of the stack whose JSON stands in `bytes[start, end)`; NO_STACK where that is no array of strings. */
  find(bytes: Uint8Array, start: number, end: number): number {
    const hash = hashOf(bytes, start, end);
    let slot = hash & (SLOTS - 1);
    for (let stack = this.#slots[slot]; stack >= 0; stack = this.#slots[slot]) {
      const { json } = this.#stacks[stack];
      if (json.length === end - start && json.compare(bytes, start, end) === 0) {
        return stack;
      }
      slot = (slot + 1) & (SLOTS - 1);
    }
    const text = Buffer.from(bytes.subarray(start, end));
    let frames: unknown;
    try {
      frames = JSON.parse(text.toString());
    } catch {
      return NO_STACK;
    }
    if (!isFrames(frames)) {
      return NO_STACK;
    }
    return this.#add(text, hash, frames);
  }

  /** The index of a stack that was read by JSON.parse. */
  intern(frames: string[]): number {
    const text = Buffer.from(JSON.stringify(frames));
    return this.find(text, 0, text.length);
  }

  #add(text: Buffer, hash: number, frames: string[]): number {
    if (this.#stacks.length >= MAX_STACKS || this.#bytes > MAX_STACK_BYTES) {
      this.#stacks = [];
      this.#slots.fill(-1);
      this.#bytes = 0;
    }
    let slot = hash & (SLOTS - 1);
    while (this.#slots[slot] >= 0) {
      slot = (slot + 1) & (SLOTS - 1);
    }
    const site = this.#intern(siteOf(frames));
    const stack = this.#stacks.push(new Stack(text, frames.length, site)) - 1;
    this.#slots[slot] = stack;
    this.#bytes += text.length;
    return stack;
  }

  /** The site of an operation without one of its own, triggered by an operation of site `trigger`. */
  inherit(own: number, trigger: number): number {
    const { frame } = this.sites[trigger];
    if (frame === undefined) {
      return own;
    }
    return this.#intern({ frame, via: this.sites[own].via, inherited: true });
  }

  #intern(site: Site): number {
    const key = `${site.via} ${site.inherited} ${site.frame === undefined ? '' : siteText(site.frame)}`;
    const known = this.#siteOfKey.get(key);
    if (known !== undefined) {
      return known;
    }
    if (this.sites.length >= MAX_SITES) {
      return MAX_SITES - 1;
    }
    const last = this.sites.length === MAX_SITES - 1;
    const number = this.sites.push(last ? { frame: undefined, via: 'node', inherited: false } : site) - 1;
    if (!last) {
      this.#siteOfKey.set(key, number);
    }
    return number;
  }
}

/** A call site as people write it: `name (file:line:column)`. */
export function siteText(frame: Frame): string {
  const place = `${frame.file}:${frame.line}:${frame.column}`;
  return frame.function === '' ? place : `${frame.function} (${place})`;
}

/** Over the length and samples spread along the text: stacks of one program differ in many places or in length. */
function hashOf(bytes: Uint8Array, start: number, end: number): number {
  const length = end - start;
  const step = Math.max(1, Math.floor(length / SAMPLES));
  let hash = length;
  for (let at = end - 1; at >= start; at -= step) {
    hash = (Math.imul(hash, 31) + bytes[at]) | 0;
  }
  return hash ^ (hash >>> 15);
}
