/** The fields of the `start` and `end` records. */
import { threadId } from 'node:worker_threads';
import { FORMAT_VERSION, type PhaseCounts } from '../../log/event';
import { anchor } from '../clock/anchor';
import type { ResolvedOptions } from '../options/tracer-options';
import { prepareFrames } from '../stack/stack-text';
import { summaryOf } from './error-summary';
import type { Ending } from './exit';

const { version }: { version: string } = require('../../../../package.json');
const { stringify } = JSON;
const { isArray } = Array;
const { keys } = Object;

/** What an `end` record takes from the statistics of a tracer. */
interface RunCounts {
  events: PhaseCounts;
  lost: number;
  live: number;
}

/** Also loads what the `end` record needs. */
export function startFields(options: ResolvedOptions): string {
  prepareFrames();
  const { prefix: _prefix, suffix: _suffix, stacks, contexts, include, exclude, ...rest } = options;
  return fieldsOf({
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
export function endFields(ending: Ending | undefined, stats: RunCounts): string {
  const reason = ending === undefined ? 'close' : ending.error === undefined ? 'exit' : 'error';
  return fieldsOf({
    phase: 'end',
    counts: stats.events,
    lost: stats.lost,
    live: stats.live,
    reason,
    exitcode: ending?.exitcode,
    error: ending?.error && summaryOf(ending.error.thrown),
  });
}

function fieldsOf(record: object): string {
  return json(record).slice(1, -1);
}

/** JSON of plain data, without a look-up of toJSON: the program may have put one on Object.prototype. */
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
