/** Values that a caller gave, looked at without running anything of them, and how a caller hears that one is refused. */
import { types } from 'node:util';
import { TracerError } from '../../errors';

/** Whether it is an object and nothing else: no array, no instance of a class. */
export function isPlain(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return false;
  }
  // A plain object of another realm (vm) has another Object.prototype: one without a prototype of its own.
  const prototype = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/** What came, for a message: short, and without running anything of it. */
export function show(value: unknown): string {
  switch (typeof value) {
    case 'string':
      return JSON.stringify(value.length > 60 ? `${value.slice(0, 57)}...` : value);
    case 'function':
      return 'a function';
    case 'object':
      return value === null
        ? 'null'
        : Array.isArray(value)
          ? 'an array'
          : types.isProxy(value) || isPlain(value)
            ? 'an object'
            : 'an object of a class';
    case 'bigint':
      return `${value}n`;
    case 'symbol':
      return 'a symbol';
    default:
      return String(value);
  }
}

/**
 * Why a value is refused, for the end of the message; empty where what was expected says it all. `whole`: the value is
 * of the kind that was expected, so that to say what that is would be no help.
 */
export class Refusal {
  constructor(
    readonly reason = '',
    readonly whole = false,
  ) {}
}

/** @param given what came, as the person wrote it */
export function checked<T>(name: string, expects: string, given: unknown, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof Refusal)) {
      throw error;
    }
    const why = error.reason === '' ? '' : ` (${error.reason})`;
    throw new TracerError(
      'ERR_ASYNC_TRACER_OPTION',
      error.whole
        ? `${name} cannot be taken: ${error.reason}.`
        : `${name} must be ${expects}; got ${show(given)}${why}.`,
    );
  }
}

/** What an error of the language says, as a reason. */
export function firstLine(error: unknown): string {
  return String(error instanceof Error ? error.message : error).split('\n', 1)[0];
}
