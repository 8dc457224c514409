/** Inspects values that a caller gave, without running code of theirs, and makes the errors of refused ones. */
import { types } from 'node:util';
import { TracerError } from '../../errors';

/** Whether it is an object and nothing else: no array, no instance of a class. */
export function isPlain(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return false;
  }
  // A plain object of another vm context has another Object.prototype, which has no prototype itself.
  const prototype = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/** A value for a message: short, and without running code of it. */
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
 * Why a value is refused, for the end of the message; empty where what was expected is reason enough. `whole`: the value is
 * of the expected kind, so the message does not repeat what was expected.
 */
export class Refusal {
  constructor(
    readonly reason = '',
    readonly whole = false,
  ) {}
}

/**
 * Runs a check, and throws a TracerError where it refuses.
 *
 * @param given the value as the user gave it
 * @throws TracerError ERR_ASYNC_TRACER_OPTION
 */
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

/** The first line of an error's message, as a reason. */
export function firstLine(error: unknown): string {
  return String(error instanceof Error ? error.message : error).split('\n', 1)[0];
}
