import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { findLeaks } from '../lib/testing';

const ROOT = path.join(__dirname, '../..');
const PROGRAMS = path.join(ROOT, 'examples/questions');
const COMMAND = path.join(ROOT, 'dist/lib/cli/main.js');

/** Documents that show the answers: each has them as the command prints them, but for ids and times. */
const SHOWN = ['README.md', 'lib/cli/README.md'].map((file) =>
  readFileSync(path.join(ROOT, file), 'utf8').replace(/\s+/g, ' '),
);

/** Checks that the command prints what the documents show. */
function isShown(answer: string, pattern: RegExp): void {
  assert.match(answer, pattern);
  assert.ok(
    SHOWN.some((text) => pattern.test(text)),
    `no document shows ${pattern}`,
  );
}

describe('the uses of the README', () => {
  let folder: string;
  before(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'async-tracer-questions-'));
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  function log(name: string): string {
    return path.join(folder, `${name}.ndjson`);
  }

  /** The output of the command as one line, so that it does not matter where it is wrapped. */
  function ask(...args: string[]): string {
    const { stdout, stderr, status } = spawnSync(process.execPath, [COMMAND, ...args], {
      encoding: 'utf8',
      env: { ...process.env, NO_COLOR: '1' },
    });
    assert.equal(status, 0, stderr);
    return stdout.replace(/\s+/g, ' ');
  }

  function trace(name: string): void {
    ask('run', '-q', '--stacks', '-o', log(name), path.join(PROGRAMS, `${name}.js`));
  }

  it('why does my process not exit: the server and the timer are named with their lines', async () => {
    const flags = ['run', '-q', '--stacks', '--flush-interval=10', '-o', log('worker')];
    const child = spawn(process.execPath, [COMMAND, ...flags, path.join(PROGRAMS, 'worker.js')], {
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    const ended = new Promise((resolve) => child.once('exit', resolve));
    while (!existsSync(log('worker')) || !readFileSync(log('worker'), 'utf8').includes('"op":"TCPSERVER"')) {
      await pause(10);
    }
    child.kill('SIGINT');
    await ended;
    const answer = ask('leaks', log('worker'));
    isShown(answer, /handle-open: 1 TCPSERVER under listenForReload \(\S*worker\.js:8:23\) was never closed/);
    isShown(answer, /timer-running: 1 Timeout from watchPrices \(\S*worker\.js:4:3\) was still running/);
  });

  it('which of my calls waits longest: the eight signatures', () => {
    trace('report');
    const answer = ask('slow', '--top', '3', log('report'));
    isShown(answer, /PBKDF2REQUEST 8 .*? sign \(\S*report\.js:13:9\)/);
  });

  it('what ran: the file and the timer of the request', () => {
    trace('server');
    const answer = ask('stats', '--top', '50', log('server'));
    isShown(answer, / 0 lost, 0 unreadable, 0 without init /);
    isShown(answer, / Timeout 1 0 .*? \S+ \(\S*server\.js:6:5\)/);
  });

  it('what does one HTTP request start: the file, the timer and the answer', () => {
    trace('server');
    const opid = / HTTPINCOMINGMESSAGE (\d+) /.exec(ask('tree', log('server')))?.[1] as string;
    const answer = ask('tree', '--root', opid, log('server'));
    isShown(answer, /FSREQCALLBACK Server\.answer \(\S*server\.js:5:6\)/);
    isShown(answer, /Timeout \S+ \(\S*server\.js:6:5\)/);
  });

  it('does my library leave something open: the socket of the answer "no"', async () => {
    const { ask: askServer } = require(path.join(PROGRAMS, 'client.js'));
    const net = require('node:net') as typeof import('node:net');
    for (const [answer, open] of [
      ['yes', 0],
      ['no', 1],
    ] as const) {
      const sockets: import('node:net').Socket[] = [];
      const server = net.createServer((socket) => {
        sockets.push(socket);
        socket.on('error', () => {});
        socket.write(answer);
      });
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      const { port } = server.address() as import('node:net').AddressInfo;
      const { leaks } = await findLeaks(() => askServer(port));
      assert.equal(leaks.length, open, `after "${answer}": ${JSON.stringify(leaks)}`);
      for (const socket of sockets) socket.destroy();
      server.close();
    }
  });
});
