/** The checks of options. A check returns the resolved value, or throws a `Refusal` with the reason. */
import { types } from 'node:util';
import { RECORD_FIELDS } from '../../log/event';
import type { ContextOptions } from './tracer-options';
import { firstLine, isPlain, Refusal, show } from './value';

const { isRegExp } = types;
const { exec, test } = RegExp.prototype;

/** Returns the resolved value; throws `Refusal` for what may not be given. */
export type Check = (value: unknown) => unknown;

export function choice(...allowed: readonly unknown[]): Check {
  return (value) => {
    if (!allowed.includes(value)) {
      throw new Refusal();
    }
    return value;
  };
}

export const flag = choice(true, false);

export function integer(from: number, to: number): Check {
  return (value) => {
    if (!Number.isInteger(value) || (value as number) < from || (value as number) > to) {
      throw new Refusal();
    }
    return value;
  };
}

export function fields(value: unknown): string {
  if (!isPlain(value)) {
    throw new Refusal();
  }
  const refuseKey = (key: string): Refusal => new Refusal(`the field '${key}' is one of the log's own`, true);
  for (const key of Object.keys(value)) {
    if (RECORD_FIELDS.includes(key)) {
      throw refuseKey(key);
    }
  }
  let text: string | undefined;
  try {
    text = JSON.stringify(value);
  } catch (error) {
    throw new Refusal(`it cannot be written as JSON: ${firstLine(error)}`, true);
  }
  if (text === undefined || text[0] !== '{') {
    throw new Refusal('its toJSON gives something else', true);
  }
  const inside = text.slice(1, -1);
  for (const key of Object.keys(JSON.parse(text))) {
    if (RECORD_FIELDS.includes(key)) {
      throw refuseKey(key);
    }
  }
  return inside;
}

export function frames(value: unknown): number {
  if (typeof value === 'boolean') {
    return value ? Number.POSITIVE_INFINITY : 0;
  }
  if (value !== Number.POSITIVE_INFINITY) {
    integer(1, Number.MAX_SAFE_INTEGER)(value);
  }
  return value as number;
}

/** Checks a field of an option. The reason of the refusal has its name and its value. */
function checkField(name: string, check: Check, value: unknown): void {
  try {
    check(value);
  } catch {
    throw new Refusal(`${name} is ${show(value)}`);
  }
}

export function contexts(value: unknown): false | Required<ContextOptions> {
  if (value === false) {
    return false;
  }
  const given = value === true ? {} : value;
  if (!isPlain(given)) {
    throw new Refusal();
  }
  const { depth = 2, breadth = 10, redact = [], ...rest } = given as ContextOptions;
  const [unknown] = Object.keys(rest);
  if (unknown !== undefined) {
    throw new Refusal(`it has no field '${unknown}'`);
  }
  checkField('depth', integer(1, 100), depth);
  checkField('breadth', integer(1, 10_000), breadth);
  if (!Array.isArray(redact)) {
    throw new Refusal('redact must be an array');
  }
  for (const name of redact) {
    checkField('redact', pattern, name);
  }
  return { depth, breadth, redact: [...redact] };
}

function pattern(value: unknown, reason?: string): RegExp {
  if (typeof value === 'string' && value !== '') {
    return withOriginalMethods(globPattern(value));
  }
  if (isRegExp(value)) {
    // A copy without the flags g and y: with them a RegExp keeps the position of its last match.
    return withOriginalMethods(new RegExp(value.source, value.flags.replace(/[gy]/g, '')));
  }
  throw new Refusal(reason);
}

/** A list, or a single matcher. */
export function matchers(value: unknown): readonly RegExp[] {
  return Array.isArray(value)
    ? value.map((one) => pattern(one, `${show(one)} is neither`))
    : [pattern(value)];
}

/** The same, but not an empty list: nobody wants a trace that records nothing. */
export function someMatchers(value: unknown): readonly RegExp[] {
  const list = matchers(value);
  if (list.length === 0) {
    throw new Refusal('it is empty: nothing would be recorded');
  }
  return list;
}

/** Patterns are tested in hooks: test() must not run an exec() that the program has put on RegExp.prototype. */
function withOriginalMethods(pattern: RegExp): RegExp {
  return Object.defineProperties(pattern, { exec: { value: exec }, test: { value: test } });
}

function globPattern(glob: string): RegExp {
  const pattern = glob
    .replace(/[.+^${}()|[\]\\]/g, '\\$&')
    .replace(/\*/g, '.*')
    .replace(/\?/g, '.');
  return new RegExp(`^${pattern}$`, 's');
}
