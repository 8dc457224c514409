import { OPERATION_PHASES } from '../../log/event';

/** By phase, the last text between an op and the number that follows, as the write side writes it. */
const NUMBER_AFTER = ['"parentopid":', '"time":', '"time":', '"time":', '"time":'] as const;

/** How many distinct names are kept. A program that invents a type for each operation must not fill the memory. */
export const MAX_OPS = 16_384;

/** `RecordCursor.op` of a record that carries no op. */
export const NO_OP = -1;

const SLOTS = MAX_OPS * 4;

/**
 * The ops of a log: each pair (op, area) has an index, and names are found by their bytes.
 *
 * A name is learnt from a line that JSON.parse has read, never from raw bytes, so every name found here is a valid JSON
 * string. For each name and phase the table also holds the text that follows the name in a line of the tracer:
 *
 *     {"opid":7,"op":"TCPSERVER","phase":"before","area":"net","time":...
 *                     name-----  tail of `before`-------------------
 */
export class OpTable {
  /** By index: the op's name and its area, where the record had one. */
  readonly names: string[] = [];
  readonly areas: (string | undefined)[] = [];
  readonly #index = new Map<string, number>();

  /** By name number: the text, its bytes as JSON writes them, the tails (none until an area is known), the op index. */
  readonly texts: string[] = [];
  readonly bytes: Uint8Array[] = [];
  readonly tails: (readonly Uint8Array[] | undefined)[] = [];
  readonly opOfName: number[] = [];
  readonly slots = new Int32Array(SLOTS).fill(-1);

  /** The index of an op; it is added when it is new. When the table is full, all further ops share the last index. */
  intern(op: string, area: string | undefined): number {
    const key = `${op}\0${area ?? ''}`;
    const known = this.#index.get(key);
    if (known !== undefined) {
      return known;
    }
    if (this.names.length >= MAX_OPS) {
      return MAX_OPS - 1;
    }
    const last = this.names.length === MAX_OPS - 1;
    const index = this.names.push(last ? '(other ops)' : op) - 1;
    this.areas.push(last ? undefined : area);
    if (last) {
      return index;
    }
    this.#index.set(key, index);
    const name = this.learn(op);
    if (name >= 0 && area !== undefined && this.tails[name] === undefined) {
      this.tails[name] = tailsOf(area);
      this.opOfName[name] = index;
    }
    return index;
  }

  /** Adds a name, so that `find` finds it from now on, and gives its number; -1 where the table is full. */
  learn(text: string): number {
    const bytes = Buffer.from(JSON.stringify(text).slice(1, -1));
    // A name with an escape can be written in several ways, so it is left to JSON.parse.
    if (bytes.includes(0x5c)) {
      return -1;
    }
    let hash = 0;
    for (const byte of bytes) {
      hash = nextHash(hash, byte);
    }
    const found = this.find(bytes, 0, bytes.length, hash);
    if (found >= 0) {
      return found;
    }
    if (this.texts.length >= MAX_OPS) {
      return -1;
    }
    let slot = hash & (SLOTS - 1);
    while (this.slots[slot] >= 0) {
      slot = (slot + 1) & (SLOTS - 1);
    }
    const name = this.texts.push(text) - 1;
    this.bytes.push(new Uint8Array(bytes));
    this.tails.push(undefined);
    this.opOfName.push(NO_OP);
    this.slots[slot] = name;
    return name;
  }

  /** The number of the name in `bytes[start, end)`, whose `nextHash` over all bytes is `hash`; -1 where unknown. */
  find(bytes: Uint8Array, start: number, end: number, hash: number): number {
    let slot = hash & (SLOTS - 1);
    for (let name = this.slots[slot]; name >= 0; name = this.slots[slot]) {
      if (equals(this.bytes[name], bytes, start, end)) {
        return name;
      }
      slot = (slot + 1) & (SLOTS - 1);
    }
    return -1;
  }
}

export function nextHash(hash: number, byte: number): number {
  return (Math.imul(hash, 31) + byte) | 0;
}

function equals(name: Uint8Array, bytes: Uint8Array, start: number, end: number): boolean {
  const length = name.length;
  if (length !== end - start) {
    return false;
  }
  for (let i = 0; i < length; i++) {
    if (name[i] !== bytes[start + i]) {
      return false;
    }
  }
  return true;
}

function tailsOf(area: string): Uint8Array[] {
  return OPERATION_PHASES.map(
    (phase, code) =>
      new Uint8Array(
        Buffer.from(`","phase":"${phase}","area":${JSON.stringify(area)},${NUMBER_AFTER[code]}`),
      ),
  );
}
