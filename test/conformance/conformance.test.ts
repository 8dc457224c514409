/**
 * The same program, traced and watched by a plain async_hooks listener in the same process, gives the same events.
 */
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { describe, it } from 'node:test';
import type { InitRecord, TraceRecord } from '../../lib/log/event';
import { type CompareOptions, compare, expectedRecords } from './compare';
import { FIXTURES, type Run, trace } from './harness';
import type { Plan } from './listener';

/**
 * Each program with ops that it must make somewhere, so that one that does nothing does not pass, and how many
 * processes and threads it traces.
 */
const PROGRAMS: Record<string, { types: string[]; runs?: number }> = {
  'crypto.js': { types: ['RANDOMBYTESREQUEST', 'PBKDF2REQUEST', 'SCRYPTREQUEST', 'HASHREQUEST'] },
  'dgram.js': { types: ['UDPWRAP'] },
  'dns.js': { types: ['GETADDRINFOREQWRAP', 'GETNAMEINFOREQWRAP', 'DNSCHANNEL', 'QUERYWRAP'] },
  'emitters.js': { types: ['emitter', 'Queue', 'bound-anonymous-fn'] },
  'ended.js': { types: ['EndedFirst', 'NamesEnded', 'Between'] },
  'fetch.js': { types: ['TCPWRAP', 'HTTPINCOMINGMESSAGE', 'PROMISE'] },
  'fs.js': {
    types: ['FSREQCALLBACK', 'FSREQPROMISE', 'FILEHANDLE', 'DIRHANDLE', 'FSEVENTWRAP', 'STATWATCHER'],
  },
  'hooks.js': { types: ['InInit', 'InDestroy'] },
  'http.js': {
    types: ['TCPSERVERWRAP', 'TCPCONNECTWRAP', 'HTTPINCOMINGMESSAGE', 'HTTPCLIENTREQUEST'],
  },
  'http2.js': { types: ['HTTP2SESSION', 'HTTP2STREAM', 'HTTP2PING', 'HTTP2SETTINGS'] },
  'ids.js': { types: ['Numbered'] },
  'many.js': { types: ['Kind0', 'Kind299'] },
  'modules.mjs': { types: ['Timeout', 'PROMISE'] },
  'net.js': { types: ['PIPESERVERWRAP', 'PIPECONNECTWRAP', 'WRITEWRAP', 'SHUTDOWNWRAP'] },
  'processes.js': { types: ['PROCESSWRAP', 'PIPEWRAP'], runs: 3 },
  'promises.js': { types: ['PROMISE'] },
  'resources.js': {
    types: ['with "quotes" and \\backslashes\\', 'lone \ud83d surrogate', '__proto__', 'GIFTWRAP'],
  },
  'signals.js': { types: ['SIGNALWRAP'] },
  'streams.js': { types: ['FSREQCALLBACK', 'Immediate', 'TickObject'] },
  'ticks.js': { types: ['TickObject', 'Microtask'] },
  'timers.js': { types: ['Timeout', 'Immediate'] },
  'tls.js': { types: ['TLSWRAP'] },
  'toggle.js': { types: ['Timeout', 'Immediate', 'PROMISE'] },
  'workers.js': { types: ['WORKER', 'MESSAGEPORT'], runs: 3 },
  'zlib.js': { types: ['ZLIB'] },
};

interface Variant extends Partial<Omit<Plan, 'folder'>> {
  compare?: CompareOptions;
  /** What else must hold of the records. */
  check?: (records: TraceRecord[]) => void;
  /** Programs that the variant is not for, each with the reason. */
  except?: Record<string, string>;
}

const isInit = (record: TraceRecord): record is InitRecord => record.phase === 'init';

const VARIANTS: Record<string, Variant> = {
  'no options': {},
  stacks: {
    options: { stacks: 10 },
    check(records) {
      const depths = records.filter(isInit).map(({ stack }) => (stack as string[]).length);
      assert.ok(
        Math.max(...depths) > 1 && Math.max(...depths) <= 10,
        `stacks of 2 to 10 frames, not ${depths}`,
      );
    },
  },
  contexts: {
    options: { contexts: true },
    check(records) {
      assert.ok(records.some((record) => record.phase === 'before' && typeof record.ctx === 'object'));
    },
  },
  'stacks and contexts without limit of frames': {
    options: { stacks: true, contexts: { depth: 3, breadth: 20, redact: [] } },
  },
  'promiseDestroy: false': { options: { promiseDestroy: false }, compare: { promiseDestroy: false } },
  'promiseDestroy: false, where nobody else asks for destroys': {
    options: { promiseDestroy: false },
    destroy: false,
    compare: { promiseDestroy: false, destroy: false },
  },
  'promises: false': { options: { promises: false }, compare: { promises: false } },
  'promises: false, where nobody else asks for destroys': {
    options: { promises: false },
    destroy: false,
    compare: { promises: false, destroy: false },
  },
  'resolve: true': { options: { resolve: true } },
  'resolve: true, promiseDestroy: false': {
    options: { resolve: true, promiseDestroy: false },
    compare: { promiseDestroy: false },
  },
  'include of ops, areas, globs and regular expressions': {
    options: { include: ['TickObject', 'timers', 'TCP*', '/^FS/', 'custom'] },
    compare: {
      selects: (op, area) =>
        op !== undefined &&
        (op === 'TickObject' ||
          area === 'timers' ||
          op.startsWith('TCP') ||
          op.startsWith('FS') ||
          area === 'custom'),
    },
  },
  'exclude of ops and areas': {
    options: { exclude: ['promises', 'TickObject'] },
    compare: { selects: (op, area) => area !== 'promises' && op !== 'TickObject' },
  },
  'exclude that wins over include': {
    options: { include: ['timers', 'ticks'], exclude: ['Immediate'] },
    compare: { selects: (op, area) => op !== 'Immediate' && (area === 'timers' || area === 'ticks') },
  },
  'prefix and suffix': {
    options: {
      prefix: { host: 'h"o\\st\n', nested: { opid: 1, list: [1, null, '🙂'] } },
      suffix: { last: true, text: 'ü' },
    },
  },
  'small chunks': { options: { bufferSize: 1024, flushInterval: 1 } },
  'a file descriptor': { destination: 'fd' },
  'a stream': { destination: 'stream' },
  'two tracers side by side': { tracers: 2 },
  'two tracers with small chunks, into streams': {
    tracers: 2,
    destination: 'stream',
    options: { bufferSize: 1024, flushInterval: 1 },
  },
  'a late start': { start: 'immediate' },
  'a late start, promiseDestroy: false': {
    start: 'immediate',
    options: { promiseDestroy: false },
    compare: { promiseDestroy: false },
  },
  'an end by close': { end: 'close' },
};

/** The options of a variant that say what a right log holds. */
function problemsOf(run: Run, variant: Variant): string[] {
  return run.logs.flatMap((log) => compare(run.watched, log, variant.compare));
}

describe('the programs of the conformance tests', () => {
  it('are those in test/fixtures/conformance', () => {
    assert.deepEqual(Object.keys(PROGRAMS), readdirSync(FIXTURES).sort());
  });
});

for (const [title, variant] of Object.entries(VARIANTS)) {
  describe(`with ${title}, the log of`, { concurrency: availableParallelism() }, () => {
    for (const [program, { types, runs: count = 1 }] of Object.entries(PROGRAMS)) {
      const reason = variant.except?.[program];
      if (reason !== undefined) continue;
      it(`${program} is what a plain listener saw`, async () => {
        const runs = await trace(program, variant);
        assert.equal(runs.length, count, 'processes and threads');
        const seen = new Set(runs.flatMap(({ watched }) => watched.events.map(({ type }) => type)));
        assert.deepEqual(
          types.filter((type) => !seen.has(type)),
          [],
          'types that the program should have made',
        );
        assert.deepEqual(
          runs.flatMap((run) => problemsOf(run, variant)),
          [],
        );
        for (const log of runs.flatMap(({ logs }) => logs)) variant.check?.(log);
      });
    }
  });
}

describe('with send: false', { concurrency: availableParallelism() }, () => {
  for (const program of ['http.js', 'promises.js', 'resources.js']) {
    it(`the log of ${program} is empty, and stats() counts what a plain listener saw`, async () => {
      const [{ watched, logs }] = await trace(program, { options: { send: false } });
      assert.deepEqual(logs, [[]]);
      const counts = { init: 0, before: 0, after: 0, destroy: 0, resolve: 0 };
      for (const { phase } of expectedRecords(watched)) counts[phase]++;
      assert.deepEqual((watched.stats[0] as { events: object }).events, counts);
    });
  }
});

describe('the comparison of a real run', () => {
  it('fails when any one record of a hundred is removed, doubled, or given another op', async () => {
    const [run] = await trace('http.js');
    const [log] = run.logs;
    assert.deepEqual(compare(run.watched, log), []);
    const step = Math.max(1, Math.floor(log.length / 100));
    for (let i = 0; i < log.length; i += step) {
      assert.notDeepEqual(
        compare(run.watched, [...log.slice(0, i), ...log.slice(i + 1)]),
        [],
        `without record ${i}`,
      );
      assert.notDeepEqual(
        compare(run.watched, [...log.slice(0, i), log[i], ...log.slice(i)]),
        [],
        `record ${i} twice`,
      );
      const renamed = { ...log[i], op: 'OTHER' } as TraceRecord;
      assert.notDeepEqual(compare(run.watched, log.with(i, renamed)), [], `record ${i} renamed`);
    }
  });
});
