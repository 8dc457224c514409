/** What `leaks` makes of the resources that the end record lists as active. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, describe, it } from 'node:test';
import { analyzeLeaks, type LeaksReport } from '../../lib/analyze';

const LIB = JSON.stringify(path.join(__dirname, '../../lib/main'));
const folder = mkdtempSync(path.join(tmpdir(), 'async-tracer-active-'));
after(() => rmSync(folder, { recursive: true }));
let logs = 0;

/** Runs a program under trace that ends by process.exit, and asks for its leaks. */
async function leaksOf(program: string): Promise<LeaksReport> {
  const log = path.join(folder, `${logs++}.ndjson`);
  const text = `require(${LIB})(${JSON.stringify(log)}, { header: true, stacks: true, resolve: true });
    const end = () => process.exit(0);
    ${program}`;
  const { NODE_OPTIONS: _, ...env } = process.env;
  const { status, stderr } = spawnSync(process.execPath, ['-e', text], { encoding: 'utf8', env });
  assert.deepEqual([status, stderr], [0, '']);
  return analyzeLeaks(log);
}

function leaksIn({ rows }: LeaksReport): [string | null, number, number | null][] {
  return rows
    .filter(({ verdict }) => verdict === 'leak')
    .map(({ op, count, confirmed }): [string | null, number, number | null] => [op, count, confirmed])
    .sort(([a], [b]) => String(a).localeCompare(String(b)));
}

describe('leaks, of a log that lists what was active', () => {
  it('confirms timers and servers that keep the process alive', async () => {
    const report = await leaksOf(`
      setInterval(() => {}, 60_000);
      require('node:net').createServer().listen(0, '127.0.0.1', () => setImmediate(end));`);
    assert.deepEqual(leaksIn(report), [
      ['TCPSERVER', 1, 1],
      ['Timeout', 1, 1],
    ]);
    assert.match(report.findings.map(({ message }) => message).join('\n'), /Node listed it as active/);
  });

  it('has no leak among timers and servers that are unref’d, without contexts', async () => {
    const report = await leaksOf(`
      setInterval(() => {}, 60_000).unref();
      const server = require('node:net').createServer();
      server.unref();
      server.listen(0, '127.0.0.1', () => setImmediate(end));`);
    assert.deepEqual(leaksIn(report), []);
  });

  it('has no leak in an idle connection of an agent, and one in a socket that is left open', async () => {
    const report = await leaksOf(`
      const http = require('node:http');
      const net = require('node:net');
      const server = http.createServer((request, response) => response.end('x'));
      server.listen(0, '127.0.0.1', () => {
        const { port } = server.address();
        net.connect(port, '127.0.0.1', () => {
          http.get({ port, host: '127.0.0.1', agent: new http.Agent({ keepAlive: true }) }, (response) => {
            response.resume();
            response.on('end', () => setTimeout(end, 20));
          });
        });
      });`);
    const sockets = leaksIn(report).filter(([op]) => op === 'TCP');
    assert.ok(sockets.length > 0);
    const agents = report.rows.filter(({ op, reason }) => op === 'TCP' && reason.includes('agent'));
    assert.deepEqual(
      agents.filter(({ verdict }) => verdict === 'leak'),
      [],
    );
  });

  it('says how many of a row are confirmed where only some are active', async () => {
    const report = await leaksOf(`
      for (const isKept of [true, false, true]) {
        const timer = setInterval(() => {}, 60_000);
        if (!isKept) timer.unref();
      }
      setImmediate(end);`);
    assert.deepEqual(leaksIn(report), [['Timeout', 3, 2]]);
  });
});
