/** The table of options: what each may be, its default, what it does, and how a variable or a flag gives it. */
import { type Check, choice, contexts, fields, flag, frames, integer, matchers, someMatchers } from './check';
import type * as Text from './parse';
import type { ResolvedOptions, TracerOptions } from './tracer-options';

/** One row of the table. */
export interface OptionSpec {
  name: keyof TracerOptions;
  /** As a flag, a switch may have no value, which means true; a list may be given more than once. */
  kind: 'switch' | 'list' | 'value';
  /** The default, in the form in which a caller gives it; undefined where a caller cannot give it. */
  fallback: unknown;
  /** The default as the README shows it. */
  default: string;
  /** What a caller may give, in words, for errors and the README. */
  expects: string;
  /** What a variable or a flag may give, in words, for their errors and `--help`. */
  text: string;
  summary: string;
  resolve: Check;
  /** Reads the value from a variable or a flag. */
  parse: (text: string) => unknown;
}

type Row = Omit<OptionSpec, 'kind' | 'default' | 'text'> &
  Partial<Pick<OptionSpec, 'kind' | 'default' | 'text'>>;

/** Loaded for a variable or a flag; a call needs none of it. */
function read(kind: keyof typeof Text): (text: string) => unknown {
  return (text) => (require('./parse') as typeof Text)[kind](text);
}

const CHUNK_MAX = 2 ** 30;
const TIMER_MAX_MS = 2 ** 31 - 1;

function option(row: Row): OptionSpec {
  return { kind: 'value', default: String(row.fallback), text: row.expects, ...row };
}

function boolean(name: keyof TracerOptions, fallback: boolean, summary: string): OptionSpec {
  return option({
    name,
    kind: 'switch',
    fallback,
    expects: 'true or false',
    summary,
    resolve: flag,
    parse: read('parseFlag'),
  });
}

function fieldsOption(name: keyof TracerOptions, summary: string): OptionSpec {
  return option({
    name,
    fallback: {},
    default: 'none',
    expects: 'a plain object',
    text: 'a JSON object, as in {"app":"shop"}',
    summary,
    resolve: fields,
    parse: read('parseJson'),
  });
}

function matchersOption(row: Pick<Row, 'name' | 'fallback' | 'default' | 'summary' | 'resolve'>): OptionSpec {
  return option({
    ...row,
    kind: 'list',
    expects: 'an op, an area, a glob or a RegExp, or an array of these',
    text: 'ops, areas, globs or /regular expressions/, parted by commas',
    parse: read('parseMatchers'),
  });
}

function integerOption(
  name: keyof TracerOptions,
  fallback: number,
  from: number,
  to: number,
  summary: string,
): OptionSpec {
  const upTo = to === Number.MAX_SAFE_INTEGER ? '' : ` to ${to}`;
  return option({
    name,
    fallback,
    expects: `a whole number from ${from}${upTo}`,
    summary,
    resolve: integer(from, to),
    parse: read('parseNumber'),
  });
}

function choiceOption(
  name: keyof TracerOptions,
  [fallback, other]: [string, string],
  summary: string,
): OptionSpec {
  return option({
    name,
    fallback,
    expects: `'${fallback}' or '${other}'`,
    text: `${fallback} or ${other}`,
    summary,
    resolve: choice(fallback, other),
    parse: (text) => text,
  });
}

/** In the order of the README. */
export const OPTIONS: readonly OptionSpec[] = [
  boolean('autostart', true, 'begin tracing at once'),
  boolean('append', false, 'path only: add to the file instead of beginning it anew'),
  fieldsOption('prefix', 'fields that stand first in every record'),
  fieldsOption('suffix', 'fields that stand last in every record'),
  option({
    name: 'stacks',
    kind: 'switch',
    fallback: false,
    expects: 'true, false or a number from 1 to Infinity',
    text: 'true, false or a number of frames from 1',
    summary: 'each init carries its call stack: all frames, or this many of the innermost',
    resolve: frames,
    parse: read('parseFlagOrNumber'),
  }),
  option({
    name: 'contexts',
    kind: 'switch',
    fallback: false,
    expects: 'true, false or { depth: 1 to 100, breadth: 1 to 10000, redact: [names] }',
    text: 'true, false or JSON, as in {"depth":3,"breadth":20,"redact":["name"]}',
    summary:
      "each before and after carries the operation's resource, bounded (depth 2, breadth 10) and redacted",
    resolve: contexts,
    parse: read('parseFlagOrJson'),
  }),
  boolean('promises', true, "trace promises; false: Node's promise hooks stay off where it can"),
  boolean(
    'promiseDestroy',
    true,
    'trace the destroy of promises, which comes when they are garbage collected',
  ),
  boolean('resolve', false, 'a record with phase resolve when a promise settles'),
  matchersOption({
    name: 'include',
    fallback: undefined,
    default: 'all',
    summary: 'record these ops and areas alone',
    resolve: someMatchers,
  }),
  matchersOption({
    name: 'exclude',
    fallback: [],
    default: 'none',
    summary: 'leave these out; wins over include',
    resolve: matchers,
  }),
  choiceOption('clock', ['precise', 'coarse'], 'coarse: times in steps of 1 ms, by a thread'),
  boolean('send', true, 'false: hooks run and count, nothing is encoded or written'),
  boolean('header', false, 'a start record first and an end record last'),
  integerOption('bufferSize', 256 * 1024, 1, CHUNK_MAX, 'bytes of the chunk handed to the destination'),
  integerOption(
    'flushInterval',
    1000,
    1,
    TIMER_MAX_MS,
    'milliseconds that a record waits at most while the event loop turns',
  ),
  integerOption(
    'maxBuffer',
    64 * 1024 * 1024,
    0,
    Number.MAX_SAFE_INTEGER,
    'stream or pipe: bytes held for a reader that does not keep up',
  ),
  choiceOption(
    'overflow',
    ['drop', 'block'],
    'beyond maxBuffer: drop records and count them, or wait, which a stream cannot',
  ),
  boolean('mkdir', false, 'path only: make missing folders'),
  option({
    name: 'mode',
    fallback: 0o666,
    default: '0o666',
    expects: 'a whole number from 0 to 0o7777',
    text: 'octal digits from 0 to 7777, as in 600',
    summary: 'path only: the permissions of a new file, less the umask',
    resolve: integer(0, 0o7777),
    parse: read('parseOctal'),
  }),
];

/** The resolved options of a call without options. */
export const DEFAULTS = Object.fromEntries(
  OPTIONS.map(({ name, fallback, resolve }) => [
    name,
    fallback === undefined ? undefined : resolve(fallback),
  ]),
) as unknown as ResolvedOptions;
