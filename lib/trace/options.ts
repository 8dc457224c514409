/**
 * The options: one table from which come the checks, the defaults, the ASYNC_TRACER_* variables, the flags of
 * `async-tracer run` and the table of the README.
 */
import { types } from 'node:util';
import { TracerError } from '../errors';
import { RECORD_FIELDS } from '../log/event';
import type * as Nearest from './nearest';

/** A string names an op or an area exactly, or is a glob with * and ?; a RegExp is tested against both. */
export type Matcher = string | RegExp;

/** How much of a resource a context shows. */
export interface ContextOptions {
  /** How many objects deep, from 1. Default 2. */
  depth?: number;
  /** How many properties or elements of each, from 1. Default 10. */
  breadth?: number;
  /** Names whose values are left out, beside those that are always (password, token, key, cookie ...). */
  redact?: readonly Matcher[];
}

/** What a caller may give. An option given as undefined counts as not given. */
export interface TracerOptions {
  /** Begin tracing at once. Default true. */
  autostart?: boolean;
  /** Path only: add to the file instead of beginning it anew. Default false. */
  append?: boolean;
  /** A plain object whose fields stand first in every record. Captured at the call; none of the log's own. */
  prefix?: object;
  /** The same, last in every record. */
  suffix?: object;
  /** Each init carries the call stack: all frames, or this many of the innermost. Default false. */
  stacks?: boolean | number;
  /** Each before and after carries the operation's resource, bounded and redacted. Default false. */
  contexts?: boolean | ContextOptions;
  /** Trace promises. Default true. */
  promises?: boolean;
  /** Trace the destroy of promises, which comes at their garbage collection and is the dearest of all. Default true. */
  promiseDestroy?: boolean;
  /** A record with phase `resolve` when a promise settles. Default false. */
  resolve?: boolean;
  /** Record these ops and areas alone. Default: all. */
  include?: Matcher | readonly Matcher[];
  /** Leave these ops and areas out; wins over include. Default: none. */
  exclude?: Matcher | readonly Matcher[];
  /** 'coarse': times in steps of 1 ms, free to read. Default 'precise'. */
  clock?: 'precise' | 'coarse';
  /** false: hooks run and count, nothing is encoded or written. Default true. */
  send?: boolean;
  /** A `start` record first and an `end` record last. Default false. */
  header?: boolean;
  /** Bytes of the chunk handed to the destination. Default 262,144. */
  bufferSize?: number;
  /** Milliseconds that a record waits at most while the event loop turns. Default 1,000. */
  flushInterval?: number;
  /** Stream or pipe: bytes held for a reader that does not keep up. Default 67,108,864. */
  maxBuffer?: number;
  /** Stream or pipe, beyond maxBuffer: drop records and count them, or wait. Default 'drop'. */
  overflow?: 'drop' | 'block';
  /** Path only: make missing folders. Default false. */
  mkdir?: boolean;
  /** Path only: the permissions of a new file. Default 0o666, less the umask. */
  mode?: number;
}

/** What the code relies on. */
export interface ResolvedOptions {
  autostart: boolean;
  append: boolean;
  /** The inside of the object as JSON, without braces. */
  prefix: string;
  suffix: string;
  /** Frames at most; 0 for none. */
  stacks: number;
  contexts: false | Required<ContextOptions>;
  promises: boolean;
  promiseDestroy: boolean;
  resolve: boolean;
  /** undefined: all. */
  include: readonly RegExp[] | undefined;
  exclude: readonly RegExp[];
  clock: 'precise' | 'coarse';
  send: boolean;
  header: boolean;
  bufferSize: number;
  flushInterval: number;
  maxBuffer: number;
  overflow: 'drop' | 'block';
  mkdir: boolean;
  mode: number;
}

type Check = (value: unknown) => unknown;

/** One row of the table. */
export interface OptionSpec {
  name: keyof TracerOptions;
  /** What may be given, in words: of errors and of the README. */
  expects: string;
  /** What may be written in a variable or a flag, in words: of their errors and of `--help`. */
  text: string;
  /** As it stands in the README. */
  default: string;
  summary: string;
  /** Returns the resolved value; throws `Refusal` for what may not be given. */
  resolve: Check;
  /** Reads the value from a variable or a flag. */
  parse: (text: string) => unknown;
}

/**
 * Why a value is refused, for the end of the message; empty where what was expected says it all. `whole`: the value is
 * of the kind that was expected, so that to say what that is would be no help.
 */
class Refusal {
  constructor(
    readonly reason = '',
    readonly whole = false,
  ) {}
}

const { isRegExp } = types;
const { exec, test } = RegExp.prototype;
const NO_FIELDS = '';
const CHUNK_MAX = 2 ** 30;
const TIMER_MAX_MS = 2 ** 31 - 1;

function choice(...allowed: readonly unknown[]): Check {
  return (value) => {
    if (!allowed.includes(value)) {
      throw new Refusal();
    }
    return value;
  };
}

const flag = choice(true, false);

function integer(from: number, to: number): Check {
  return (value) => {
    if (!Number.isInteger(value) || (value as number) < from || (value as number) > to) {
      throw new Refusal();
    }
    return value;
  };
}

/** Whether it is an object and nothing else: no array, no instance of a class. */
export function isPlain(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return false;
  }
  // A plain object of another realm (vm) has another Object.prototype: one without a prototype of its own.
  const prototype = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

function fields(value: unknown): string {
  if (!isPlain(value)) {
    throw new Refusal();
  }
  const own = (key: string): Refusal => new Refusal(`the field '${key}' is one of the log's own`, true);
  for (const key of Object.keys(value)) {
    if (RECORD_FIELDS.includes(key)) {
      throw own(key);
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
      throw own(key);
    }
  }
  return inside;
}

function firstLine(error: unknown): string {
  return String(error instanceof Error ? error.message : error).split('\n', 1)[0];
}

function frames(value: unknown): number {
  if (typeof value === 'boolean') {
    return value ? Number.POSITIVE_INFINITY : 0;
  }
  if (value !== Number.POSITIVE_INFINITY) {
    integer(1, Number.MAX_SAFE_INTEGER)(value);
  }
  return value as number;
}

/** A field of an option: a refusal names it and what came. */
function part(name: string, check: Check, value: unknown): void {
  try {
    check(value);
  } catch {
    throw new Refusal(`${name} is ${show(value)}`);
  }
}

function contexts(value: unknown): false | Required<ContextOptions> {
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
  part('depth', integer(1, 100), depth);
  part('breadth', integer(1, 10_000), breadth);
  if (!Array.isArray(redact)) {
    throw new Refusal('redact must be an array');
  }
  for (const name of redact) {
    part('redact', matchers, name);
  }
  return { depth, breadth, redact: [...redact] };
}

function matchers(value: unknown): readonly RegExp[] {
  const list = Array.isArray(value) ? value : [value];
  return list.map((matcher) => {
    if (typeof matcher === 'string' && matcher !== '') {
      return untouched(globPattern(matcher));
    }
    if (isRegExp(matcher)) {
      // A copy: with the flags g and y a RegExp remembers where it stopped.
      return untouched(new RegExp(matcher.source, matcher.flags.replace(/[gy]/g, '')));
    }
    throw new Refusal(Array.isArray(value) ? `${show(matcher)} is neither` : '');
  });
}

/** Types are met in the midst of the program: test() shall not run an exec() that it has put on RegExp.prototype. */
function untouched(pattern: RegExp): RegExp {
  return Object.defineProperties(pattern, { exec: { value: exec }, test: { value: test } });
}

function globPattern(glob: string): RegExp {
  const pattern = glob
    .replace(/[.+^${}()|[\]\\]/g, '\\$&')
    .replace(/\*/g, '.*')
    .replace(/\?/g, '.');
  return new RegExp(`^${pattern}$`, 's');
}

function parseFlag(text: string): unknown {
  return /^(1|true|yes|on)$/i.test(text) ? true : /^(0|false|no|off)$/i.test(text) ? false : text;
}

function parseNumber(text: string): unknown {
  return /^\s*$/.test(text) ? text : Number.isNaN(Number(text)) ? text : Number(text);
}

/** 1 is a number here, not a yes; 0 is none of them. */
function parseFlagOrNumber(text: string): unknown {
  const number = parseNumber(text);
  return typeof number === 'number' && number !== 0 ? number : parseFlag(text);
}

/** As chmod(1) reads it. */
function parseOctal(text: string): unknown {
  const digits = /^(?:0o)?([0-7]+)$/i.exec(text);
  return digits === null ? text : Number.parseInt(digits[1], 8);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function parseFlagOrJson(text: string): unknown {
  const value = parseFlag(text);
  return typeof value === 'boolean' ? value : parseJson(text);
}

/** A list parted by commas; /.../ is a regular expression and may hold commas. */
function parseMatchers(text: string): unknown {
  const parts = text.match(/\/(?:\\.|[^/\\])+\/[a-z]*|[^,]+/g) ?? [];
  return parts.map((part) => {
    const pattern = /^\/(.+)\/([a-z]*)$/s.exec(part);
    if (pattern === null) {
      return part.trim();
    }
    try {
      return new RegExp(pattern[1], pattern[2]);
    } catch (error) {
      throw new Refusal(firstLine(error));
    }
  });
}

const TRUE_OR_FALSE = 'true or false';
const MATCHERS = 'an op, an area, a glob or a RegExp, or an array of these';
const MATCHERS_TEXT = 'ops, areas, globs or /regular expressions/, parted by commas';
const FIELDS_TEXT = 'a JSON object, as in {"app":"shop"}';

function option(
  name: keyof TracerOptions,
  fallback: string,
  expects: string,
  summary: string,
  resolve: Check,
  parse: (text: string) => unknown,
  text = expects,
): OptionSpec {
  return { name, default: fallback, expects, text, summary, resolve, parse };
}

function boolean(name: keyof TracerOptions, fallback: boolean, summary: string): OptionSpec {
  return option(name, String(fallback), TRUE_OR_FALSE, summary, flag, parseFlag);
}

/** The table, in the order of the README. */
export const OPTIONS: readonly OptionSpec[] = [
  boolean('autostart', true, 'begin tracing at once'),
  boolean('append', false, 'path only: add to the file instead of beginning it anew'),
  option(
    'prefix',
    'none',
    'a plain object',
    'fields that stand first in every record',
    fields,
    parseJson,
    FIELDS_TEXT,
  ),
  option(
    'suffix',
    'none',
    'a plain object',
    'fields that stand last in every record',
    fields,
    parseJson,
    FIELDS_TEXT,
  ),
  option(
    'stacks',
    'false',
    'true, false or a number from 1 to Infinity',
    'each init carries its call stack: all frames, or this many of the innermost',
    frames,
    parseFlagOrNumber,
    'true, false or a number of frames from 1',
  ),
  option(
    'contexts',
    'false',
    'true, false or { depth: 1 to 100, breadth: 1 to 10000, redact: [names] }',
    "each before and after carries the operation's resource, bounded (depth 2, breadth 10) and redacted",
    contexts,
    parseFlagOrJson,
    'true, false or JSON, as in {"depth":3,"breadth":20,"redact":["name"]}',
  ),
  boolean('promises', true, "trace promises; false: Node's promise hooks stay off where it can"),
  boolean(
    'promiseDestroy',
    true,
    'trace the destroy of promises, which comes when they are garbage collected',
  ),
  boolean('resolve', false, 'a record with phase resolve when a promise settles'),
  option(
    'include',
    'all',
    MATCHERS,
    'record these ops and areas alone',
    matchers,
    parseMatchers,
    MATCHERS_TEXT,
  ),
  option(
    'exclude',
    'none',
    MATCHERS,
    'leave these out; wins over include',
    matchers,
    parseMatchers,
    MATCHERS_TEXT,
  ),
  option(
    'clock',
    'precise',
    "'precise' or 'coarse'",
    'coarse: times in steps of 1 ms, free to read',
    choice('precise', 'coarse'),
    (text) => text,
    'precise or coarse',
  ),
  boolean('send', true, 'false: hooks run and count, nothing is encoded or written'),
  boolean('header', false, 'a start record first and an end record last'),
  option(
    'bufferSize',
    '262144',
    `a whole number from 1 to ${CHUNK_MAX}`,
    'bytes of the chunk handed to the destination',
    integer(1, CHUNK_MAX),
    parseNumber,
  ),
  option(
    'flushInterval',
    '1000',
    `a whole number from 1 to ${TIMER_MAX_MS}`,
    'milliseconds that a record waits at most while the event loop turns',
    integer(1, TIMER_MAX_MS),
    parseNumber,
  ),
  option(
    'maxBuffer',
    '67108864',
    'a whole number from 0',
    'stream or pipe: bytes held for a reader that does not keep up',
    integer(0, Number.MAX_SAFE_INTEGER),
    parseNumber,
  ),
  option(
    'overflow',
    'drop',
    "'drop' or 'block'",
    'stream or pipe, beyond maxBuffer: drop records and count them, or wait',
    choice('drop', 'block'),
    (text) => text,
    'drop or block',
  ),
  boolean('mkdir', false, 'path only: make missing folders'),
  option(
    'mode',
    '0o666',
    'a whole number from 0 to 0o7777',
    'path only: the permissions of a new file, less the umask',
    integer(0, 0o7777),
    parseOctal,
    'octal digits from 0 to 7777, as in 600',
  ),
];

const DEFAULTS: ResolvedOptions = {
  autostart: true,
  append: false,
  prefix: NO_FIELDS,
  suffix: NO_FIELDS,
  stacks: 0,
  contexts: false,
  promises: true,
  promiseDestroy: true,
  resolve: false,
  include: undefined,
  exclude: [],
  clock: 'precise',
  send: true,
  header: false,
  bufferSize: 256 * 1024,
  flushInterval: 1000,
  maxBuffer: 64 * 1024 * 1024,
  overflow: 'drop',
  mkdir: false,
  mode: 0o666,
};

const SPECS = new Map(OPTIONS.map((spec) => [spec.name as string, spec]));
const resolvedOnes = new WeakSet<object>();

/** Whether `resolveOptions` has made it. */
export function isResolved(options: unknown): options is ResolvedOptions {
  return typeof options === 'object' && options !== null && resolvedOnes.has(options);
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
 * Checks what the caller gave and fills in the rest. An option given as undefined counts as not given.
 *
 * @throws TracerError ERR_ASYNC_TRACER_UNKNOWN_OPTION, ERR_ASYNC_TRACER_OPTION
 */
export function resolveOptions(given: unknown): ResolvedOptions {
  const options = fillIn(given === undefined ? {} : given);
  resolvedOnes.add(options);
  return options;
}

function fillIn(given: unknown): ResolvedOptions {
  if (!isPlain(given)) {
    throw new TracerError(
      'ERR_ASYNC_TRACER_OPTION',
      `The options must be a plain object; got ${show(given)}.`,
    );
  }
  const resolved: Record<string, unknown> = { ...DEFAULTS };
  for (const [name, value] of Object.entries(given)) {
    const spec = SPECS.get(name);
    if (spec === undefined) {
      throw new TracerError(
        'ERR_ASYNC_TRACER_UNKNOWN_OPTION',
        `There is no option '${name}'.${suggestion(name)} The options are ${[...SPECS.keys()].join(', ')}.`,
      );
    }
    if (value !== undefined) {
      resolved[name] = resolveOne(spec, value);
    }
  }
  const options = resolved as unknown as ResolvedOptions;
  const twice = keysOf(options.prefix).find((key) => keysOf(options.suffix).includes(key));
  if (twice !== undefined) {
    throw new TracerError(
      'ERR_ASYNC_TRACER_OPTION',
      `The field '${twice}' stands in both prefix and suffix: a record can have it once.`,
    );
  }
  if (options.resolve && !options.promises) {
    throw new TracerError(
      'ERR_ASYNC_TRACER_OPTION',
      "The options 'resolve: true' and 'promises: false' exclude each other: a resolve record is a promise's.",
    );
  }
  return options;
}

function resolveOne(spec: OptionSpec, value: unknown): unknown {
  return checked(`The option '${spec.name}'`, spec.expects, value, () => spec.resolve(value));
}

/** @param given what came, as the person wrote it */
function checked<T>(name: string, expects: string, given: unknown, work: () => T): T {
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

function keysOf(inside: string): string[] {
  return Object.keys(JSON.parse(`{${inside}}`));
}

function suggestion(name: string): string {
  // Loaded by whoever mistypes.
  const near = (require('./nearest') as typeof Nearest).nearest(name, [...SPECS.keys()]);
  return near === undefined ? '' : ` Is '${near}' meant?`;
}

/** Whether an op is recorded under `include` and `exclude`. */
export function isSelected(options: ResolvedOptions, op: string, area: string): boolean {
  const matches = (patterns: readonly RegExp[]): boolean =>
    patterns.some((pattern) => pattern.test(op) || pattern.test(area));
  return (options.include === undefined || matches(options.include)) && !matches(options.exclude);
}

/** The variable of an option: ASYNC_TRACER_FLUSH_INTERVAL for flushInterval. */
export function variableOf(name: string): string {
  return `ASYNC_TRACER_${name.replace(/[A-Z]/g, '_$&').toUpperCase()}`;
}

/**
 * Options from ASYNC_TRACER_* variables, each of them checked; an empty one counts as not set.
 *
 * @param nameOf what an option is called in the message of an error
 * @throws TracerError ERR_ASYNC_TRACER_OPTION
 */
export function optionsFromEnvironment(
  environment: NodeJS.ProcessEnv,
  nameOf: (name: string) => string = variableOf,
): TracerOptions {
  const options: Record<string, unknown> = {};
  for (const spec of OPTIONS) {
    const text = environment[variableOf(spec.name)];
    if (text !== undefined && text !== '') {
      options[spec.name] = checked(nameOf(spec.name), spec.text, text, () => {
        const value = spec.parse(text);
        spec.resolve(value);
        return value;
      });
    }
  }
  return options;
}
