import { types } from 'node:util';
import { createLiteral } from '../payload/literal';
import type { Payload } from '../payload/payload';
import { PayloadBuffer } from '../payload/payload-buffer';
import type { Literal } from '../payload/words';
import { OwnWeakMap, uncurryThis } from '../runtime/intrinsics';
import { type Field, FieldTable } from './field';
import { type ClassInfo, classOf, functionLabel, Kind, ownValue, PROXY, slotText } from './label';
import { REDACTED, Redaction } from './redaction';
import { putDigits, putNumber, putRare, putString } from './scalar';

/** Bytes of a whole context at most. */
export const CONTEXT_BYTES_MAX = 8_192;

/** An object with more fields than this is named, not listed: listing costs time for all of them. */
export const CONTEXT_FIELDS_MAX = 4_096;

/** Fields in a row that are undefined. */
const UNDEFINED_MAX = 64;

/** Kept free for what says how much was left out, and for the closing bracket. */
const TAIL = 48;

/** Before the first value. */
const NOWHERE = new PayloadBuffer(0);

const NULL = createLiteral('null');
const TRUE = createLiteral('true');
const FALSE = createLiteral('false');
const GETTER = createLiteral('"[Getter]"');
const CIRCULAR = createLiteral('"[Circular]"');
const SECRET = createLiteral(`"${REDACTED}"`);
const LARGE_OBJECT = createLiteral('"[Object: too many fields]"');
const REFED = createLiteral(',"refed":true');
const NOT_REFED = createLiteral(',"refed":false');
const MORE_FIELDS = createLiteral(',"...":"');
const MORE_ELEMENTS = createLiteral(',"... ');
const MORE = createLiteral(' more"');

const COMMA = 0x2c;
const OPENING_BRACKET = 0x5b;
const CLOSING_BRACKET = 0x5d;
const OPENING_BRACE = 0x7b;
const CLOSING_BRACE = 0x7d;

const { isProxy } = types;
const { getOwnPropertyDescriptor, getOwnPropertySymbols } = Object;
const lookupGetter = uncurryThis(
  (Object.prototype as unknown as { __lookupGetter__(this: object, key: PropertyKey): unknown })
    .__lookupGetter__,
);
const ownKeys = Object.keys;
const hasOwn = Object.hasOwn;
const { min } = Math;
const symbolDescription = uncurryThis(
  Object.getOwnPropertyDescriptor(Symbol.prototype, 'description')!.get! as (
    this: symbol,
  ) => string | undefined,
);

/**
 * The own fields of an operation's resource as JSON in ASCII: bounded in depth, breadth, string length and
 * bytes, without the secrets, and without running any code of the program: no getter, no toJSON, no trap of a
 * Proxy. Only enumerable fields with string names; what is no plain data stands as a short text, as in
 * "[Socket]". A timer that says so has the field `refed`: whether it keeps the process alive.
 */
export function createContextPayload(options: {
  /** Levels of objects shown: 1 is the resource's own fields alone, 2 also the fields of the objects in them. */
  depth: number;
  /** Fields shown of an object, and elements of an array. */
  breadth: number;
  redact: readonly (string | RegExp)[];
}): Payload {
  return new ContextPayload(options.depth, options.breadth, new Redaction(options.redact));
}

/** The objects that hold the one being read, innermost first. */
interface Holder {
  readonly object: object;
  readonly level: number;
  readonly outer: Holder | undefined;
}

/** Objects with more than CONTEXT_FIELDS_MAX fields, once there is one. */
let large: OwnWeakMap<object, true> | undefined;

/** The symbol under which Node's timers keep whether they are ref'd; found on the first timer. */
let refed: symbol | undefined;

/**
 * Writes one value after the other into the buffer. Every method that writes a value returns whether it fitted
 * below #limit; where it did not, its caller takes the buffer back to where it was and says what is missing.
 *
 * What it costs is above all what V8 takes to tell of an object without running its code, call by call: whether it is
 * a Proxy, its prototype, its keys, a descriptor for each. Of 260 ns for a TickObject of an HTTP server these took 165,
 * in a loop on Node 20. They cannot be remembered by the shape of an object, which no program sees: a field that was
 * data may be a getter the next time. Keeping whole texts, found again fragment by fragment, gained nothing.
 */
class ContextPayload implements Payload {
  readonly #depth: number;
  readonly #breadth: number;
  readonly #redaction: Redaction;
  readonly #fields: FieldTable;
  /** Where the value goes that is being appended. */
  #buffer: PayloadBuffer = NOWHERE;
  /** How far the buffer may be filled: the room for the tails of all open objects is taken off. */
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

  #put(fragment: Literal): boolean {
    const buffer = this.#buffer;
    if (buffer.length + fragment.length > this.#limit) {
      return false;
    }
    buffer.put(fragment);
    return true;
  }

  /** Objects come first: most values are one, and V8 compares what `typeof` gives one after the other. */
  #value(value: unknown, holder: Holder): boolean {
    if (typeof value === 'object') {
      return value === null ? this.#put(NULL) : this.#object(value, holder);
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
    return putRare(this.#buffer, value as symbol | bigint, this.#limit, this.#redaction);
  }

  #object(object: object, holder: Holder): boolean {
    if (isProxy(object)) {
      return this.#put(PROXY);
    }
    const info = classOf(object);
    if (info.kind === Kind.Fields && holder.level >= this.#depth) {
      return this.#put(info.label);
    }
    return this.#inner(object, info, holder);
  }

  #inner(object: object, info: ClassInfo, holder: Holder): boolean {
    if (info.kind === Kind.Text) {
      return this.#text(object, info.name);
    }
    for (let at: Holder | undefined = holder; at !== undefined; at = at.outer) {
      if (at.object === object) {
        return this.#put(CIRCULAR);
      }
    }
    if (info.kind === Kind.Fields) {
      return this.#members(object, holder, undefined);
    }
    if (holder.level < this.#depth) {
      return this.#elements(object as unknown[], holder);
    }
    return putString(this.#buffer, `[Array(${(object as unknown[]).length})]`, this.#limit, this.#redaction);
  }

  #members(object: object, outer: Holder | undefined, extra: Literal | undefined): boolean {
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
    const holder: Holder = { object, level: outer === undefined ? 1 : outer.level + 1, outer };
    const opening = buffer.length;
    let left = this.#breadth;
    let i = 0;
    let previous = outer === undefined ? this.#fields.resourceStart : this.#fields.objectStart;
    // Fields that are undefined are not shown; the second bound is for an object full of them.
    const last = min(length, left + UNDEFINED_MAX);
    for (; i < last && left > 0; i++) {
      const key = keys[i];
      let field = previous.next;
      if (field === undefined || field.key !== key) {
        field = this.#fields.find(key);
        previous.next = field;
      }
      previous = field;
      if (field.link) {
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
      if (!(isGetter ? this.#getter(field) : this.#member(field, value, holder))) {
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

  #member(field: Field, value: unknown, holder: Holder): boolean {
    if (value === null) {
      return this.#put(field.withNull);
    }
    if (field.secret) {
      return this.#put(field.fragment) && this.#put(SECRET);
    }
    if (value === false) {
      return this.#put(field.withFalse);
    }
    if (value === true) {
      return this.#put(field.withTrue);
    }
    return this.#put(field.fragment) && this.#value(value, holder);
  }

  #getter(field: Field): boolean {
    return this.#put(field.fragment) && this.#put(GETTER);
  }

  /** What was left out; TAIL keeps the room for it. */
  #more(fragment: Literal, count: number): void {
    this.#buffer.put(fragment);
    putDigits(this.#buffer, count);
    this.#buffer.put(MORE);
  }

  #elements(array: unknown[], outer: Holder | undefined): boolean {
    const buffer = this.#buffer;
    if (buffer.length + TAIL > this.#limit) {
      return false;
    }
    this.#limit -= TAIL;
    const holder: Holder = { object: array, level: outer === undefined ? 1 : outer.level + 1, outer };
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
      // A fifth of what a descriptor costs where the key is an index; a setter alone reads as undefined.
      else if (lookupGetter(array, i) !== undefined) {
        fits = this.#put(GETTER);
      } else {
        const element = array[i];
        // Lists of names and values in turn: rawHeaders, the arguments of a command.
        fits = isSecret ? this.#put(SECRET) : this.#value(element, holder);
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

  /** Puts the first one in the place of the first comma, where there is one; the room for the tail is free again. */
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

/** `"refed":true`, or undefined where the resource does not say. */
function refState(timer: object): Literal | undefined {
  let state = refed === undefined ? undefined : ownValue(timer, refed);
  if (state === undefined) {
    const symbols = getOwnPropertySymbols(timer);
    for (let i = 0; i < symbols.length; i++) {
      if (symbolDescription(symbols[i]) !== 'refed') {
        continue;
      }
      refed = symbols[i];
      state = ownValue(timer, refed);
    }
  }
  return typeof state === 'boolean' ? (state ? REFED : NOT_REFED) : undefined;
}
