import { types } from 'node:util';
import { OwnMap, OwnWeakMap, uncurryThis } from './intrinsics';
import { quoteAscii } from './json';
import { classOf, functionLabel, Kind, ownValue, PROXY, slotText } from './label';
import type { Payload } from './payload';
import { REDACTED, Redaction } from './redaction';
import { createFragment, type Fragment, Scratch } from './scratch';

/** Characters kept of a string. */
export const CONTEXT_STRING_MAX = 256;

/** Characters kept of a field's name. */
export const CONTEXT_KEY_MAX = 128;

/** Bytes of a whole context at most. */
export const CONTEXT_BYTES_MAX = 8_192;

/** An object with more fields than this is named, not listed: listing costs time for all of them. */
export const CONTEXT_FIELDS_MAX = 4_096;

/** Names of fields whose fragments are kept. */
const FIELDS_KEPT = 4_096;

/** The lists in which Node strings its timers and immediates together: other operations, and their contents. */
const LINKS: readonly string[] = ['_idleNext', '_idlePrev'];

/** Fields in a row that are undefined. */
const UNDEFINED_MAX = 64;

/** Kept free for what says how much was left out, and for the closing bracket. */
const TAIL = 48;

/** Before the first value. */
const NOWHERE = new Scratch(0);

const NULL = createFragment('null');
const TRUE = createFragment('true');
const FALSE = createFragment('false');
const GETTER = createFragment('"[Getter]"');
const CIRCULAR = createFragment('"[Circular]"');
const SECRET = createFragment(`"${REDACTED}"`);
const LARGE_BIGINT = createFragment('"[BigInt]"');
const LARGE_OBJECT = createFragment('"[Object: too many fields]"');
const REFED = createFragment(',"refed":true');
const NOT_REFED = createFragment(',"refed":false');
const MORE_FIELDS = createFragment(',"...":"');
const MORE_ELEMENTS = createFragment(',"... ');
const MORE = createFragment(' more"');

/** Digits are written by hand up to here. */
const SMALL_INTEGER_MAX = 999_999_999;
const DIGITS_MAX = 9;
const BIGINT_MAX = 2n ** 64n;

const SPACE = 0x20;
const COMMA = 0x2c;
const ZERO = 0x30;
const QUOTE = 0x22;
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
const isFiniteNumber = Number.isFinite;
const toText = String as (value: symbol | bigint) => string;
const charCodeAt = uncurryThis(String.prototype.charCodeAt);
const slice = uncurryThis(String.prototype.slice);
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

/** What is decided once for each name of a field. */
interface Field {
  readonly key: string;
  /** `,"name":` */
  readonly fragment: Fragment;
  /** `,"name":null` and the like: most fields hold one of these. */
  readonly withNull: Fragment;
  readonly withTrue: Fragment;
  readonly withFalse: Fragment;
  readonly secret: boolean;
  readonly link: boolean;
  /** The field that last followed this one: right for most objects, and spares the look-up. */
  next: Field | undefined;
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
 * Writes one value after the other into the scratch. Every method that writes a value returns whether it fitted
 * below #limit; where it did not, its caller takes the scratch back to where it was and says what is missing.
 */
class ContextPayload implements Payload {
  readonly #depth: number;
  readonly #breadth: number;
  readonly #redaction: Redaction;
  /** Where the values go that are being appended. */
  #scratch: Scratch = NOWHERE;
  #fields = new OwnMap<string, Field>();
  /** Stand before the first field of a resource, and of every other object. */
  #resourceStart: Field;
  #objectStart: Field;
  /** How far the scratch may be filled: the room for the tails of all open objects is taken off. */
  #limit = CONTEXT_BYTES_MAX;

  constructor(depth: number, breadth: number, redaction: Redaction) {
    this.#depth = depth;
    this.#breadth = breadth;
    this.#redaction = redaction;
    this.#resourceStart = this.#createField('');
    this.#objectStart = this.#createField('');
  }

  append(scratch: Scratch, subject: object | undefined): number {
    if (subject === undefined) return 0;
    const start = scratch.length;
    try {
      scratch.reserve(CONTEXT_BYTES_MAX);
      this.#scratch = scratch;
      this.#limit = start + CONTEXT_BYTES_MAX;
      this.#root(subject);
    } catch {
      scratch.length = start;
    }
    return scratch.length - start;
  }

  #root(resource: object): boolean {
    if (typeof resource === 'function') return this.#put(functionLabel(resource));
    if (isProxy(resource)) return this.#put(PROXY);
    const { kind, name } = classOf(resource);
    if (kind === Kind.Array) return this.#elements(resource as unknown[], undefined);
    if (kind === Kind.Text) return this.#text(resource, name);
    const timer = name === 'Timeout' || name === 'Immediate' ? refState(resource) : undefined;
    return this.#members(resource, undefined, timer);
  }

  #put(fragment: Fragment): boolean {
    if (this.#scratch.length + fragment.length > this.#limit) return false;
    this.#scratch.append(fragment);
    return true;
  }

  #value(value: unknown, holder: Holder): boolean {
    switch (typeof value) {
      case 'string':
        return this.#string(value);
      case 'number':
        return this.#number(value);
      case 'boolean':
        return this.#put(value ? TRUE : FALSE);
      case 'object':
        return value === null ? this.#put(NULL) : this.#object(value, holder);
      case 'function':
        return this.#put(functionLabel(value));
      case 'symbol':
        return this.#string(toText(value));
      case 'bigint':
        // Writing a large one takes time in the square of its length.
        if (value >= BIGINT_MAX || value <= -BIGINT_MAX) return this.#put(LARGE_BIGINT);
        return this.#string(`${toText(value)}n`);
      default:
        return this.#put(NULL);
    }
  }

  #object(object: object, holder: Holder): boolean {
    if (isProxy(object)) return this.#put(PROXY);
    const { kind, label, name } = classOf(object);
    if (kind === Kind.Text) return this.#text(object, name);
    const isDeep = holder.level >= this.#depth;
    if (isDeep && kind === Kind.Fields) return this.#put(label);
    for (let at: Holder | undefined = holder; at !== undefined; at = at.outer) {
      if (at.object === object) return this.#put(CIRCULAR);
    }
    if (kind === Kind.Fields) return this.#members(object, holder, undefined);
    if (isDeep) return this.#string(`[Array(${(object as unknown[]).length})]`);
    return this.#elements(object as unknown[], holder);
  }

  #members(object: object, outer: Holder | undefined, extra: Fragment | undefined): boolean {
    const scratch = this.#scratch;
    if (scratch.length + TAIL > this.#limit) return false;
    if (large?.has(object)) return this.#put(LARGE_OBJECT);
    const keys = ownKeys(object);
    const { length } = keys;
    if (length > CONTEXT_FIELDS_MAX) {
      large ??= new OwnWeakMap();
      large.set(object, true);
    }
    this.#limit -= TAIL;
    const holder: Holder = { object, level: outer === undefined ? 1 : outer.level + 1, outer };
    const opening = scratch.length;
    let shown = 0;
    let i = 0;
    let previous = outer === undefined ? this.#resourceStart : this.#objectStart;
    // Fields that are undefined are not shown; the second bound is for an object full of them.
    for (; i < length && shown < this.#breadth && i < this.#breadth + UNDEFINED_MAX; i++) {
      const key = keys[i];
      let field = previous.next;
      if (field === undefined || field.key !== key) {
        field = this.#field(key);
        previous.next = field;
      }
      previous = field;
      if (field.link) continue;
      const descriptor = getOwnPropertyDescriptor(object, key);
      // A getter's descriptor is not writable, not even false.
      if (descriptor === undefined || (descriptor.writable !== undefined && descriptor.value === undefined)) {
        continue;
      }
      const start = scratch.length;
      if (!this.#member(field, descriptor, holder)) {
        scratch.length = start;
        break;
      }
      shown++;
    }
    if (extra !== undefined) scratch.append(extra);
    if (i < length) this.#more(MORE_FIELDS, length - i);
    // In the place of the first comma.
    if (scratch.length > opening) scratch.bytes[opening] = OPENING_BRACE;
    else scratch.appendByte(OPENING_BRACE);
    scratch.appendByte(CLOSING_BRACE);
    this.#limit += TAIL;
    return true;
  }

  #member(field: Field, { value, writable }: PropertyDescriptor, holder: Holder): boolean {
    if (value === null) return this.#put(field.withNull);
    if (!field.secret && value === false) return this.#put(field.withFalse);
    if (!field.secret && value === true) return this.#put(field.withTrue);
    if (!this.#put(field.fragment)) return false;
    if (writable === undefined) return this.#put(GETTER);
    return field.secret ? this.#put(SECRET) : this.#value(value, holder);
  }

  /** What was left out; TAIL keeps the room for it. */
  #more(fragment: Fragment, count: number): void {
    this.#scratch.append(fragment);
    this.#digits(count);
    this.#scratch.append(MORE);
  }

  #elements(array: unknown[], outer: Holder | undefined): boolean {
    const scratch = this.#scratch;
    if (scratch.length + TAIL > this.#limit) return false;
    this.#limit -= TAIL;
    const holder: Holder = { object: array, level: outer === undefined ? 1 : outer.level + 1, outer };
    const { length } = array;
    const opening = scratch.length;
    let isSecret = false;
    let i = 0;
    for (; i < length && i < this.#breadth; i++) {
      const start = scratch.length;
      scratch.appendByte(COMMA);
      let fits: boolean;
      if (!hasOwn(array, i)) fits = this.#put(NULL);
      // Half the price of a descriptor where the key is an index; a setter alone reads as undefined.
      else if (lookupGetter(array, i) !== undefined) fits = this.#put(GETTER);
      else {
        const element = array[i];
        // Lists of names and values in turn: rawHeaders, the arguments of a command.
        fits = isSecret ? this.#put(SECRET) : this.#value(element, holder);
        isSecret = !isSecret && typeof element === 'string' && this.#redaction.isSecretName(element);
      }
      if (!fits) {
        scratch.length = start;
        break;
      }
    }
    if (i < length) this.#more(MORE_ELEMENTS, length - i);
    // In the place of the first comma.
    if (scratch.length > opening) scratch.bytes[opening] = OPENING_BRACKET;
    else scratch.appendByte(OPENING_BRACKET);
    scratch.appendByte(CLOSING_BRACKET);
    this.#limit += TAIL;
    return true;
  }

  #text(object: object, name: string): boolean {
    let text: string;
    try {
      text = slotText(object, name);
    } catch {
      text = `[${name}]`;
    }
    return this.#string(text);
  }

  #number(value: number): boolean {
    if (value < 0 || value > SMALL_INTEGER_MAX || (value | 0) !== value) {
      return this.#ascii(isFiniteNumber(value) ? `${value}` : `"${value}"`);
    }
    if (this.#scratch.length + DIGITS_MAX > this.#limit) return false;
    this.#digits(value);
    return true;
  }

  /** A whole number from 0 up; lists of more than SMALL_INTEGER_MAX are said to have that many. */
  #digits(value: number): void {
    const scratch = this.#scratch;
    const { bytes } = scratch;
    let rest = min(value, SMALL_INTEGER_MAX);
    let at = scratch.length + 1;
    for (let bound = 10; bound <= rest; bound *= 10) at++;
    scratch.length = at;
    do {
      const quotient = (rest / 10) | 0;
      bytes[--at] = ZERO + rest - 10 * quotient;
      rest = quotient;
    } while (rest > 0);
  }

  #string(text: string): boolean {
    const { length } = text;
    const scratch = this.#scratch;
    if (length <= CONTEXT_STRING_MAX && scratch.length + length + 2 <= this.#limit) {
      const { bytes } = scratch;
      let at = scratch.length;
      bytes[at++] = QUOTE;
      let i = 0;
      for (; i < length; i++) {
        const code = charCodeAt(text, i);
        if (!isHarmless(code) || (code === SPACE && i > 4 && mayEndScheme(charCodeAt(text, i - 1)))) break;
        bytes[at++] = code;
      }
      if (i === length) {
        bytes[at++] = QUOTE;
        scratch.length = at;
        return true;
      }
    }
    let shown = length > CONTEXT_STRING_MAX ? slice(text, 0, CONTEXT_STRING_MAX) : text;
    shown = this.#redaction.redactText(shown);
    if (length > CONTEXT_STRING_MAX) shown += `... ${length - CONTEXT_STRING_MAX} more`;
    return this.#ascii(quoteAscii(shown));
  }

  #ascii(text: string): boolean {
    const scratch = this.#scratch;
    const { length } = text;
    if (scratch.length + length > this.#limit) return false;
    const { bytes } = scratch;
    for (let i = 0; i < length; i++) bytes[scratch.length + i] = charCodeAt(text, i);
    scratch.length += length;
    return true;
  }

  #field(key: string): Field {
    let field = this.#fields.get(key);
    if (field === undefined) {
      field = this.#createField(key);
      if (key.length > CONTEXT_KEY_MAX) return field;
      if (this.#fields.size >= FIELDS_KEPT) {
        this.#fields = new OwnMap();
        // or the old fields would live on behind them
        this.#resourceStart = this.#createField('');
        this.#objectStart = this.#createField('');
      }
      this.#fields.set(key, field);
    }
    return field;
  }

  #createField(key: string): Field {
    const isCut = key.length > CONTEXT_KEY_MAX;
    const name =
      this.#redaction.redactText(isCut ? slice(key, 0, CONTEXT_KEY_MAX) : key) + (isCut ? '...' : '');
    let link = false;
    for (let i = 0; i < LINKS.length; i++) if (key === LINKS[i]) link = true;
    const start = `,${quoteAscii(name)}:`;
    return {
      key,
      fragment: createFragment(start),
      withNull: createFragment(`${start}null`),
      withTrue: createFragment(`${start}true`),
      withFalse: createFragment(`${start}false`),
      secret: this.#redaction.isSecret(key),
      link,
      next: undefined,
    };
  }
}

/** Written as it is, and no part of a pair of name and value. */
function isHarmless(code: number): boolean {
  return code >= 0x20 && code < 0x7f && code !== QUOTE && code !== 0x5c && code !== 0x3a && code !== 0x3d;
}

/** The r of "Bearer " and the c of "Basic ". */
function mayEndScheme(code: number): boolean {
  return (code | 0x20) === 0x72 || (code | 0x20) === 0x63;
}

/** `"refed":true`, or undefined where the resource does not say. */
function refState(timer: object): Fragment | undefined {
  let state = refed === undefined ? undefined : ownValue(timer, refed);
  if (state === undefined) {
    const symbols = getOwnPropertySymbols(timer);
    for (let i = 0; i < symbols.length; i++) {
      if (symbolDescription(symbols[i]) !== 'refed') continue;
      refed = symbols[i];
      state = ownValue(timer, refed);
    }
  }
  return typeof state === 'boolean' ? (state ? REFED : NOT_REFED) : undefined;
}
