/** The inside of the `start` and `end` records. */
import { threadId } from 'node:worker_threads';
import { type ErrorSummary, FORMAT_VERSION } from '../log/event';
import { anchor } from './clock';
import type { Ending } from './exit';
import type { ResolvedOptions } from './options';
import { framesOf } from './stack';
import type { TracerStats } from './tracer';

const { version }: { version: string } = require('../../../package.json');
const { stringify } = JSON;
const { isArray } = Array;
const { keys } = Object;
const ERROR_TEXT_MAX = 4096;

export function startFields(options: ResolvedOptions): string {
  const { prefix: _prefix, suffix: _suffix, stacks, contexts, include, exclude, ...rest } = options;
  return inside({
    phase: 'start',
    format: FORMAT_VERSION,
    pid: process.pid,
    thread: threadId,
    node: process.version,
    versions: { 'async-tracer': version, v8: process.versions.v8, uv: process.versions.uv },
    anchor: { epoch: anchor.epochUs / 1000, monotonic: anchor.monotonicNs / 1e6 },
    options: {
      ...rest,
      stacks: stacks === Number.POSITIVE_INFINITY ? true : stacks,
      contexts: contexts === false ? false : { ...contexts, redact: contexts.redact.map(String) },
      include: include?.map(String) ?? null,
      exclude: exclude.map(String),
    },
  });
}

/** Never throws, whatever was thrown. */
export function endFields(ending: Ending | undefined, stats: TracerStats): string {
  const reason = ending === undefined ? 'close' : ending.error === undefined ? 'exit' : 'error';
  return inside({
    phase: 'end',
    counts: stats.events,
    lost: stats.lost,
    live: stats.live,
    reason,
    exitcode: ending?.exitcode,
    error: ending?.error && summary(ending.error.thrown),
  });
}

function inside(record: object): string {
  return json(record).slice(1, -1);
}

/** JSON of plain data, without asking anything for a toJSON: the program may have put one on Object.prototype. */
function json(value: unknown): string {
  if (typeof value !== 'object' || value === null) {
    return stringify(value) ?? 'null';
  }
  let text = '';
  if (isArray(value)) {
    for (let i = 0; i < value.length; i++) {
      text += `${i === 0 ? '' : ','}${json(value[i])}`;
    }
    return `[${text}]`;
  }
  for (const key of keys(value)) {
    const field = (value as Record<string, unknown>)[key];
    if (field !== undefined) {
      text += `${text === '' ? '' : ','}${stringify(key)}:${json(field)}`;
    }
  }
  return `{${text}}`;
}

/** Reads each property apart: anything can be thrown, a Proxy or an object whose getters throw among it. */
function summary(thrown: unknown): ErrorSummary {
  const read = (key: string): string | undefined => {
    try {
      const value = (thrown as Record<string, unknown>)[key];
      return typeof value === 'string' ? value.slice(0, ERROR_TEXT_MAX) : undefined;
    } catch {
      return undefined;
    }
  };
  if (typeof thrown !== 'object' || thrown === null) {
    return { name: typeof thrown, message: shown(thrown), stack: [] };
  }
  return {
    name: read('name') ?? 'Error',
    message: read('message') ?? '',
    code: read('code'),
    stack: framesOf(read('stack') ?? ''),
  };
}

function shown(value: unknown): string {
  return String(value).slice(0, ERROR_TEXT_MAX);
}
