import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import crypto from 'node:crypto';
import dns from 'node:dns';
import fs from 'node:fs';
import http from 'node:http';
import net from 'node:net';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { afterEach, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { Worker } from 'node:worker_threads';
import zlib from 'node:zlib';
import { TracerError } from '../../lib/errors';
import { expectNoLeaks, findLeaks, LeakError } from '../../lib/testing';

const FILE = path.join(__dirname, '../../../test/fixtures/cli/open.js');
const open: Record<string, () => unknown> & { release(): Promise<void> } = require(FILE);
const SOURCE = fs.readFileSync(FILE, 'utf8').split('\n');
/** Short, for what does not end: waiting longer changes nothing. */
const SOON = { settleMs: 50 };

function lineOf(call: string): number {
  return SOURCE.findIndex((line) => line.includes(call)) + 1;
}

afterEach(() => open.release());

describe('expectNoLeaks', () => {
  /** What is left open, its op, and the call that opens it. */
  const leaking: [string, string, string][] = [
    ['server', 'TCPSERVER', 'net.createServer()'],
    ['interval', 'Timeout', 'setInterval(() => {}, 1)'],
    ['timeout', 'Timeout', 'setTimeout('],
    ['fileHandle', 'FILEHANDLE', 'promises.open('],
    ['watcher', 'FSEVENT', 'fs.watch('],
    ['worker', 'WORKER', 'new Worker('],
    ['child', 'PROCESS', 'childProcess.spawn('],
  ];
  for (const [name, op, call] of leaking) {
    it(`names the ${name} that was left open, with its file and line`, async () => {
      const { leaks } = await findLeaks(open[name], SOON);
      assert.deepEqual(
        leaks.map(({ op, count, site }) => ({ op, count, file: site?.file, line: site?.line })),
        [{ op, count: 1, file: FILE, line: lineOf(call) }],
      );
    });
  }

  it('names a promise that is held and never settled, where promises are asked for', async () => {
    const { leaks } = await findLeaks(open['promise'], { ...SOON, promises: true });
    assert.deepEqual(
      leaks.map(({ op, site }) => [op, site?.line]),
      [['PROMISE', lineOf('new Promise(')]],
    );
    assert.deepEqual((await findLeaks(open['promise'], SOON)).leaks, []);
  });

  const clean: Record<string, () => unknown> = {
    'a function that does nothing': () => {},
    'reading a file': () => fs.promises.readFile(__filename),
    'a file handle that is closed': async () => (await fs.promises.open(__filename)).close(),
    'a stream of files': () => pipeline(fs.createReadStream(__filename), fs.createWriteStream('/dev/null')),
    'a timer that is cleared': () => clearInterval(setInterval(() => {}, 1_000_000)),
    'a timer that is unref’d': () => void setInterval(() => {}, 1_000_000).unref(),
    'a timer that fires while things settle': () => void setTimeout(() => {}, 20),
    'an abort signal with a timeout': () => void AbortSignal.timeout(1_000_000),
    'a listener for a signal': () => void process.once('SIGUSR2', () => {}).removeAllListeners('SIGUSR2'),
    'writing to standard error': () => void process.stderr.write(''),
    'a child that ended': () => promisify(execFile)(process.execPath, ['-e', '0']),
    'a worker that ended': () => new Promise((end) => new Worker('0', { eval: true }).on('exit', end)),
    'a lookup': () => dns.promises.lookup('localhost'),
    'zlib and crypto': async () => {
      await promisify(zlib.gzip)('text');
      await promisify(crypto.pbkdf2)('password', 'salt', 10, 16, 'sha256');
    },
    'an import': () => import('node:test/reporters'),
    'a server that is closed, with a request through an agent that keeps its sockets': async () => {
      const server = http.createServer((_request, response) => response.end('text'));
      await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
      const { port } = server.address() as net.AddressInfo;
      await (await fetch(`http://127.0.0.1:${port}`)).text();
      await new Promise<void>((done, fail) => {
        http
          .get({ port, host: '127.0.0.1' }, (response) => response.resume().on('end', done))
          .on('error', fail);
      });
      server.close();
      server.closeAllConnections();
    },
  };
  for (const [name, work] of Object.entries(clean)) {
    it(`finds nothing after ${name}`, async () => {
      assert.deepEqual((await findLeaks(work)).leaks, []);
    });
  }

  it('gives what the function gives', async () => {
    assert.equal(await expectNoLeaks(async () => 'result'), 'result');
  });

  it('throws what the function throws', async () => {
    const error = new Error('of the function');
    await assert.rejects(
      expectNoLeaks(() => Promise.reject(error)),
      error,
    );
    await assert.rejects(
      expectNoLeaks(() => {
        throw error;
      }),
      error,
    );
  });

  it('throws an error with a code, the leaks and a message that names each place', async () => {
    const error: unknown = await expectNoLeaks(open['server'], SOON).catch((thrown) => thrown);
    assert.ok(error instanceof LeakError);
    assert.ok(error instanceof TracerError);
    assert.equal(error.code, 'ERR_ASYNC_TRACER_LEAK');
    assert.equal(error.leaks.length, 1);
    assert.deepEqual(error.message.split('\n').slice(0, 3), [
      '1 operation was left open:',
      '  1 TCPSERVER: it was never closed',
      `      at exports.server (${FILE}:${lineOf('net.createServer()')}:37)`,
    ]);
  });

  it('says under which call a file handle was opened, which has no stack of its own', async () => {
    const error = (await expectNoLeaks(open['fileHandle'], SOON).catch((thrown) => thrown)) as LeakError;
    assert.equal(
      error.message.split('\n')[2],
      `      under exports.fileHandle (${FILE}:${lineOf('promises.open(')}:34)`,
    );
  });

  it('leaves out what is allowed', async () => {
    for (const allow of [
      ['TCPSERVER'],
      ['net'],
      [`open.js:${lineOf('net.createServer()')}:`],
      [/^TCPSERVER /],
    ]) {
      assert.deepEqual((await findLeaks(open['server'], { ...SOON, allow })).leaks, [], String(allow));
    }
    assert.equal((await findLeaks(open['server'], { ...SOON, allow: ['UDP'] })).leaks.length, 1);
  });

  it('does not count what other code starts meanwhile', async () => {
    const running = findLeaks(() => new Promise((done) => setTimeout(done, 1)));
    const other = net.createServer().listen(0);
    assert.deepEqual((await running).leaks, []);
    other.close();
  });

  it('waits no longer than things take to end', { timeout: 60_000 }, async () => {
    await findLeaks(() => {}, { settleMs: 3_600_000 });
  });

  it('says of an interval whose first time is the last thing that ran that it was never cleared', async () => {
    const end = performance.now() + SOON.settleMs;
    let timer: NodeJS.Timeout | undefined;
    const { leaks } = await findLeaks(() => {
      timer = setInterval(() => {
        while (performance.now() <= end + 50) {}
      }, 1);
    }, SOON);
    clearInterval(timer);
    assert.deepEqual(
      leaks.map(({ verdict, reason }) => [verdict, reason]),
      [['leak', 'it was never cleared and has not fired for the last time']],
    );
  });

  it('refuses what is no function', async () => {
    for (const work of [5, undefined, Promise.resolve()]) {
      const refused = { code: 'ERR_ASYNC_TRACER_OPTION', message: /must be a function/ };
      await assert.rejects(findLeaks(work as never), refused);
      await assert.rejects(expectNoLeaks(work as never), refused);
    }
  });

  it('refuses what it does not know', async () => {
    const wrong: [object, RegExp][] = [
      [{ timeout: 3 }, /no option 'timeout'/],
      [{ settleMs: -1 }, /'settleMs'.*-1/],
      [{ promises: 'yes' }, /'promises'.*yes/],
      [{ allow: 'x' }, /allow/],
      [null as never, /must be a plain object; got null/],
    ];
    for (const [options, message] of wrong) {
      await assert.rejects(
        findLeaks(() => {}, options),
        { code: 'ERR_ASYNC_TRACER_OPTION', message },
      );
    }
  });
});
