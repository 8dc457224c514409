import { types } from 'node:util';
import { OwnMap, OwnWeakMap, uncurryThis } from './intrinsics';
import { quoteAscii } from './json';
import { classOf, functionLabel, Kind, ownValue, slotText } from './label';
import type { Payload } from './payload';
import { REDACTED, Redaction } from './redaction';

/** Levels of objects shown: 1 is the resource's own fields alone, 2 also the fields of the objects in them. */
export const CONTEXT_DEPTH = 2;

/** Fields shown of an object, and elements of an array. */
export const CONTEXT_BREADTH = 10;

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

/** Kept free for what says how much was left out, and for the closing bracket. */
const TAIL = 48;

const REDACTED_VALUE = `"${REDACTED}"`;

const { isProxy } = types;
const { getOwnPropertyDescriptor, getOwnPropertySymbols } = Object;
const ownKeys = Object.keys;
const hasOwn = Object.hasOwn;
const isFiniteNumber = Number.isFinite;
const toText = String as (value: symbol | bigint) => string;
const charCodeAt = uncurryThis(String.prototype.charCodeAt);
const slice = uncurryThis(String.prototype.slice);
const symbolDescription = uncurryThis(
  Object.getOwnPropertyDescriptor(Symbol.prototype, 'description')!.get! as (
    this: symbol,
  ) => string | undefined,
);

type LatinWriter = (this: Buffer, text: string, offset: number, length: number) => number;
const latin1Write = uncurryThis((Buffer.prototype as unknown as { latin1Write: LatinWriter }).latin1Write);

/**
 * The own fields of an operation's resource as JSON in ASCII: bounded in depth, breadth, string length and
 * bytes, without the secrets, and without running any code of the program: no getter, no toJSON, no trap of a
 * Proxy. Only enumerable fields with string names; what is no plain data stands as a short text, as in
 * "[Socket]". A timer that says so has the field `refed`: whether it keeps the process alive.
 */
export function createContextPayload(options: {
  depth: number;
  breadth: number;
  redact: readonly (string | RegExp)[];
}): Payload {
  return new ContextPayload(options.depth, options.breadth, new Redaction(options.redact));
}

/** What is decided once for each name of a field. */
interface Field {
  /** `"name":` */
  readonly fragment: string;
  readonly secret: boolean;
  readonly link: boolean;
}

/** The objects that hold the one being read, innermost first. */
interface Holder {
  readonly object: object;
  readonly level: number;
  readonly outer: Holder | undefined;
}

/** Objects with more than CONTEXT_FIELDS_MAX fields. */
const large = new OwnWeakMap<object, true>();

/** The symbol under which Node's timers keep whether they are ref'd; found on the first timer. */
let refed: symbol | undefined;

class ContextPayload implements Payload {
  readonly #depth: number;
  readonly #breadth: number;
  readonly #redaction: Redaction;
  #fields = new OwnMap<string, Field>();
  /** Characters that may still be written. */
  #room = 0;
  #json = '';

  constructor(depth: number, breadth: number, redaction: Redaction) {
    this.#depth = depth;
    this.#breadth = breadth;
    this.#redaction = redaction;
  }

  measure(subject: object | undefined): number {
    if (subject === undefined) return 0;
    try {
      this.#room = CONTEXT_BYTES_MAX;
      this.#json = this.#root(subject);
    } catch {
      this.#json = '';
    }
    return this.#json.length;
  }

  write(target: Buffer, position: number): number {
    const { length } = this.#json;
    latin1Write(target, this.#json, position, length);
    this.#json = '';
    return position + length;
  }

  #root(resource: object): string {
    if (typeof resource === 'function') return functionLabel(resource);
    if (isProxy(resource)) return '"[Proxy]"';
    const { kind, name } = classOf(resource);
    if (kind === Kind.Array) return this.#elements(resource as unknown[], undefined);
    if (kind === Kind.Text) return this.#text(resource, name);
    const timer = name === 'Timeout' || name === 'Immediate' ? refState(resource) : '';
    return this.#members(resource, undefined, timer);
  }

  /** The JSON of a value, taken off the room; '' where it does not fit. */
  #value(value: unknown, holder: Holder): string {
    let json: string;
    switch (typeof value) {
      case 'string':
        json = this.#string(value);
        break;
      case 'number':
        json = isFiniteNumber(value) ? `${value}` : `"${value}"`;
        break;
      case 'boolean':
        json = value ? 'true' : 'false';
        break;
      case 'object':
        if (value !== null) return this.#object(value, holder);
        json = 'null';
        break;
      case 'function':
        json = functionLabel(value);
        break;
      case 'symbol':
        json = this.#string(toText(value));
        break;
      case 'bigint':
        // Writing a large one takes time in the square of its length.
        json = value < BIGINT_MAX && value > -BIGINT_MAX ? `"${toText(value)}n"` : '"[BigInt]"';
        break;
      default:
        json = 'null';
    }
    return this.#take(json);
  }

  #take(json: string): string {
    if (json.length > this.#room) return '';
    this.#room -= json.length;
    return json;
  }

  #object(object: object, holder: Holder): string {
    if (isProxy(object)) return this.#take('"[Proxy]"');
    const { kind, label, name } = classOf(object);
    if (kind === Kind.Text) return this.#take(this.#text(object, name));
    for (let at: Holder | undefined = holder; at !== undefined; at = at.outer) {
      if (at.object === object) return this.#take('"[Circular]"');
    }
    const isDeep = holder.level >= this.#depth;
    if (kind === Kind.Array) {
      if (isDeep) return this.#take(`"[Array(${(object as unknown[]).length})]"`);
      return this.#elements(object as unknown[], holder);
    }
    return isDeep ? this.#take(label) : this.#members(object, holder, '');
  }

  #members(object: object, outer: Holder | undefined, extra: string): string {
    if (this.#room < TAIL) return '';
    if (large.has(object)) return this.#take('"[Object: too many fields]"');
    const keys = ownKeys(object);
    const { length } = keys;
    if (length > CONTEXT_FIELDS_MAX) large.set(object, true);
    this.#room -= TAIL;
    const holder: Holder = { object, level: outer === undefined ? 1 : outer.level + 1, outer };
    let json = '';
    let shown = 0;
    let i = 0;
    // Fields that are undefined are not shown; the second bound is for an object full of them.
    for (; i < length && shown < this.#breadth && i < this.#breadth + 64; i++) {
      const field = this.#fields.get(keys[i]) ?? this.#field(keys[i]);
      if (field.link) continue;
      const descriptor = getOwnPropertyDescriptor(object, keys[i]);
      if (descriptor === undefined) continue;
      const { fragment } = field;
      const roomBefore = this.#room;
      this.#room -= fragment.length + 1;
      let value: string;
      if (!hasOwn(descriptor, 'value')) value = this.#take('"[Getter]"');
      else if (descriptor.value === undefined) continue;
      else if (field.secret && descriptor.value !== null) value = this.#take(REDACTED_VALUE);
      else value = this.#value(descriptor.value, holder);
      if (value === '') {
        this.#room = roomBefore;
        break;
      }
      json += shown === 0 ? fragment + value : `,${fragment}${value}`;
      shown++;
    }
    if (extra !== '') {
      json += shown === 0 ? extra : `,${extra}`;
      shown++;
    }
    if (i < length) json += `${shown === 0 ? '' : ','}"...":"${length - i} more"`;
    this.#room += TAIL - 2;
    return `{${json}}`;
  }

  #elements(array: unknown[], outer: Holder | undefined): string {
    if (this.#room < TAIL) return '';
    this.#room -= TAIL;
    const holder: Holder = { object: array, level: outer === undefined ? 1 : outer.level + 1, outer };
    const { length } = array;
    let json = '';
    let secret = false;
    let i = 0;
    for (; i < length && i < this.#breadth; i++) {
      const descriptor = getOwnPropertyDescriptor(array, i);
      const roomBefore = this.#room;
      this.#room -= 1;
      let value: string;
      if (descriptor !== undefined && !hasOwn(descriptor, 'value')) value = this.#take('"[Getter]"');
      else {
        const element: unknown = descriptor === undefined ? undefined : descriptor.value;
        // Lists of names and values in turn: rawHeaders, the arguments of a command.
        value = secret ? this.#take(REDACTED_VALUE) : this.#value(element, holder);
        secret = !secret && typeof element === 'string' && this.#redaction.isSecretName(element);
      }
      if (value === '') {
        this.#room = roomBefore;
        break;
      }
      json += i === 0 ? value : `,${value}`;
    }
    if (i < length) json += `${i === 0 ? '' : ','}"... ${length - i} more"`;
    this.#room += TAIL - 2;
    return `[${json}]`;
  }

  #text(object: object, name: string): string {
    let text: string;
    try {
      text = slotText(object, name);
    } catch {
      text = `[${name}]`;
    }
    return this.#string(text);
  }

  #string(text: string): string {
    const isCut = text.length > CONTEXT_STRING_MAX;
    let shown = isCut ? slice(text, 0, CONTEXT_STRING_MAX) : text;
    let isPlain = true;
    let mayHoldSecrets = false;
    for (let i = 0; i < shown.length; i++) {
      const code = charCodeAt(shown, i);
      if (code < 0x20 || code > 0x7e || code === 0x22 || code === 0x5c) isPlain = false;
      else if (code === 0x3a || code === 0x3d) mayHoldSecrets = true;
      // the r of "Bearer " or the c of "Basic "
      else if (code === 0x20 && i > 4) {
        const before = charCodeAt(shown, i - 1) | 0x20;
        if (before === 0x72 || before === 0x63) mayHoldSecrets = true;
      }
    }
    if (mayHoldSecrets) shown = this.#redaction.redactText(shown);
    if (isCut) shown += `... ${text.length - CONTEXT_STRING_MAX} more`;
    return isPlain ? `"${shown}"` : quoteAscii(shown);
  }

  #field(key: string): Field {
    const isCut = key.length > CONTEXT_KEY_MAX;
    let link = false;
    for (let i = 0; i < LINKS.length; i++) if (key === LINKS[i]) link = true;
    const field = {
      fragment: `${quoteAscii(isCut ? `${slice(key, 0, CONTEXT_KEY_MAX)}...` : key)}:`,
      secret: this.#redaction.isSecret(key),
      link,
    };
    if (!isCut) {
      if (this.#fields.size >= FIELDS_KEPT) this.#fields = new OwnMap();
      this.#fields.set(key, field);
    }
    return field;
  }
}

const BIGINT_MAX = 2n ** 64n;

/** `"refed":true`, or '' where the resource does not say. */
function refState(timer: object): string {
  let state = refed === undefined ? undefined : ownValue(timer, refed);
  if (state === undefined) {
    const symbols = getOwnPropertySymbols(timer);
    for (let i = 0; i < symbols.length; i++) {
      if (symbolDescription(symbols[i]) !== 'refed') continue;
      refed = symbols[i];
      state = ownValue(timer, refed);
    }
  }
  return typeof state === 'boolean' ? `"refed":${state}` : '';
}
