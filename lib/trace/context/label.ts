/** Classes and functions, and the short text that is written for an object that is not plain data. */
import { types } from 'node:util';
import { quoteAscii } from '../payload/json';
import { createLiteral } from '../payload/literal';
import type { Literal } from '../payload/text-as-doubles';
import { OwnMap, OwnWeakMap, uncurryGetter, uncurryThis } from '../runtime/intrinsics';
import { ownValue } from './own-value';

/** Characters kept of the name of a class or function. */
export const NAME_MAX = 64;

/** Labels of functions kept by name. */
const FUNCTION_NAMES_KEPT = 1_024;

/** Prototypes that are searched for the name of a class. */
const PROTOTYPES_MAX = 8;

const { isProxy, isRegExp, isDate, isMap, isSet, isNativeError, isAnyArrayBuffer, isBoxedPrimitive } = types;
const { isModuleNamespaceObject, isArrayBufferView } = types;
const { getPrototypeOf } = Object;
const isNaNumber = Number.isNaN;
const slice = uncurryThis(String.prototype.slice);
const mapSize = uncurryGetter<number>(Map.prototype, 'size');
const setSize = uncurryGetter<number>(Set.prototype, 'size');
const getTime = uncurryThis(Date.prototype.getTime);
const toISOString = uncurryThis(Date.prototype.toISOString);
const byteLength = uncurryGetter<number>(ArrayBuffer.prototype, 'byteLength');
const sharedByteLength = uncurryGetter<number>(SharedArrayBuffer.prototype, 'byteLength');
const viewLength = uncurryGetter<number>(getPrototypeOf(Uint8Array.prototype), 'length');
const source = uncurryGetter<string>(RegExp.prototype, 'source');
const FLAGS: readonly (readonly [string, (self: unknown) => boolean])[] = (
  [
    ['d', 'hasIndices'],
    ['g', 'global'],
    ['i', 'ignoreCase'],
    ['m', 'multiline'],
    ['s', 'dotAll'],
    ['u', 'unicode'],
    ['v', 'unicodeSets'],
    ['y', 'sticky'],
  ] as const
).map(([letter, name]) => [letter, uncurryGetter<boolean>(RegExp.prototype, name)] as const);

/** What is written of an object of a class: its own fields, or one short text. */
export enum Kind {
  /** Its own fields. */
  Fields,
  Array,
  /** A text made of internal slots: regular expressions, dates, sizes. */
  Text,
}

/** What all objects with one prototype have in common. */
export interface ClassInfo {
  readonly name: string;
  readonly kind: Kind;
  /** `"[Socket]"`. */
  readonly label: Literal;
  /** Whether it may be one of Node's timers, by its name. */
  readonly timer: boolean;
}

/** Written for a Proxy, which cannot be inspected without running its traps. */
export const PROXY = createLiteral('"[Proxy]"');

const PLAIN = createClass('Object', Kind.Fields);
const ARRAY = createClass('Array', Kind.Array);
const MODULE = createClass('Module', Kind.Text);
const FUNCTION = createLiteral('"[Function]"');
const objectPrototype = Object.prototype;
const arrayPrototype = Array.prototype;
const isArray = Array.isArray;

/** By prototype. Weak, so that the class can be collected. */
const classes = new OwnWeakMap<object, ClassInfo>();
/** Labels of functions. */
const functions = new OwnWeakMap<object, Literal>();
let functionsSeen = 0;
let functionNames = new OwnMap<string, Literal>();

/** Runs no code of the program; `object` must not be a Proxy. */
export function classOf(object: object): ClassInfo {
  const prototype = getPrototypeOf(object);
  if (prototype === objectPrototype) {
    return PLAIN;
  }
  if (prototype === arrayPrototype) {
    return isArray(object) ? ARRAY : PLAIN;
  }
  if (prototype === null) {
    return isModuleNamespaceObject(object) ? MODULE : PLAIN;
  }
  let info = classes.get(prototype);
  if (info === undefined) {
    info = createClass(className(prototype), kindOf(object));
    classes.set(prototype, info);
  }
  // An object made with the prototype of such a class need not be an array.
  if (info.kind === Kind.Array && !isArray(object)) {
    return PLAIN;
  }
  return info;
}

function createClass(name: string, kind: Kind): ClassInfo {
  const timer = name === 'Timeout' || name === 'Immediate';
  return { name, kind, label: createLiteral(quoteAscii(`[${name}]`)), timer };
}

function kindOf(object: object): Kind {
  if (isArray(object)) {
    return Kind.Array;
  }
  const special =
    isRegExp(object) ||
    isDate(object) ||
    isMap(object) ||
    isSet(object) ||
    isNativeError(object) ||
    isAnyArrayBuffer(object) ||
    isArrayBufferView(object) ||
    isBoxedPrimitive(object);
  return special ? Kind.Text : Kind.Fields;
}

function className(prototype: object): string {
  let at: object | null = prototype;
  for (let i = 0; at !== null && i < PROTOTYPES_MAX && !isProxy(at); i++) {
    const classFunction = ownValue(at, 'constructor');
    if (typeof classFunction === 'function' && !isProxy(classFunction)) {
      const name = ownValue(classFunction, 'name');
      if (typeof name === 'string' && name !== '') {
        return slice(name, 0, NAME_MAX);
      }
    }
    at = getPrototypeOf(at);
  }
  return 'Object';
}

/** `"[Function: name]"`. */
export function functionLabel(callee: object): Literal {
  let label = functions.get(callee);
  if (label !== undefined) {
    return label;
  }
  if (isProxy(callee)) {
    return PROXY;
  }
  const name = ownValue(callee, 'name');
  label = typeof name === 'string' && name !== '' ? namedFunction(name) : FUNCTION;
  // One in eight is kept: a function that lives long is met often and is soon kept, a closure made for one call rarely is.
  // An entry costs its function a hash code, and the garbage collector a visit.
  if ((functionsSeen++ & 7) === 0) {
    functions.set(callee, label);
  }
  return label;
}

function namedFunction(name: string): Literal {
  const shown = name.length > NAME_MAX ? slice(name, 0, NAME_MAX) : name;
  let label = functionNames.get(shown);
  if (label === undefined) {
    label = createLiteral(quoteAscii(`[Function: ${shown}]`));
    if (functionNames.size >= FUNCTION_NAMES_KEPT) {
      functionNames = new OwnMap();
    }
    functionNames.set(shown, label);
  }
  return label;
}

/**
 * The text of an object whose class has Kind.Text, read from its internal slots. Not JSON yet.
 * Throws for an object that Object.create made with such a prototype: it has no slots.
 */
export function slotText(object: object, name: string): string {
  if (isRegExp(object)) {
    let flags = '';
    for (let i = 0; i < FLAGS.length; i++) {
      if (FLAGS[i][1](object)) {
        flags += FLAGS[i][0];
      }
    }
    return `/${source(object)}/${flags}`;
  }
  if (isDate(object)) {
    return isNaNumber(getTime(object)) ? 'Invalid Date' : toISOString(object);
  }
  if (isMap(object)) {
    return `[${name}(${mapSize(object)})]`;
  }
  if (isSet(object)) {
    return `[${name}(${setSize(object)})]`;
  }
  if (isNativeError(object)) {
    const message = ownValue(object, 'message');
    return typeof message === 'string' && message !== '' ? `[${name}: ${message}]` : `[${name}]`;
  }
  if (isAnyArrayBuffer(object)) {
    return `[${name}(${types.isSharedArrayBuffer(object) ? sharedByteLength(object) : byteLength(object)})]`;
  }
  if (isArrayBufferView(object) && types.isTypedArray(object)) {
    return `[${name}(${viewLength(object)})]`;
  }
  return `[${name}]`;
}
