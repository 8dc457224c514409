/**
 * The `error` of an `end` record: a summary of what was thrown, which may be any value. No code of that value is run, no
 * getter, no toString, no trap of a Proxy: it might throw, never return, or do what the program does not do untraced. The
 * exception is a stack that V8 has not formatted yet: V8 then calls the program's own Error.prepareStackTrace if there is
 * one, as it does when Node prints the error.
 */
import { types } from 'node:util';
import type { ErrorSummary } from '../../log/event';
import { uncurryGetter, uncurryThis } from '../runtime/intrinsics';
import { framesOf } from '../stack/stack-text';

/** Characters kept of a text, of the whole stack, and of one frame, since a hostile frame takes 20 ms to read. */
const TEXT_MAX = 4096;
const STACK_MAX = 8192;
const FRAME_MAX = 1024;
/** Prototypes that are searched for a name: no class of errors has so many. */
const PROTOTYPES_MAX = 32;
/** A larger number may take minutes to convert to digits. */
const BIGINT_MAX = 10n ** 300n;
const FRAME = '\n    at ';
/** Thrown where a read would run code of the program. No Error: its stack would contain the tracer that has loaded this. */
const UNSAFE = Symbol('unsafe to read');

const { min } = Math;
const { isProxy } = types;
const { getOwnPropertyDescriptor, getPrototypeOf, hasOwn } = Object;
const slice = uncurryThis(String.prototype.slice as (this: string, from: number, to?: number) => string);
const indexOf = uncurryThis(String.prototype.indexOf);
const description = uncurryGetter<string | undefined>(Symbol.prototype, 'description');

type Getter = (self: object) => unknown;

function getterOf(object: object, key: string): Getter | undefined {
  const get = getOwnPropertyDescriptor(object, key)?.get;
  return get === undefined ? undefined : (uncurryThis(get) as Getter);
}

/** DOMException has getters; an abort or a timeout of Node throws one. */
const domGetters = {
  name: getterOf(DOMException.prototype, 'name'),
  message: getterOf(DOMException.prototype, 'message'),
};
/** V8's getter, an own property of each error since V8 12; before, the stack appears as a value. */
const getStack = getterOf(new Error(), 'stack');

/** Never throws and never waits, whatever was thrown. */
export function summaryOf(thrown: unknown): ErrorSummary {
  try {
    return typeof thrown === 'object' && thrown !== null ? summaryOfObject(thrown) : summaryOfOther(thrown);
  } catch {
    // A namespace whose module has not run yet, or no stack left.
    return { name: typeof thrown, message: '', stack: [] };
  }
}

function summaryOfOther(thrown: unknown): ErrorSummary {
  return { name: typeof thrown, message: cut(textOf(thrown)), stack: [] };
}

function textOf(value: unknown): string {
  switch (typeof value) {
    case 'string':
      return value;
    case 'symbol':
      return `Symbol(${description(value) ?? ''})`;
    case 'function': {
      const name = textField(value, 'name');
      return name !== undefined && name !== '' ? `[Function: ${name}]` : '[Function]';
    }
    case 'bigint':
      return -BIGINT_MAX < value && value < BIGINT_MAX ? `${value}` : '[more than 300 digits]';
    default:
      return `${value}`;
  }
}

function summaryOfObject(thrown: object): ErrorSummary {
  if (isProxy(thrown)) {
    return { name: 'Proxy', message: '', stack: [] };
  }
  const message = textField(thrown, 'message') ?? '';
  const code = textField(thrown, 'code');
  return {
    name: cut(textField(thrown, 'name') ?? className(thrown)),
    message: cut(message),
    ...(code === undefined ? undefined : { code: cut(code) }),
    stack: isStackSafe(thrown) ? frames(textField(thrown, 'stack') ?? '', message) : [],
  };
}

function cut(text: string): string {
  return slice(text, 0, TEXT_MAX);
}

function textField(thrown: object, key: string): string | undefined {
  try {
    const value = read(thrown, key);
    return typeof value === 'string' ? value : undefined;
  } catch {
    // It cannot be read without running code of the program, or the program's prepareStackTrace throws.
    return undefined;
  }
}

/** Formatting a stack converts the name and the message to text, whatever they are. */
function isStackSafe(thrown: object): boolean {
  try {
    return isPrimitive(read(thrown, 'name')) && isPrimitive(read(thrown, 'message'));
  } catch {
    return false;
  }
}

function isPrimitive(value: unknown): boolean {
  return value === null || (typeof value !== 'object' && typeof value !== 'function');
}

function className(thrown: object): string {
  try {
    const classFunction = read(thrown, 'constructor');
    const name = typeof classFunction === 'function' ? textField(classFunction, 'name') : undefined;
    return name === undefined || name === '' ? 'Object' : name;
  } catch {
    return 'Object';
  }
}

/** The value of an own or inherited property. Only getters of Node and V8 are called. */
function read(object: object, key: string): unknown {
  let at: object | null = object;
  for (let i = 0; at !== null && i < PROTOTYPES_MAX; i++) {
    if (isProxy(at)) {
      throw UNSAFE;
    }
    const found = getOwnPropertyDescriptor(at, key);
    if (found !== undefined) {
      if (hasOwn(found, 'value')) {
        return found.value;
      }
      const get = knownGetter(at, key);
      if (get === undefined) {
        throw UNSAFE;
      }
      return get(object);
    }
    at = getPrototypeOf(at);
  }
  return undefined;
}

function knownGetter(holder: object, key: string): Getter | undefined {
  if (key === 'stack') {
    return getStack;
  }
  return holder === DOMException.prototype && (key === 'name' || key === 'message')
    ? domGetters[key]
    : undefined;
}

/** The frames of a stack, after the name and the message with which it begins. */
function frames(stack: string, message: string): string[] {
  const begin = indexOf(slice(stack, 0, TEXT_MAX), ': ') + 2;
  const isHead = slice(stack, begin, begin + message.length) === message;
  let at = indexOf(stack, FRAME, isHead ? begin + message.length : 0);
  let text = '';
  while (at !== -1 && text.length < STACK_MAX) {
    const next = indexOf(stack, FRAME, at + FRAME.length);
    const end = next === -1 ? stack.length : next;
    text += slice(stack, at, min(end, at + FRAME_MAX));
    at = next;
  }
  return framesOf(text);
}
