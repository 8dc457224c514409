/** Makes log lines for the tests of the read side, in the form of the write side, field for field. */
import fc from 'fast-check';
import { areaOf } from '../../lib/log/area';

export interface LineFields {
  opid: number;
  op?: string;
  phase: string;
  area?: string;
  parentopid?: number;
  parentop?: string;
  execopid?: number;
  /** Microseconds, so that every value has three decimals of milliseconds. */
  us: number;
  stack?: string[];
  ctx?: unknown;
}

const ms = (us: number) => `${Math.floor(us / 1000)}.${String(us % 1000).padStart(3, '0')}`;
const field = (name: string, value: unknown) =>
  value === undefined ? '' : `,"${name}":${JSON.stringify(value)}`;

/** One line without its newline. `prefix` and `suffix` are plain objects. */
export function lineOf(fields: LineFields, prefix: object = {}, suffix: object = {}): string {
  const own =
    `"opid":${fields.opid}${field('op', fields.op)}${field('phase', fields.phase)}${field('area', fields.area)}` +
    `${field('parentopid', fields.parentopid)}${field('parentop', fields.parentop)}${field('execopid', fields.execopid)}` +
    `,"time":${ms(fields.us)}${field('stack', fields.stack)}${field('ctx', fields.ctx)}`;
  const before = JSON.stringify(prefix).slice(1, -1);
  const after = JSON.stringify(suffix).slice(1, -1);
  return `{${before}${before && ','}${own}${after && ','}${after}}`;
}

const T0 = 1_764_486_000_000_000;

/** Short forms for hand-made logs: times are in milliseconds after the start of the log. */
export const init = (opid: number, op: string, atMs: number, more: Partial<LineFields> = {}) =>
  lineOf({
    opid,
    op,
    phase: 'init',
    area: areaOf(op),
    parentopid: 1,
    us: T0 + Math.round(atMs * 1000),
    ...more,
  });
export const event = (
  phase: string,
  opid: number,
  op: string | undefined,
  atMs: number,
  more: Partial<LineFields> = {},
) =>
  lineOf({
    opid,
    op,
    phase,
    area: op === undefined ? undefined : areaOf(op),
    us: T0 + Math.round(atMs * 1000),
    ...more,
  });
export const run = (opid: number, op: string | undefined, fromMs: number, toMs: number) =>
  `${event('before', opid, op, fromMs)}\n${event('after', opid, op, toMs)}`;
export const start = (atMs: number, more: Record<string, unknown> = {}) =>
  JSON.stringify({
    phase: 'start',
    format: 1,
    pid: 4242,
    thread: 0,
    node: 'v24.0.0',
    versions: {},
    anchor: { epoch: T0 / 1000, monotonic: 1 },
    options: {},
    time: (T0 + atMs * 1000) / 1000,
    ...more,
  });
export const end = (atMs: number, more: Record<string, unknown> = {}) =>
  JSON.stringify({
    phase: 'end',
    counts: { init: 0, before: 0, after: 0, destroy: 0, resolve: 0 },
    lost: 0,
    live: 0,
    reason: 'exit',
    exitcode: 0,
    time: (T0 + atMs * 1000) / 1000,
    ...more,
  });

/** A source that gives the text in one chunk. */
export const textOf = (lines: string[]) => asSource([`${lines.join('\n')}\n`]);

export async function* asSource(chunks: Iterable<string | Uint8Array>): AsyncGenerator<string | Uint8Array> {
  for (const chunk of chunks) yield chunk;
}

const op = fc.constantFrom(
  'PROMISE',
  'Timeout',
  'TCPSERVER',
  'FSREQCALLBACK',
  'custom "quoted"',
  'ünïcode',
  'a\\b',
  'new\nline',
  '',
);
const id = fc.oneof(fc.nat(40), fc.nat(), fc.maxSafeNat());
const us = fc.oneof(fc.integer({ min: T0, max: T0 + 1e9 }), fc.nat(5_000_000), fc.maxSafeNat());
const optional = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });
const frame = fc.constantFrom(
  'listen:/app/server.js:12:5',
  'a%3Ab:file:///app/x y.mjs:1:1',
  'Object.<anonymous>:C:\\app\\index.js:3:14',
  ':node:net:1:2',
  'say "hi":/app/ü.js:9:9',
);

/** The fields of any operation record. */
export const lineFields: fc.Arbitrary<LineFields> = fc.oneof(
  fc.record({
    opid: id,
    op,
    phase: fc.constant('init'),
    area: fc.constantFrom('promises', 'timers', 'custom'),
    parentopid: id,
    parentop: optional(op),
    execopid: optional(id),
    us,
    stack: optional(fc.array(frame, { maxLength: 4 })),
  }),
  fc.record({
    opid: id,
    op,
    phase: fc.constantFrom('before', 'after', 'destroy', 'resolve'),
    area: fc.constantFrom('promises', 'timers'),
    us,
    ctx: optional(fc.jsonValue({ maxDepth: 3 })),
  }),
  fc.record({
    opid: id,
    phase: fc.constantFrom('before', 'after', 'destroy'),
    us,
    ctx: optional(fc.jsonValue()),
  }),
);

/** Objects that may stand as prefix or suffix: any fields but ours. */
export const customFields: fc.Arbitrary<object> = fc.constantFrom(
  {},
  {},
  { service: 'api' },
  { 'a "b"': { opid: 1, deep: [',"opid":7'] }, n: null },
  { 7: 'integer key', time_: '"time":5.000}' },
);
