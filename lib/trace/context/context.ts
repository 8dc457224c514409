/**
 * The `ctx` of before and after records.
 *
 * One file: the methods that write a value call one another and share the buffer and its limit, so that any cut between them
 * would be a call across modules for each value, in the most expensive part of a trace with contexts.
 */
import { types } from 'node:util';
import { createLiteral } from '../payload/literal';
import type { Payload } from '../payload/payload';
import { PayloadBuffer } from '../payload/payload-buffer';
import type { Literal } from '../payload/text-as-doubles';
import { OwnWeakMap, uncurryThis } from '../runtime/intrinsics';
import { type Field, FieldTable } from './field';
import { type ClassInfo, classOf, functionLabel, Kind, PROXY, slotText } from './label';
import { REDACTED } from './redacted-text';
import { Redaction } from './redaction';
import { putDigits, putNumber, putString, putSymbolOrBigInt } from './scalar';
import { refState } from './timer-ref';

/** Bytes of a whole context at most. */
export const CONTEXT_BYTES_MAX = 8_192;

/** An object with more fields than this is named, not listed: to list keys costs time for all of them. */
export const CONTEXT_FIELDS_MAX = 4_096;

/** Undefined fields that are passed over, beyond the breadth. */
const UNDEFINED_MAX = 64;

/** Bytes reserved for the count of omitted fields and for the closing bracket. */
const TAIL = 48;

/** The buffer before the first value. */
const NO_BUFFER = new PayloadBuffer(0);

const NULL = createLiteral('null');
const TRUE = createLiteral('true');
const FALSE = createLiteral('false');
const GETTER = createLiteral('"[Getter]"');
const CIRCULAR = createLiteral('"[Circular]"');
const SECRET = createLiteral(`"${REDACTED}"`);
const LARGE_OBJECT = createLiteral('"[Object: too many fields]"');
const MORE_FIELDS = createLiteral(',"...":"');
const MORE_ELEMENTS = createLiteral(',"... ');
const MORE = createLiteral(' more"');

const COMMA = 0x2c;
const OPENING_BRACKET = 0x5b;
const CLOSING_BRACKET = 0x5d;
const OPENING_BRACE = 0x7b;
const CLOSING_BRACE = 0x7d;

const { isProxy } = types;
const { getOwnPropertyDescriptor } = Object;
const lookupGetter = uncurryThis(
  (Object.prototype as unknown as { __lookupGetter__(this: object, key: PropertyKey): unknown })
    .__lookupGetter__,
);
const ownKeys = Object.keys;
const hasOwn = Object.hasOwn;
const { min } = Math;

/**
 * The own fields of an operation's resource as JSON in ASCII: bounded in depth, breadth, string length and
 * bytes, without secrets, and without running any code of the program: no getter, no toJSON, no trap of a
 * Proxy. Only enumerable fields with string names are written; anything but plain data becomes a short text, as in
 * "[Socket]". A timer also gets the field `refed`: whether it keeps the process alive.
 */
export function createContextPayload(options: {
  /** Levels of objects written: 1 is the resource's own fields, 2 also the fields of the objects in them. */
  depth: number;
  /** Fields written of an object, and elements of an array. */
  breadth: number;
  redact: readonly (string | RegExp)[];
}): Payload {
  return new ContextPayload(options.depth, options.breadth, new Redaction(options.redact));
}

/** The objects that contain the one being read, innermost first. */
interface Parent {
  readonly object: object;
  readonly level: number;
  readonly outer: Parent | undefined;
}

/** Objects with more than CONTEXT_FIELDS_MAX fields, once there is one. */
let large: OwnWeakMap<object, true> | undefined;

/**
 * Writes one value after the other into the buffer. Every method that writes a value returns whether it fitted
 * below #limit; where it did not, its caller resets the buffer and writes what is missing.
 *
 * Most of the cost is in V8's calls that inspect an object without running its code: whether it is a Proxy, its prototype,
 * its keys, a descriptor for each key. Of 260 ns for a TickObject of an HTTP server these took 165, in a loop on Node 20.
 * Their results cannot be cached by the shape of an object, which JavaScript cannot see: a field that was data may be a
 * getter the next time. A cache of whole texts, found literal by literal, gained nothing.
 */
class ContextPayload implements Payload {
  readonly #depth: number;
  readonly #breadth: number;
  readonly #redaction: Redaction;
  readonly #fields: FieldTable;
  /** The buffer of the value that is being appended. */
  #buffer: PayloadBuffer = NO_BUFFER;
  /** How far the buffer may be filled: the reserve for the tails of all open objects is subtracted. */
  #limit = 0;

  constructor(depth: number, breadth: number, redaction: Redaction) {
    this.#depth = depth;
    this.#breadth = breadth;
    this.#redaction = redaction;
    this.#fields = new FieldTable(redaction);
  }

  append(buffer: PayloadBuffer, subject: object | undefined): number {
    if (subject === undefined) {
      return 0;
    }
    const start = buffer.length;
    try {
      buffer.reserve(CONTEXT_BYTES_MAX);
      this.#buffer = buffer;
      this.#limit = start + CONTEXT_BYTES_MAX;
      this.#root(subject);
    } catch {
      buffer.length = start;
    }
    return buffer.length - start;
  }

  #root(resource: object): boolean {
    if (typeof resource === 'function') {
      return this.#put(functionLabel(resource));
    }
    if (isProxy(resource)) {
      return this.#put(PROXY);
    }
    const info = classOf(resource);
    if (info.kind === Kind.Fields) {
      return this.#members(resource, undefined, info.timer ? refState(resource) : undefined);
    }
    if (info.kind === Kind.Array) {
      return this.#elements(resource as unknown[], undefined);
    }
    return this.#text(resource, info.name);
  }

  #put(literal: Literal): boolean {
    const buffer = this.#buffer;
    if (buffer.length + literal.length > this.#limit) {
      return false;
    }
    buffer.put(literal);
    return true;
  }

  /** Objects are first because most values are objects, and V8 compares the results of `typeof` one after the other. */
  #value(value: unknown, parent: Parent): boolean {
    if (typeof value === 'object') {
      return value === null ? this.#put(NULL) : this.#object(value, parent);
    }
    if (typeof value === 'function') {
      return this.#put(functionLabel(value));
    }
    if (typeof value === 'string') {
      return putString(this.#buffer, value, this.#limit, this.#redaction);
    }
    if (typeof value === 'number') {
      return putNumber(this.#buffer, value, this.#limit);
    }
    if (typeof value === 'boolean') {
      return this.#put(value ? TRUE : FALSE);
    }
    if (value === undefined) {
      return this.#put(NULL);
    }
    return putSymbolOrBigInt(this.#buffer, value as symbol | bigint, this.#limit, this.#redaction);
  }

  #object(object: object, parent: Parent): boolean {
    if (isProxy(object)) {
      return this.#put(PROXY);
    }
    const info = classOf(object);
    if (info.kind === Kind.Fields && parent.level >= this.#depth) {
      return this.#put(info.label);
    }
    return this.#inner(object, info, parent);
  }

  #inner(object: object, info: ClassInfo, parent: Parent): boolean {
    if (info.kind === Kind.Text) {
      return this.#text(object, info.name);
    }
    for (let at: Parent | undefined = parent; at !== undefined; at = at.outer) {
      if (at.object === object) {
        return this.#put(CIRCULAR);
      }
    }
    if (info.kind === Kind.Fields) {
      return this.#members(object, parent, undefined);
    }
    if (parent.level < this.#depth) {
      return this.#elements(object as unknown[], parent);
    }
    return putString(this.#buffer, `[Array(${(object as unknown[]).length})]`, this.#limit, this.#redaction);
  }

  #members(object: object, outer: Parent | undefined, extra: Literal | undefined): boolean {
    const buffer = this.#buffer;
    if (buffer.length + TAIL > this.#limit) {
      return false;
    }
    if (large?.has(object)) {
      return this.#put(LARGE_OBJECT);
    }
    const keys = ownKeys(object);
    const { length } = keys;
    if (length > CONTEXT_FIELDS_MAX) {
      large ??= new OwnWeakMap();
      large.set(object, true);
    }
    this.#limit -= TAIL;
    const parent: Parent = { object, level: outer === undefined ? 1 : outer.level + 1, outer };
    const opening = buffer.length;
    let left = this.#breadth;
    let i = 0;
    let previous = outer === undefined ? this.#fields.resourceStart : this.#fields.objectStart;
    // Undefined fields are not written; the second bound is for an object that is full of them.
    const last = min(length, left + UNDEFINED_MAX);
    for (; i < last && left > 0; i++) {
      const key = keys[i];
      let field = previous.next;
      if (field === undefined || field.key !== key) {
        field = this.#fields.find(key);
        previous.next = field;
      }
      previous = field;
      if (field.isLink) {
        continue;
      }
      const descriptor = getOwnPropertyDescriptor(object, key);
      if (descriptor === undefined) {
        continue;
      }
      const { value } = descriptor;
      const isGetter = value === undefined && !hasOwn(descriptor, 'value');
      if (value === undefined && !isGetter) {
        continue;
      }
      const start = buffer.length;
      if (!(isGetter ? this.#getter(field) : this.#member(field, value, parent))) {
        buffer.length = start;
        break;
      }
      left--;
    }
    if (extra !== undefined) {
      buffer.put(extra);
    }
    if (i < length) {
      this.#more(MORE_FIELDS, length - i);
    }
    this.#close(opening, OPENING_BRACE, CLOSING_BRACE);
    return true;
  }

  #member(field: Field, value: unknown, parent: Parent): boolean {
    if (value === null) {
      return this.#put(field.withNull);
    }
    if (field.isSecret) {
      return this.#put(field.literal) && this.#put(SECRET);
    }
    if (value === false) {
      return this.#put(field.withFalse);
    }
    if (value === true) {
      return this.#put(field.withTrue);
    }
    return this.#put(field.literal) && this.#value(value, parent);
  }

  #getter(field: Field): boolean {
    return this.#put(field.literal) && this.#put(GETTER);
  }

  /** Writes how many were omitted; TAIL reserves the room for it. */
  #more(literal: Literal, count: number): void {
    this.#buffer.put(literal);
    putDigits(this.#buffer, count);
    this.#buffer.put(MORE);
  }

  #elements(array: unknown[], outer: Parent | undefined): boolean {
    const buffer = this.#buffer;
    if (buffer.length + TAIL > this.#limit) {
      return false;
    }
    this.#limit -= TAIL;
    const parent: Parent = { object: array, level: outer === undefined ? 1 : outer.level + 1, outer };
    const { length } = array;
    const opening = buffer.length;
    const last = min(length, this.#breadth);
    let isSecret = false;
    let i = 0;
    for (; i < last; i++) {
      const start = buffer.length;
      buffer.bytes[buffer.length++] = COMMA;
      let fits: boolean;
      if (!hasOwn(array, i)) {
        fits = this.#put(NULL);
      }
      // A fifth of the cost of a descriptor where the key is an index. A setter without a getter reads as undefined.
      else if (lookupGetter(array, i) !== undefined) {
        fits = this.#put(GETTER);
      } else {
        const element = array[i];
        // Lists in which names and values alternate: rawHeaders, the arguments of a command.
        fits = isSecret ? this.#put(SECRET) : this.#value(element, parent);
        isSecret = !isSecret && typeof element === 'string' && this.#redaction.isSecretName(element);
      }
      if (!fits) {
        buffer.length = start;
        break;
      }
    }
    if (i < length) {
      this.#more(MORE_ELEMENTS, length - i);
    }
    this.#close(opening, OPENING_BRACKET, CLOSING_BRACKET);
    return true;
  }

  /** Writes the opening bracket over the first comma, if there is one, then the closing one; ends the reserve for the tail. */
  #close(at: number, opening: number, closing: number): void {
    const buffer = this.#buffer;
    if (buffer.length > at) {
      buffer.bytes[at] = opening;
    } else {
      buffer.bytes[buffer.length++] = opening;
    }
    buffer.bytes[buffer.length++] = closing;
    this.#limit += TAIL;
  }

  #text(object: object, name: string): boolean {
    let text: string;
    try {
      text = slotText(object, name);
    } catch {
      text = `[${name}]`;
    }
    return putString(this.#buffer, text, this.#limit, this.#redaction);
  }
}
