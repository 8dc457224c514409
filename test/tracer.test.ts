import assert from 'node:assert/strict';
import { AsyncResource } from 'node:async_hooks';
import { spawnSync } from 'node:child_process';
import { linkSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Writable } from 'node:stream';
import { after, before, describe, it } from 'node:test';
import type { EndRecord, InitRecord, StartRecord } from '../lib/log/event';

import asyncTracer = require('../lib/main');

import { validateLog } from './support/validate';

let folder: string;
let number = 0;
before(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'async-tracer-tracer-'));
});
after(() => rmSync(folder, { recursive: true }));

function newLog(): string {
  return path.join(folder, `${number++}.ndjson`);
}

/** Operations of a type of the test's own, so that those of the test runner beside it do not count. */
function make(type: string): void {
  const resource = new AsyncResource(type);
  resource.runInAsyncScope(() => {});
}

function types(log: string): string[] {
  return validateLog(log)
    .filter((record): record is InitRecord => record.phase === 'init')
    .map(({ op }) => op)
    .filter((op) => op.startsWith('MINE'));
}

const include = 'MINE*';

describe('tracer', () => {
  it('records between enable and disable alone', async () => {
    const log = newLog();
    const tracer = asyncTracer(log, { autostart: false, include });
    make('MINE1');
    assert.equal(tracer.enabled, false);
    tracer.enable();
    assert.equal(tracer.enabled, true);
    make('MINE2');
    tracer.disable();
    make('MINE3');
    tracer.enable();
    make('MINE4');
    await tracer.close();
    assert.deepEqual(types(log), ['MINE2', 'MINE4']);
  });

  it('leaves out the timer of another tracer, however many flushes that has made', () => {
    const [one, other] = [newLog(), newLog()];
    const program = `
      const asyncTracer = require(${JSON.stringify(path.join(__dirname, '../lib/main'))});
      const a = asyncTracer(${JSON.stringify(one)}, { flushInterval: 5 });
      (async () => {
        for (let i = 0; i < 700; i++) await a.flush();
        const b = asyncTracer(${JSON.stringify(other)});
        // Until the timer of the first has written what is begun here.
        for (const { bytes } = a.stats(); a.stats().bytes === bytes; ) await new Promise(setImmediate);
        await b.close();
        await a.close();
      })();`;
    const { status, stderr } = spawnSync(process.execPath, ['-e', program], { encoding: 'utf8' });
    assert.deepEqual([status, stderr], [0, '']);
    // What the program began before the second tracer has its init in the log of the first one.
    const begun = new Set(validateLog(one).map((record) => 'opid' in record && record.opid));
    const foreign = validateLog(other).filter((record) => 'opid' in record && !begun.has(record.opid));
    assert.deepEqual(foreign, []);
  });

  it('leaves out what another copy of the package does', () => {
    const logs = [newLog(), newLog()];
    const program = `
      const lib = ${JSON.stringify(path.join(__dirname, '../lib/main'))};
      const tracers = ${JSON.stringify(logs)}.map((log) => {
        for (const file of Object.keys(require.cache)) delete require.cache[file];
        return require(lib)(log, { flushInterval: 1, promises: false });
      });
      if (tracers[0].constructor === tracers[1].constructor) throw new Error('one copy');
      const timer = setInterval(() => {
        // Both have written by now, each of them more than once.
        if (tracers.some((tracer) => tracer.stats().bytes < 1000)) return;
        clearInterval(timer);
        for (const tracer of tracers) tracer.disable();
      }, 1);`;
    const { status, stderr } = spawnSync(process.execPath, ['-e', program], { encoding: 'utf8' });
    assert.deepEqual([status, stderr], [0, '']);
    for (const log of logs) {
      const ops = validateLog(log).map((record) => ('op' in record ? record.op : undefined));
      assert.deepEqual([...new Set(ops)], ['Timeout']);
    }
  });

  it('says so and stops where a script was terminated in the midst of a write', () => {
    const program = `
      const asyncTracer = require(${JSON.stringify(path.join(__dirname, '../lib/main'))});
      const { Writable } = require('node:stream');
      const { AsyncResource } = require('node:async_hooks');
      const vm = require('node:vm');
      let isCut = false;
      const sink = new Writable({ write(chunk, encoding, done) { while (isCut); done(); } });
      const tracer = asyncTracer(sink, { bufferSize: 1, flushInterval: 10 });
      const timer = setInterval(() => {
        if (tracer.enabled) return;
        clearInterval(timer);
        // Node may call a hook for ever that was broken off.
        const before = JSON.stringify(tracer.stats().events);
        new AsyncResource('LATER').emitDestroy();
        console.log(JSON.stringify(tracer.stats().events) === before);
      }, 1);
      isCut = true;
      try {
        vm.runInNewContext('make()', { make: () => new AsyncResource('CUT') }, { timeout: 20 });
      } catch ({ code }) {
        console.log(code);
      }
      isCut = false;
      process.on('warning', ({ message }) => console.log(message));`;
    const { status, stdout } = spawnSync(process.execPath, ['--no-warnings', '-e', program], {
      encoding: 'utf8',
      timeout: 60_000,
    });
    assert.equal(status, 0);
    assert.deepEqual(stdout.trim().split('\n'), [
      'ERR_SCRIPT_EXECUTION_TIMEOUT',
      'async-tracer cannot write the log: a script was terminated (by a timeout of node:vm, say) in the midst of a write of the log; tracing has stopped.',
      'true',
    ]);
  });

  it('has not begun where its first line ended the destination', () => {
    const sink = new Writable({
      write() {
        throw new Error('broken');
      },
    }).on('error', () => {});
    const tracer = asyncTracer(sink, { header: true });
    assert.equal(tracer.enabled, false);
    tracer[Symbol.dispose]();
  });

  it('maxBuffer makes chunks small for a stream, and not for a file', async () => {
    let taken = '';
    const sink = new Writable({
      write(chunk, _encoding, done) {
        taken += chunk;
        done();
      },
    });
    const log = newLog();
    const options = { include, maxBuffer: 40 };
    const [toFile, toStream] = [asyncTracer(log, options), asyncTracer(sink, options)];
    make('MINE1');
    assert.equal(readFileSync(log, 'utf8'), '');
    assert.match(taken, /MINE1/);
    await toFile.close();
    await toStream.close();
  });

  it('enable and disable return the tracer and can be called again', async () => {
    const log = newLog();
    const tracer = asyncTracer(log, { include });
    assert.equal(tracer.enable().enable().disable().disable().enable(), tracer);
    make('MINE1');
    await tracer.close();
    assert.deepEqual(types(log), ['MINE1']);
  });

  it('enable and reopen after close throw, the rest does nothing', async () => {
    const tracer = asyncTracer(newLog(), { include });
    const closed = tracer.close();
    assert.equal(tracer.close(), closed);
    await closed;
    const code = 'ERR_ASYNC_TRACER_CLOSED';
    assert.throws(() => tracer.enable(), { name: 'TracerError', code });
    assert.throws(() => tracer.reopen(), { name: 'TracerError', code });
    tracer.disable();
    tracer.flushSync();
    await tracer.flush();
    await tracer[Symbol.asyncDispose]();
    tracer[Symbol.dispose]();
    assert.equal(tracer.enabled, false);
  });

  it('flushSync puts every record into the file at once', async () => {
    const log = newLog();
    const tracer = asyncTracer(log, { include });
    make('MINE1');
    assert.deepEqual(types(log), []);
    tracer.flushSync();
    assert.deepEqual(types(log), ['MINE1']);
    await tracer.close();
  });

  it('flush resolves when every record is in the file', async () => {
    const log = newLog();
    const tracer = asyncTracer(log, { include });
    make('MINE1');
    assert.equal(await tracer.flush(), undefined);
    assert.deepEqual(types(log), ['MINE1']);
    await tracer.close();
  });

  it('reopen goes on in another file, and needs a path', async () => {
    const [first, second] = [newLog(), newLog()];
    const tracer = asyncTracer(first, { include });
    make('MINE1');
    tracer.reopen(second);
    make('MINE2');
    assert.throws(() => tracer.reopen(7 as never), { code: 'ERR_ASYNC_TRACER_DESTINATION' });
    await tracer.close();
    assert.deepEqual([types(first), types(second)], [['MINE1'], ['MINE2']]);
  });

  it('reopen of a file that nobody has renamed keeps what is in it', async () => {
    const [log, link] = [newLog(), newLog()];
    const tracer = asyncTracer(log, { include });
    make('MINE1');
    tracer.reopen();
    make('MINE2');
    linkSync(log, link);
    tracer.reopen(link);
    make('MINE3');
    await tracer.close();
    assert.deepEqual(types(log), ['MINE1', 'MINE2', 'MINE3']);
  });

  it('reopen of a path that was renamed, or is another file, begins it anew', async () => {
    const [log, old] = [newLog(), newLog()];
    const tracer = asyncTracer(log, { include });
    make('MINE1');
    tracer.flushSync();
    renameSync(log, old);
    tracer.reopen();
    make('MINE2');
    tracer.reopen(old);
    make('MINE3');
    await tracer.close();
    assert.deepEqual([types(log), types(old)], [['MINE2'], ['MINE3']]);
  });

  it('is not made with new', () => {
    const { Tracer } = asyncTracer as never as { Tracer: new (...given: unknown[]) => unknown };
    for (const given of [[], [newLog()], [newLog(), { stacks: true }]]) {
      assert.throws(() => new Tracer(...given), {
        name: 'TracerError',
        code: 'ERR_ASYNC_TRACER_OPTION',
        message: /call the function that the package exports/,
      });
    }
  });

  it('reopen of what is no path is refused', async () => {
    const tracer = asyncTracer('/dev/null', { include });
    assert.throws(() => tracer.reopen(), {
      code: 'ERR_ASYNC_TRACER_DESTINATION',
      message: /needs a tracer that writes/,
    });
    await tracer.close();
  });

  it('stats count records by phase, bytes and live operations', async () => {
    const log = newLog();
    const tracer = asyncTracer(log, { include, promises: false });
    const { live } = tracer.stats();
    const resource = new AsyncResource('MINE1');
    resource.runInAsyncScope(() => {});
    const { events, lost } = tracer.stats();
    assert.deepEqual(
      { events, lost },
      { events: { init: 1, before: 1, after: 1, destroy: 0, resolve: 0 }, lost: 0 },
    );
    assert.equal(tracer.stats().live, live + 1);
    tracer.flushSync();
    assert.equal(tracer.stats().bytes, readFileSync(log).length);
    await tracer.close();
  });

  it('dispose ends the log as close does, without waiting', () => {
    const log = newLog();
    const tracer = asyncTracer(log, { include, header: true });
    make('MINE1');
    tracer[Symbol.dispose]();
    const records = validateLog(log);
    assert.deepEqual(
      records.map(({ phase }) => phase),
      ['start', 'init', 'before', 'after', 'end'],
    );
    assert.equal((records.at(-1) as EndRecord).reason, 'close');
  });

  it('header writes start at once', async () => {
    const log = newLog();
    const tracer = asyncTracer(log, { include, header: true });
    assert.deepEqual(
      validateLog(log).map(({ phase }) => phase),
      ['start'],
    );
    await tracer.close();
  });

  it('header tells what redact holds, regular expressions as text', async () => {
    const log = newLog();
    const tracer = asyncTracer(log, { include, header: true, contexts: { redact: ['pin', /ssn$/i] } });
    const [start] = validateLog(log) as StartRecord[];
    assert.deepEqual(start.options['contexts'], { depth: 2, breadth: 10, redact: ['pin', '/ssn$/i'] });
    await tracer.close();
  });

  it('send: false counts, and writes nothing', async () => {
    const log = newLog();
    const tracer = asyncTracer(log, { include, send: false, header: true });
    make('MINE1');
    assert.equal(tracer.stats().events.init, 1);
    await tracer.close();
    assert.equal(readFileSync(log, 'utf8'), '');
  });

  it('two tracers record the same, and neither the work of the other', async () => {
    const [first, second] = [newLog(), newLog()];
    const tracers = [asyncTracer(first, { bufferSize: 1 }), asyncTracer(second, { bufferSize: 1 })];
    for (let i = 0; i < 20; i++) make(`MINE${i}`);
    for (const tracer of tracers) tracer.flushSync();
    const of = (log: string) =>
      validateLog(log).flatMap((record) => ('opid' in record ? [`${record.opid} ${record.phase}`] : []));
    const [a, b] = [of(first), of(second)];
    for (const tracer of tracers) await tracer.close();
    assert.ok(a.length >= 60);
    assert.deepEqual(b, a.slice(-b.length));
  });
});
