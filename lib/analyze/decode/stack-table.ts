/** `RecordCursor.stack` of a record that carries no stack. */
export const NO_STACK = -1;

/** How many distinct stacks, and bytes of them, are kept. At this limit the table is emptied and fills again. */
export const MAX_STACKS = 32_768;
const MAX_STACK_BYTES = 32 * 1024 * 1024;

const SLOTS = MAX_STACKS * 4;
const SAMPLES = 32;

/** A stack of the log. It stays valid for those who keep a reference, also when its index in `StackTable` is reused. */
export class Stack {
  /** How many live operations refer to it. */
  refCount = 0;
  /** The number of its call site; -1 until it was asked for. */
  site = -1;

  constructor(
    readonly json: Buffer,
    readonly length: number,
  ) {}

  frames(): string[] {
    return JSON.parse(this.json.toString());
  }
}

export function isFrames(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((frame) => typeof frame === 'string');
}

/**
 * The stacks of a log, found by their bytes. A program has few places that start operations, but the log repeats the
 * stack, half a kilobyte, each time that one is passed. The index of a stack is valid until the next record is read.
 */
export class StackTable {
  #stacks: Stack[] = [];
  #slots = new Int32Array(SLOTS).fill(-1);
  #bytes = 0;

  at(stack: number): Stack {
    return this.#stacks[stack];
  }

  frames(stack: number): string[] {
    return this.#stacks[stack].frames();
  }

  /** The index of the stack whose JSON is in `bytes[start, end)`; NO_STACK where that is no array of strings. */
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
    return this.#add(text, hash, frames.length);
  }

  /** The index of a stack that was read by JSON.parse. */
  intern(frames: string[]): number {
    const text = Buffer.from(JSON.stringify(frames));
    return this.find(text, 0, text.length);
  }

  #add(text: Buffer, hash: number, length: number): number {
    if (this.#stacks.length >= MAX_STACKS || this.#bytes > MAX_STACK_BYTES) {
      this.#stacks = [];
      this.#slots.fill(-1);
      this.#bytes = 0;
    }
    let slot = hash & (SLOTS - 1);
    while (this.#slots[slot] >= 0) {
      slot = (slot + 1) & (SLOTS - 1);
    }
    const stack = this.#stacks.push(new Stack(text, length)) - 1;
    this.#slots[slot] = stack;
    this.#bytes += text.length;
    return stack;
  }
}

/** Hashes the length and samples along the text: the stacks of one program differ in many places or in length. */
function hashOf(bytes: Uint8Array, start: number, end: number): number {
  const length = end - start;
  const step = Math.max(1, Math.floor(length / SAMPLES));
  let hash = length;
  for (let at = end - 1; at >= start; at -= step) {
    hash = (Math.imul(hash, 31) + bytes[at]) | 0;
  }
  return hash ^ (hash >>> 15);
}
