/** The fields of the `start` and `end` records. */
import { threadId } from 'node:worker_threads';
import { FORMAT_VERSION, type PhaseCounts } from '../../log/event';
import { anchor } from '../clock/anchor';
import { waitingTimers } from '../destination/wait';
import type { ResolvedOptions } from '../options/tracer-options';
import { uncurryThis } from '../runtime/intrinsics';
import { prepareFrames } from '../stack/stack-text';
import { summaryOf } from './error-summary';
import type { Ending } from './exit';

const { version }: { version: string } = require('../../../../package.json');
const { stringify } = JSON;
const { isArray } = Array;
const { keys } = Object;
// Taken at load: the program may put another one in its place.
const { getActiveResourcesInfo } = process;
const sort = uncurryThis(Array.prototype.sort as (this: string[]) => string[]);

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

/**
 * Never throws, whatever was thrown.
 *
 * @param active what to say of active resources: asking Node takes time in proportion to the timers of the program
 */
export function endFields(
  ending: Ending | undefined,
  stats: RunCounts,
  active: ActiveResources | undefined = activeResources(),
): string {
  const reason = ending === undefined ? 'close' : ending.error === undefined ? 'exit' : 'error';
  return fieldsOf({
    phase: 'end',
    counts: stats.events,
    lost: stats.lost,
    live: stats.live,
    reason,
    exitcode: ending?.exitcode,
    active,
    error: ending?.error && summaryOf(ending.error.thrown),
  });
}

/** Counts by Node's own type of resource. */
export type ActiveResources = Record<string, number>;

/**
 * What keeps the process alive, by type in the order of their names, without the tracer's own timers; undefined where Node
 * cannot say.
 */
export function activeResources(): ActiveResources | undefined {
  try {
    const types = sort(getActiveResourcesInfo.call(process));
    const counts: ActiveResources = { __proto__: null } as never;
    for (let i = 0; i < types.length; i++) {
      counts[types[i]] = (counts[types[i]] ?? 0) + 1;
    }
    const timers = (counts['Timeout'] ?? 0) - waitingTimers();
    if (timers > 0) {
      counts['Timeout'] = timers;
    } else {
      delete counts['Timeout'];
    }
    return counts;
  } catch {
    return undefined;
  }
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
