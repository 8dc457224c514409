/** Methods of what the package returns, without the object they came from. */
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, describe, it } from 'node:test';
import { readLog } from '../lib/analyze';

import asyncTracer = require('../lib/main');

const folder = mkdtempSync(path.join(tmpdir(), 'async-tracer-detached-'));
after(() => rmSync(folder, { recursive: true }));
let logs = 0;

function create(options: asyncTracer.TracerOptions = {}): { tracer: asyncTracer.Tracer; log: string } {
  const log = path.join(folder, `${logs++}.ndjson`);
  return { tracer: asyncTracer(log, { autostart: false, header: true, ...options }), log };
}

function phasesOf(log: string): string[] {
  return readFileSync(log, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => (JSON.parse(line) as { phase: string }).phase);
}

function queueTick(): Promise<void> {
  return new Promise((resolve) => process.nextTick(resolve));
}

describe('a method without its tracer', () => {
  it('works when it is taken out of the tracer', async () => {
    const { tracer, log } = create({ include: 'ticks' });
    const { enable, disable, flush, flushSync, stats, reopen, close } = tracer;
    assert.equal(enable(), tracer);
    await queueTick();
    assert.equal(tracer.enabled, true);
    assert.equal(disable(), tracer);
    assert.deepEqual([stats().events.init > 0, tracer.enabled], [true, false]);
    flushSync();
    await flush();
    renameSync(log, `${log}.1`);
    reopen();
    await close();
    assert.equal(phasesOf(log).at(-1), 'end');
    assert.ok(phasesOf(`${log}.1`).includes('init'));
    assert.throws(() => enable(), { code: 'ERR_ASYNC_TRACER_CLOSED' });
  });

  it('works as a listener for a signal, whose arguments it ignores', async () => {
    const { tracer, log } = create({ include: 'ticks' });
    const listeners = { SIGUSR2: tracer.enable, SIGWINCH: tracer.disable, SIGHUP: tracer.reopen } as const;
    for (const [signal, listener] of Object.entries(listeners)) {
      process.on(signal, listener as () => void);
    }
    try {
      process.emit('SIGUSR2' as never, 'SIGUSR2' as never, 12 as never);
      assert.equal(tracer.enabled, true);
      await queueTick();
      process.emit('SIGWINCH' as never, 'SIGWINCH' as never, 28 as never);
      assert.equal(tracer.enabled, false);
      process.emit('SIGHUP' as never, 'SIGHUP' as never, 1 as never);
      assert.equal(existsSync('SIGHUP'), false);
    } finally {
      for (const [signal, listener] of Object.entries(listeners)) {
        process.removeListener(signal, listener as () => void);
      }
    }
    await tracer.close();
    assert.ok(phasesOf(log).includes('init'));
  });

  it('works in a copy made by spread, where enabled is what it was then', async () => {
    const { tracer, log } = create({ include: 'ticks' });
    const copy = { ...tracer };
    copy.enable();
    await queueTick();
    assert.deepEqual([copy.enabled, tracer.enabled, copy.stats().events.init > 0], [false, true, true]);
    await copy[Symbol.asyncDispose]();
    assert.equal(phasesOf(log).at(-1), 'end');
  });

  it('leaves the tracer an instance of its class, whose methods a mock can replace', async () => {
    const { tracer } = create();
    assert.ok(tracer instanceof asyncTracer.Tracer);
    let calls = 0;
    tracer.flushSync = () => {
      calls++;
    };
    tracer.flushSync();
    assert.equal(calls, 1);
    await tracer[Symbol.asyncDispose]();
  });

  it('works on the reader of a log', async () => {
    const { tracer, log } = create({ include: 'ticks' });
    tracer.enable();
    await queueTick();
    await tracer.close();
    const { batches, [Symbol.asyncIterator]: iterate } = readLog(log);
    let inBatches = 0;
    for await (const batch of batches()) {
      inBatches += batch.length;
    }
    assert.equal(inBatches, phasesOf(log).length);
    const records = { [Symbol.asyncIterator]: { ...readLog(log) }[Symbol.asyncIterator] };
    let inCopy = 0;
    for await (const _ of records) {
      inCopy++;
    }
    assert.equal(inCopy, inBatches);
    assert.equal(typeof iterate, 'function');
  });
});
