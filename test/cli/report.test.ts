/** The commands report and view, and run --report. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import path from 'node:path';
import { describe, it } from 'node:test';
import { command, environment, FIXTURES, MAIN, temporaryFolder } from './command';

const LOG = path.join(FIXTURES, 'app.ndjson');
const folder = temporaryFolder('async-tracer-report-');

function dataOf(html: string): { log: { records: number }; ops: unknown[]; areas: unknown } {
  return JSON.parse(/<script type="application\/json" id="data">(.*?)<\/script>/s.exec(html)![1]);
}

describe('async-tracer report', () => {
  it('writes one page and prints where it is', () => {
    const { status, stdout, stderr } = command(['report', LOG, '-o', 'page.html'], { cwd: folder });
    assert.deepEqual([status, stdout], [0, '']);
    assert.match(stderr, /^async-tracer: the report is page\.html \(\d+(\.\d+)? kB\)\n$/);
    const html = readFileSync(path.join(folder, 'page.html'), 'utf8');
    const stats = JSON.parse(command(['stats', '--json', LOG]).stdout);
    const data = dataOf(html);
    assert.deepEqual([data.log, data.areas, data.ops.length], [stats.log, stats.areas, stats.ops.length]);
  });

  it('takes a default name, and prints as JSON what it wrote', () => {
    const { status, stdout, stderr } = command(['report', '--json', LOG], { cwd: folder });
    assert.deepEqual([status, stderr], [0, '']);
    const { seconds, ...written } = JSON.parse(stdout);
    const output = 'async-tracer-report.html';
    const bytes = readFileSync(path.join(folder, output)).length;
    assert.deepEqual(written, { report: 'report', output, bytes, records: 126 });
    assert.ok(seconds > 0 && seconds < 60);
  });

  it('reads standard input and writes standard output', () => {
    const { status, stdout } = command(['report', '-', '-o', '-'], { input: readFileSync(LOG), cwd: folder });
    assert.equal(status, 0);
    assert.equal(dataOf(stdout).log.records, 126);
  });

  it('refuses a folder that is not there before it reads the log', () => {
    const { status, stderr } = command(['report', 'no-log', '-o', 'no/where.html'], { cwd: folder });
    assert.equal(status, 1);
    assert.match(
      stderr,
      /cannot be written to .*where\.html: there is no folder .*\[ERR_ASYNC_TRACER_DESTINATION\]/,
    );
  });

  it('refuses a folder in place of a file', () => {
    const { status, stderr } = command(['report', LOG, '-o', '.'], { cwd: folder });
    assert.equal(status, 1);
    assert.match(stderr, /it is a folder\. \[ERR_ASYNC_TRACER_DESTINATION\]/);
  });

  it('says that a device is full', { skip: !existsSync('/dev/full') && 'there is no /dev/full' }, () => {
    const { status, stderr } = command(['report', LOG, '-o', '/dev/full']);
    assert.equal(status, 1);
    assert.match(stderr, /cannot be written to \/dev\/full: ENOSPC.*\[ERR_ASYNC_TRACER_DESTINATION\]/);
  });

  it('leaves an older page and no half one where the log is none', () => {
    writeFileSync(path.join(folder, 'old.html'), 'old');
    writeFileSync(path.join(folder, 'none.ndjson'), 'no record\n');
    const { status, stderr } = command(['report', 'none.ndjson', '-o', 'old.html'], { cwd: folder });
    assert.equal(status, 1);
    assert.match(stderr, /is no log of async-tracer/);
    assert.equal(readFileSync(path.join(folder, 'old.html'), 'utf8'), 'old');
    assert.deepEqual(
      readdirSync(folder).filter((file) => file.endsWith('.tmp')),
      [],
    );
  });
});

interface Answer {
  status: number | undefined;
  body: string;
}

function get(url: URL, options: { path?: string; host?: string; method?: string } = {}): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const { hostname, port, pathname } = url;
    const headers = { host: options.host ?? url.host };
    request(
      { hostname, port, path: options.path ?? pathname, method: options.method, headers },
      (response) => {
        let body = '';
        response.setEncoding('utf8');
        response.on('data', (chunk) => {
          body += chunk;
        });
        response.on('end', () => resolve({ status: response.statusCode, body }));
      },
    )
      .on('error', reject)
      .end();
  });
}

describe('async-tracer view', () => {
  it('serves the page to this machine alone, under a path that cannot be guessed, until Ctrl-C', async (t) => {
    const child = spawn(process.execPath, [MAIN, 'view', LOG], {
      env: environment(),
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    t.after(() => child.kill('SIGKILL'));
    const [chunk] = (await once(child.stdout, 'data')) as [Buffer];
    const url = new URL(chunk.toString().trim());
    assert.match(url.href, /^http:\/\/127\.0\.0\.1:\d+\/[\w-]{16}\/$/);
    const { status, body } = await get(url);
    assert.deepEqual([status, dataOf(body).log.records], [200, 126]);
    assert.equal((await get(url, { method: 'HEAD' })).status, 200);
    assert.equal((await get(url, { path: '/' })).status, 404);
    assert.equal((await get(url, { host: 'evil.example' })).status, 404);
    assert.equal((await get(url, { method: 'POST' })).status, 404);
    child.kill('SIGINT');
    const [code, signal] = await once(child, 'exit');
    assert.deepEqual([code, signal], [0, null]);
  });

  it('refuses a port that is none', () => {
    const { status, stderr } = command(['view', LOG, '--port', 'x']);
    assert.equal(status, 2);
    assert.match(stderr, /--port must be a whole number from 1; got "x"/);
  });
});

describe('async-tracer run --report', () => {
  const program = ['--', '-e', 'setTimeout(() => { process.exitCode = 3; }, 1)'];

  it('makes the page at the end, and keeps the exit code of the program', () => {
    const words = ['run', '--report=run.html', '-o', 'run.ndjson', ...program];
    const { status, stderr } = command(words, { cwd: folder });
    assert.equal(status, 3);
    assert.match(stderr, /the log is run\.ndjson\n.*the report is run\.html/s);
    const html = readFileSync(path.join(folder, 'run.html'), 'utf8');
    assert.ok(dataOf(html).log.records > 4);
  });

  it('takes a default name where none is given', () => {
    const other = temporaryFolder('async-tracer-report-');
    assert.equal(command(['run', '--report', '-o', 'run.ndjson', ...program], { cwd: other }).status, 3);
    assert.deepEqual(readdirSync(other).sort(), ['async-tracer-report.html', 'run.ndjson']);
  });

  it('refuses a folder that is not there before the program runs', () => {
    const { status, stderr } = command(['run', '--report=no/where.html', ...program], { cwd: folder });
    assert.equal(status, 1);
    assert.match(stderr, /there is no folder/);
  });
});
