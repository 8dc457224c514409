import type { TraceRecord } from '../../log/event';
import { NO_STACK, Stacks } from '../stack/stack-table';
import { isJson } from './json-syntax';
import {
  BACKSLASH,
  BRACE,
  bytesOf,
  COMMA,
  CTX,
  customTexts,
  DOT,
  EXEC_OPID,
  lineEnd,
  match,
  NAMELESS,
  NEWLINE,
  OP,
  OPID,
  PARENT_OP,
  phaseAt,
  QUOTE,
  RETURN,
  STACK,
  TIME,
} from './line-format';
import { NO_OP, nextHash, Ops } from './op-table';
import { AFTER, BEFORE, INIT, isFrames, isId, isRecord, PHASE_CODES, PHASES, RESOLVE } from './record';

/** Learning a prefix or suffix costs a few parses; a log that changes them oftener than this is read by JSON.parse. */
const MAX_LESSONS = 256;

/**
 * Takes one record after another out of bytes, into its own fields, so that a reader of millions makes no objects.
 *
 * `decode` knows the exact spelling of our own write side and nothing else: it either fills every field with what
 * JSON.parse would have given, or returns -1, and then `parse` reads the line by JSON.parse. A test with random lines
 * holds the two equal. Names and stacks are recognised by their bytes once `parse` has met them.
 */
export class Decoder {
  phase = INIT;
  /** NaN stands where a record has no such number; it also keeps V8 from storing these fields as small integers. */
  opid = Number.NaN;
  parentopid = Number.NaN;
  execopid = Number.NaN;
  time = Number.NaN;
  /** Indices into `ops` and `stacks`. */
  op = NO_OP;
  stack = NO_STACK;
  /** The whole record, when `parse` read it; undefined after `decode`. */
  parsed: TraceRecord | undefined;

  readonly ops = new Ops();
  readonly stacks = new Stacks();

  #bytes: Uint8Array = new Uint8Array(0);
  #parentName = -1;
  #lineStart = 0;
  #lineEnd = 0;
  #ctxStart = -1;
  #ctxEnd = -1;
  #head = bytesOf(`{${OPID}`);
  #suffix = bytesOf('}');
  #custom = false;
  #lessons = 0;
  #end = 0;
  #number = Number.NaN;

  /**
   * Reads the line at `start` of `bytes`, which must hold its newline.
   *
   * @returns where the next line starts, or -1 where the line is not spelt as the write side does
   */
  decode(bytes: Uint8Array, start: number): number {
    const head = this.#head;
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
    this.#bytes = bytes;
    this.#lineStart = start;
    this.#parentName = -1;
    this.#ctxStart = -1;

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

    const suffix = this.#suffix;
    if (suffix.length === 1) {
      if (bytes[at] === BRACE) {
        const next = lineEnd(bytes, at + 1);
        this.#lineEnd = at + 1;
        if (next > 0) {
          return next;
        }
      }
    } else {
      const end = match(bytes, at, suffix);
      if (end > 0) {
        this.#lineEnd = end;
        const next = lineEnd(bytes, end);
        if (next > 0) {
          return next;
        }
      }
    }
    return this.#payload(bytes, at);
  }

  /** From `,"op":"` to the digits of the time. */
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
      this.#parentName = this.#name(bytes, at);
      if (this.#parentName < 0) {
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

  /** What may follow the time: `stack` in an init, `ctx` in a before or after; then the suffix and the line's end. */
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
    const suffix = this.#suffix;
    const to = end - suffix.length;
    if (to <= from || match(bytes, to, suffix) !== end) {
      return -1;
    }
    this.#lineEnd = end;
    if (field === STACK) {
      this.stack = this.stacks.find(bytes, from, to);
      return this.stack === NO_STACK ? -1 : newline + 1;
    }
    if (!isJson(bytes, from, to)) {
      return -1;
    }
    this.#ctxStart = from;
    this.#ctxEnd = to;
    return newline + 1;
  }

  /** The name at `start`; `#end` is its closing quote. */
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

  /** A whole number as JSON spells it, of at most 15 digits, which a double holds exactly; its value is in `#number`. */
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
    // Nine digits stay in 32 bits; the few ids that are longer take the second loop.
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

  /** Milliseconds with exactly three decimals. One division of two exact integers rounds as JSON.parse does. */
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
   * Reads one line by JSON.parse, whatever its spelling, and learns from it for the lines to come.
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
    const phase = PHASE_CODES.get(record.phase)!;
    this.phase = phase;
    this.parsed = record;
    this.time = record.time;
    this.opid = this.parentopid = this.execopid = Number.NaN;
    this.op = NO_OP;
    this.stack = NO_STACK;
    if (phase > RESOLVE) {
      return true;
    }
    const { opid, op, area, parentopid, parentop, execopid, stack } = record as unknown as Record<
      string,
      never
    >;
    this.opid = opid;
    if (op !== undefined) {
      this.op = this.ops.intern(op, typeof area === 'string' ? area : undefined);
    }
    if (phase === INIT) {
      this.parentopid = parentopid;
      if (isId(execopid)) {
        this.execopid = execopid;
      }
      if (typeof parentop === 'string') {
        this.ops.learn(parentop);
      }
      if (isFrames(stack)) {
        this.stack = this.stacks.intern(stack);
      }
    }
    this.#learn(line, record);
    return true;
  }

  /** The record just read. */
  record(): TraceRecord {
    if (this.parsed !== undefined) {
      return this.parsed;
    }
    if (this.#custom) {
      return JSON.parse(this.#text(this.#lineStart, this.#lineEnd));
    }
    const { opid, time, op } = this;
    const phase = PHASES[this.phase];
    if (op === NO_OP) {
      const record: Record<string, unknown> = { opid, phase, time };
      if (this.#ctxStart >= 0) {
        record['ctx'] = this.context();
      }
      return record as unknown as TraceRecord;
    }
    const name = this.ops.names[op];
    const area = this.ops.areas[op];
    if (this.phase !== INIT) {
      const record: Record<string, unknown> = { opid, op: name, phase, area, time };
      if (this.#ctxStart >= 0) {
        record['ctx'] = this.context();
      }
      return record as unknown as TraceRecord;
    }
    const record: Record<string, unknown> = { opid, op: name, phase, area, parentopid: this.parentopid };
    if (this.#parentName >= 0) {
      record['parentop'] = this.ops.texts[this.#parentName];
    }
    if (!Number.isNaN(this.execopid)) {
      record['execopid'] = this.execopid;
    }
    record['time'] = time;
    if (this.stack !== NO_STACK) {
      record['stack'] = this.stacks.frames(this.stack);
    }
    return record as unknown as TraceRecord;
  }

  /** The `ctx` of the record just read, undefined where it has none. */
  context(): unknown {
    if (this.parsed !== undefined) {
      return this.parsed['ctx'];
    }
    return this.#ctxStart < 0 ? undefined : JSON.parse(this.#text(this.#ctxStart, this.#ctxEnd));
  }

  #text(start: number, end: number): string {
    const { buffer, byteOffset } = this.#bytes;
    return Buffer.from(buffer, byteOffset + start, end - start).toString();
  }

  /**
   * Prefix and suffix stand in every record alike, so their text is taken once, and from then on only compared.
   * They are taken where `{` and the prefix alone, and `{` and the suffix alone, are valid JSON with no field of ours:
   * then the line is valid exactly when what stands between them is, and a later field cannot replace one of ours.
   */
  #learn(line: string, record: TraceRecord): void {
    if (this.#lessons >= MAX_LESSONS || 'stack' in record || 'ctx' in record) {
      return;
    }
    const custom = customTexts(line);
    if (custom === undefined) {
      return;
    }
    const { head, tail } = custom;
    this.#lessons++;
    this.#head = bytesOf(head + OPID);
    this.#suffix = bytesOf(tail);
    this.#custom = head !== '{' || tail !== '}';
  }
}
