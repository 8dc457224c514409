/** Every variant by name. */

import type { TracerOptions } from '../../lib/trace/options';
import { fsWrite } from './fswrite';
import { countingHook, emptyHook, emptyHookWithoutDestroy, writingHook } from './hook';
import { sonicBoom } from './sonicboom';
import { tracer } from './tracer';
import type { Variant, Way } from './variant';

function traced(name: string, title: string, options: TracerOptions, more: Partial<Variant> = {}): Variant {
  return { name, title, start: (log) => tracer(log, options, more.way), log: 'ndjson', ...more };
}

function tracedTo(way: Way, title: string): Variant {
  return traced(`to-${way}`, title, {}, { way });
}

const VARIANTS: Variant[] = [
  { name: 'off', title: 'off' },
  { name: 'empty', title: 'empty hook', start: emptyHook },
  { name: 'empty-3', title: 'empty hook without destroy', start: emptyHookWithoutDestroy },
  { name: 'bytes', title: 'empty hook, and 100 bytes an event', start: writingHook, log: 'bytes' },
  { name: 'count', title: 'counting hook', start: countingHook },

  traced('traced', 'traced', {}),
  traced('coarse', "traced, clock: 'coarse'", { clock: 'coarse' }),
  traced('stacks-10', 'traced, stacks: 10', { stacks: 10 }),
  traced('stacks-all', 'traced, stacks: Infinity', { stacks: Number.POSITIVE_INFINITY }),
  traced('contexts', 'traced, contexts', { contexts: true }),
  traced(
    'no-promise-destroy',
    'traced, promiseDestroy: false',
    { promiseDestroy: false },
    { holds: 'every event but promise destroys' },
  ),
  traced(
    'no-promises',
    'traced, promises: false',
    { promises: false },
    { holds: 'every event but promises' },
  ),
  traced('chunk-64', 'traced, bufferSize: 65536', { bufferSize: 65_536 }),
  traced('include-one', "traced, include: ['Timeout']", { include: ['Timeout'] }, { holds: 'one op' }),
  traced('include-none', "traced, include: ['NOSUCHOP']", { include: ['NOSUCHOP'] }, { holds: 'no event' }),
  traced('send-off', 'traced, send: false', { send: false }, { holds: 'no event, but counts every one' }),
  tracedTo('file', 'traced to a file'),
  tracedTo('pipe', 'traced to a pipe'),
  tracedTo('stream', 'traced to a stream'),

  {
    name: 'trace-events',
    title: "Node's trace events",
    // The rotation is node's to fill in.
    flags: (log) => [
      '--trace-event-categories',
      'node.async_hooks',
      '--trace-event-file-pattern',
      `${log}.\${rotation}`,
    ],
    log: 'trace events',
    // Before and after of HTTPINCOMINGMESSAGE, HTTPCLIENTREQUEST and FSREQPROMISE never come.
    holds: 'every event that Node reports to it',
    slowness: 10,
  },
  {
    name: 'sonic-boom',
    title: 'one SonicBoom string write an event',
    start: (log) => sonicBoom(log, 0),
    log: 'ndjson',
    slowness: 10,
  },
  {
    name: 'sonic-boom-4096',
    title: 'the same with minLength: 4096',
    start: (log) => sonicBoom(log, 4096),
    log: 'ndjson',
    slowness: 10,
  },
  { name: 'fs-write', title: 'one fs.write an event', start: fsWrite, log: 'ndjson', slowness: 20 },
];

const BY_NAME = new Map(VARIANTS.map((variant) => [variant.name, variant]));

export function variantNames(): string[] {
  return [...BY_NAME.keys()];
}

/** Throws a RangeError that lists the names where there is none of this one. */
export function variantOf(name: string): Variant {
  const found = BY_NAME.get(name);
  if (found === undefined) {
    throw new RangeError(`no variant ${name}; there are ${variantNames().join(', ')}`);
  }
  return found;
}
