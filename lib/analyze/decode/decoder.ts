import type { TraceRecord } from '../../log/event';
import { RecordCursor } from './cursor';
import { CustomFields } from './custom-fields';
import { isJson } from './json-syntax';
import {
  BACKSLASH,
  BRACE,
  COMMA,
  CTX,
  DOT,
  EXEC_OPID,
  lineEnd,
  match,
  NAMELESS,
  NEWLINE,
  OP,
  PARENT_OP,
  phaseAt,
  QUOTE,
  RETURN,
  STACK,
  TIME,
} from './line-format';
import { NO_OP, nextHash } from './op-table';
import { AFTER, BEFORE, INIT, isRecord, RESOLVE } from './record';
import { NO_STACK } from './stack-table';

/**
 * Decodes one record after another from bytes into the fields of `RecordCursor`.
 *
 * `decode` knows the exact form in which the write side writes a line, and no other. It either fills every field with
 * what JSON.parse would give, or returns -1; then `parse` reads the line by JSON.parse. A test with random lines checks
 * that the two agree. Names and stacks are recognised by their bytes once `parse` has read them.
 */
export class Decoder extends RecordCursor {
  readonly #custom = new CustomFields();
  /** Further results of `#name` (its end) and of `#integer` (its value), which return one number. */
  #end = 0;
  #number = Number.NaN;

  /**
   * Reads the line at `start` of `bytes`, which must hold its newline.
   *
   * @returns where the next line starts, or -1 where the line is not in the form of the write side
   */
  decode(bytes: Uint8Array, start: number): number {
    const head = this.#custom.head;
    for (let i = 0; i < head.length; i++) {
      if (bytes[start + i] !== head[i]) {
        return -1;
      }
    }
    let at = this.#integer(bytes, start + head.length);
    if (at < 0) {
      return -1;
    }
    this.opid = this.#number;
    this.parentopid = Number.NaN;
    this.execopid = Number.NaN;
    this.stack = NO_STACK;
    this.parsed = undefined;
    this.bytes = bytes;
    this.lineStart = start;
    this.parentName = -1;
    this.ctxStart = -1;

    // `,"op":"` and `,"phase":"` differ in their third byte.
    if (bytes[at + 2] === OP[2]) {
      at = this.#named(bytes, at);
    } else {
      const phase = phaseAt(bytes[at + 10]);
      if (phase < BEFORE) {
        return -1;
      }
      at = match(bytes, at, NAMELESS[phase]);
      this.phase = phase;
      this.op = NO_OP;
    }
    if (at < 0) {
      return -1;
    }
    at = this.#milliseconds(bytes, at);
    if (at < 0) {
      return -1;
    }

    const suffix = this.#custom.tail;
    if (suffix.length === 1) {
      if (bytes[at] === BRACE) {
        const next = lineEnd(bytes, at + 1);
        this.lineEnd = at + 1;
        if (next > 0) {
          return next;
        }
      }
    } else {
      const end = match(bytes, at, suffix);
      if (end > 0) {
        this.lineEnd = end;
        const next = lineEnd(bytes, end);
        if (next > 0) {
          return next;
        }
      }
    }
    return this.#payload(bytes, at);
  }

  /** Reads from `,"op":"` to the digits of the time. */
  #named(bytes: Uint8Array, start: number): number {
    let at = match(bytes, start, OP);
    if (at < 0) {
      return -1;
    }
    const name = this.#name(bytes, at);
    if (name < 0) {
      return -1;
    }
    at = this.#end;
    const tails = this.ops.tails[name];
    if (tails === undefined) {
      return -1;
    }
    const phase = phaseAt(bytes[at + 11]);
    if (phase < 0) {
      return -1;
    }
    at = match(bytes, at, tails[phase]);
    this.phase = phase;
    this.op = this.ops.opOfName[name];
    if (phase !== INIT || at < 0) {
      return at;
    }

    at = this.#integer(bytes, at);
    if (at < 0) {
      return -1;
    }
    this.parentopid = this.#number;
    // `,"parentop":"`, `,"execopid":` and `,"time":` differ in their third byte.
    if (bytes[at + 2] === PARENT_OP[2]) {
      at = match(bytes, at, PARENT_OP);
      if (at < 0) {
        return -1;
      }
      this.parentName = this.#name(bytes, at);
      if (this.parentName < 0) {
        return -1;
      }
      at = this.#end + 1;
    }
    if (bytes[at + 2] === EXEC_OPID[2]) {
      at = match(bytes, at, EXEC_OPID);
      if (at < 0) {
        return -1;
      }
      at = this.#integer(bytes, at);
      if (at < 0) {
        return -1;
      }
      this.execopid = this.#number;
    }
    return match(bytes, at, TIME);
  }

  /** Reads what follows the time: `stack` in an init, `ctx` in a before or after; then the suffix and the line's end. */
  #payload(bytes: Uint8Array, start: number): number {
    if (bytes[start] !== COMMA) {
      return -1;
    }
    const field =
      this.phase === INIT ? STACK : this.phase === BEFORE || this.phase === AFTER ? CTX : undefined;
    if (field === undefined) {
      return -1;
    }
    const from = match(bytes, start, field);
    if (from < 0) {
      return -1;
    }
    const newline = bytes.indexOf(NEWLINE, from);
    const end = bytes[newline - 1] === RETURN ? newline - 1 : newline;
    const suffix = this.#custom.tail;
    const to = end - suffix.length;
    if (to <= from || match(bytes, to, suffix) !== end) {
      return -1;
    }
    this.lineEnd = end;
    if (field === STACK) {
      this.stack = this.stacks.find(bytes, from, to);
      return this.stack === NO_STACK ? -1 : newline + 1;
    }
    if (!isJson(bytes, from, to)) {
      return -1;
    }
    this.ctxStart = from;
    this.ctxEnd = to;
    return newline + 1;
  }

  /** The number of the name at `start`, -1 where unknown; `#end` is its closing quote. */
  #name(bytes: Uint8Array, start: number): number {
    let at = start;
    let hash = 0;
    for (let byte = bytes[at]; byte !== QUOTE; byte = bytes[++at]) {
      if (byte < 0x20 || byte === BACKSLASH) {
        return -1;
      }
      hash = nextHash(hash, byte);
    }
    this.#end = at;
    return this.ops.find(bytes, start, at, hash);
  }

  /** Reads a JSON integer of at most 15 digits, which a double holds exactly, into `#number`. */
  #integer(bytes: Uint8Array, start: number): number {
    let value = bytes[start] - 48;
    if (value < 0 || value > 9) {
      return -1;
    }
    let at = start + 1;
    let digit = bytes[at] - 48;
    if (value === 0 && digit >= 0 && digit <= 9) {
      return -1;
    }
    // Nine digits fit in 32 bits; the few longer ids take the second loop.
    const nine = start + 9;
    while (digit >= 0 && digit <= 9 && at < nine) {
      value = value * 10 + digit;
      digit = bytes[++at] - 48;
    }
    if (digit >= 0 && digit <= 9) {
      let low = 0;
      let scale = 1;
      do {
        if (at - start >= 15) {
          return -1;
        }
        low = low * 10 + digit;
        scale *= 10;
        digit = bytes[++at] - 48;
      } while (digit >= 0 && digit <= 9);
      this.#number = value * scale + low;
      return at;
    }
    this.#number = value;
    return at;
  }

  /** Reads milliseconds with exactly three decimals. Dividing one exact integer by another rounds as JSON.parse does. */
  #milliseconds(bytes: Uint8Array, start: number): number {
    const at = this.#integer(bytes, start);
    if (at < 0 || bytes[at] !== DOT) {
      return -1;
    }
    const a = bytes[at + 1] - 48;
    const b = bytes[at + 2] - 48;
    const c = bytes[at + 3] - 48;
    if (a < 0 || a > 9 || b < 0 || b > 9 || c < 0 || c > 9) {
      return -1;
    }
    const us = this.#number * 1000 + (a * 100 + b * 10 + c);
    if (us > Number.MAX_SAFE_INTEGER) {
      return -1;
    }
    this.time = us / 1000;
    return at + 4;
  }

  /**
   * Reads one line by JSON.parse, whatever its form, and learns names, stacks and custom fields for later lines.
   *
   * @returns whether the line is a record of a trace
   */
  parse(line: string): boolean {
    let value: unknown;
    try {
      value = JSON.parse(line);
    } catch {
      return false;
    }
    if (!isRecord(value)) {
      return false;
    }
    const record = value as TraceRecord;
    this.assign(record);
    if (this.phase <= RESOLVE) {
      this.#custom.learn(line, record);
      this.hasCustomFields = this.#custom.exist;
    }
    return true;
  }
}
