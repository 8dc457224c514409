/** Pipes, sockets, devices and full disks, with real readers that are slow, stop or go away. */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { describe, it } from 'node:test';
import type { EndRecord, TraceRecord } from '../../lib/log/event';
import type { TracerOptions } from '../../lib/trace/options';
import type { TracerStats } from '../../lib/trace/tracer/tracer';
import { validateLog } from '../support/validate';
import { assertWhole, countPhases, fixture, inFolder } from './program';

const PRELOAD = fixture('preload.js');

interface Result {
  code: number | null;
  stdout: string;
  stderr: string;
  stats: TracerStats;
  /** What the reader got. */
  log: string;
}

/**
 * Runs load.js with its log on descriptor 3, put there by `redirection` of a shell; LOG is a file in the test's folder.
 *
 * @param reader what a shell runs to read the log, in a pipeline; none where the redirection needs none
 */
function run(
  redirection: string,
  options: TracerOptions = {},
  { reader = '', target = 3 as number | string, args = [] as string[], limit = '', program = 'load.js' } = {},
): Promise<Result> {
  return inFolder(async (folder) => {
    const log = path.join(folder, 'log.ndjson');
    const stats = path.join(folder, 'stats.json');
    const plan = { target: target === 'LOG' ? log : target, options: { header: true, ...options }, stats };
    const node = [process.execPath, '-r', PRELOAD, fixture(program), ...args]
      .map((arg) => `'${arg}'`)
      .join(' ');
    // In a shell of its own: it would keep what it redirects open.
    const writer = `{ ${limit} (exec ${node} ${redirection}); echo $? > "$FOLDER/code"; }`;
    const script = reader === '' ? writer : `${writer} 3>&1 >"$FOLDER/out" | { ${reader}; }`;
    const { stdout, stderr } = await shell(script, {
      FOLDER: folder,
      LOG: log,
      INTEGRITY: JSON.stringify(plan),
    });
    const read = (file: string): string => {
      try {
        return readFileSync(path.join(folder, file), 'utf8');
      } catch {
        return '';
      }
    };
    return {
      code: Number(read('code')),
      stdout: stdout + read('out'),
      stderr: stderr.replace(/\(node:\d+\)/g, '(node:PID)'),
      stats: JSON.parse(read('stats.json')),
      log: read('log.ndjson'),
    };
  });
}

function shell(script: string, env: NodeJS.ProcessEnv): Promise<{ stdout: string; stderr: string }> {
  const { NODE_OPTIONS: _options, NODE_TEST_CONTEXT: _context, ...own } = process.env;
  return new Promise((resolve, reject) => {
    const child = spawn('/bin/sh', ['-c', script], {
      env: { ...own, ...env },
      timeout: 120_000,
    });
    let [stdout, stderr] = ['', ''];
    child.stdout.on('data', (text) => {
      stdout += text;
    });
    child.stderr.on('data', (text) => {
      stderr += text;
    });
    child.once('error', reject);
    child.once('close', () => resolve({ stdout, stderr }));
  });
}

function total(counts: Record<string, number>): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}

/** The program was not hurt. */
function assertUnharmed({ code, stdout }: Result): void {
  assert.deepEqual({ code, stdout }, { code: 0, stdout: 'done\n' });
}

function assertComplete(result: Result): TraceRecord[] {
  assertUnharmed(result);
  assert.equal(result.stderr, '');
  const records = validateLog(result.log);
  const end = records.at(-1) as EndRecord;
  assert.equal(end.phase, 'end');
  assert.deepEqual({ counts: countPhases(records), lost: 0 }, { counts: end.counts, lost: end.lost });
  assert.ok(end.counts.init >= 25_000);
  return records;
}

function assertOneWarning({ stderr }: Result, reason: RegExp): void {
  const lines = stderr
    .trimEnd()
    .split('\n')
    .filter((line) => !line.includes('--trace-warnings'));
  assert.equal(lines.length, 1, stderr);
  assert.match(
    lines[0],
    /^\(node:PID\) \[ERR_ASYNC_TRACER_WRITE\] AsyncTracerWarning: async-tracer cannot write the log: /,
  );
  assert.match(lines[0], reason);
}

/** Whole lines, but for the last where the reader went away. */
function wholeLines(log: string): TraceRecord[] {
  return validateLog(log.slice(0, log.lastIndexOf('\n') + 1));
}

describe('pipes and devices', { concurrency: 2 }, () => {
  it('a pipe at full speed takes every record', async () => {
    assertComplete(await run('', {}, { reader: 'cat > "$LOG"' }));
  });

  it('a pipe with a slow reader takes every record', async () => {
    const reader = `'${process.execPath}' '${fixture('slow-reader.js')}' > "$LOG"`;
    assertComplete(await run('', {}, { reader }));
  });

  it("a pipe with a slow reader and overflow 'block' takes every record whatever maxBuffer", async () => {
    const reader = `'${process.execPath}' '${fixture('slow-reader.js')}' > "$LOG"`;
    assertComplete(await run('', { maxBuffer: 65536, overflow: 'block' }, { reader }));
  });

  it("a pipe with a slow reader and overflow 'drop' loses what it says it lost, where it says so", async () => {
    const reader = `'${process.execPath}' '${fixture('slow-reader.js')}' > "$LOG"`;
    const result = await run('', { maxBuffer: 65536 }, { reader });
    assertUnharmed(result);
    assertOneWarning(result, /its reader does not keep up/);
    const records = validateLog(result.log);
    const end = records.at(-1) as EndRecord;
    const lost = records.reduce((sum, record) => sum + (record.phase === 'lost' ? record.count : 0), 0);
    assert.ok(lost > 0);
    assert.equal(end.lost, lost);
    assert.equal(total(countPhases(records)) + lost, total(end.counts));
  });

  it('a pipe whose reader stops for ever: the program ends 2 seconds later, with one warning', async () => {
    const result = await run(
      '',
      {},
      { reader: 'head -c 1000 > "$LOG"; while [ ! -s "$FOLDER/code" ]; do sleep 0.05; done' },
    );
    assertUnharmed(result);
    assertOneWarning(result, /its reader did not take it in time/);
  });

  it('a pipe whose reader goes away: one warning, and the program goes on', async () => {
    const result = await run('', {}, { reader: 'head -c 100000 > "$LOG"' });
    assertUnharmed(result);
    assertOneWarning(result, /EPIPE.*tracing has stopped/);
    assert.ok(wholeLines(result.log).length > 100);
  });

  it('a pipe that several processes and their loggers share: no line is torn, and each log is whole', () =>
    inFolder(async (folder) => {
      const names = ['first', 'second', 'third'];
      const node = (...args: string[]): string =>
        [process.execPath, ...args].map((arg) => `'${arg}'`).join(' ');
      const writers = names.map((name) => `${node(fixture('shared.js'), name)} &`).join(' ');
      const file = path.join(folder, 'all');
      const { stderr } = await shell(`{ ${writers} wait; } | ${node(fixture('slow-reader.js'))} > "$ALL"`, {
        ALL: file,
      });
      assert.equal(stderr, '');
      const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
      const told = new Map(names.map((name) => [name, { records: [] as string[], logged: [] as string[] }]));
      for (const line of lines) {
        const { name, msg } = JSON.parse(line) as { name: string; msg?: string };
        const { records, logged } = told.get(name) as { records: string[]; logged: string[] };
        if (msg === undefined) records.push(line);
        else logged.push(msg);
      }
      for (const [name, { records, logged }] of told) {
        assertWhole(validateLog(`${records.join('\n')}\n`, { prefix: { name } }));
        assert.deepEqual(
          logged,
          Array.from({ length: 30 }, (_, i) => `turn ${i}`),
        );
      }
    }));

  it('a blocking pipe is left blocking: it is another one that is written', async () => {
    const result = await run('', {}, { reader: 'cat > "$LOG"', program: 'blocking.js' });
    assert.deepEqual(
      { code: result.code, stdout: result.stdout, stderr: result.stderr },
      { code: 0, stdout: 'blocks\n', stderr: '' },
    );
  });

  it('a pipe that the program closes: its reader sees the end at once', async () => {
    const limit = 'mkfifo "$FOLDER/f"; { cat "$FOLDER/f" > "$LOG"; echo closed > "$FOLDER/closed"; } &';
    const result = await run('3>"$FOLDER/f"', { flushInterval: 20 }, { limit, program: 'closing.js' });
    assert.deepEqual(
      { code: result.code, stdout: result.stdout },
      { code: 0, stdout: 'its reader has gone\n' },
    );
    assertOneWarning(result, /descriptor 3 was closed; tracing has stopped/);
  });

  it('a socket whose number the program gives to a file: what is held never comes into that file', async () => {
    await inFolder(async (folder) => {
      const file = path.join(folder, 'file');
      const child = spawn(process.execPath, [fixture('reused.js'), file], {
        stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
      });
      (child.stdio[3] as Readable).pause();
      let stdout = '';
      child.stdout?.on('data', (text) => {
        stdout += text;
      });
      await new Promise((resolve) => child.stdout?.once('end', resolve));
      assert.deepEqual(JSON.parse(stdout), { fd: 3, size: 0, lost: true, taken: true });
      child.stdio[3]?.destroy();
    });
  });

  it("a pipe of another user's whose reader has stopped does not hold the program", async (context) => {
    if (process.getuid?.() !== 0) {
      context.skip('only root can become another user');
      return;
    }
    await inFolder(async (folder) => {
      const writer = `'${process.execPath}' '${fixture('other-user.js')}' 3>&1 >"$FOLDER/out"; echo $? > "$FOLDER/code"`;
      const reader = 'while [ ! -s "$FOLDER/code" ]; do sleep 0.05; done';
      await shell(`{ ${writer}; } | { ${reader}; }`, { FOLDER: folder });
      const read = (file: string): string => readFileSync(path.join(folder, file), 'utf8');
      assert.deepEqual([read('out'), read('code')], ['EACCES true\n', '0\n']);
    });
  });

  for (const kind of ['stream', 'descriptor'] as const) {
    it(`process.exit with a socket whose queue is full, as ${kind}: what its reader did not take is counted`, async () => {
      const child = spawn(process.execPath, [fixture('full-socket.js'), kind], {
        stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
        timeout: 60_000,
        killSignal: 'SIGKILL',
      });
      let [stdout, stderr, log] = ['', '', ''];
      child.stdout?.on('data', (text) => {
        stdout += text;
      });
      child.stderr?.on('data', (text) => {
        stderr += text;
      });
      // Until the child has ended: then Node lets all of its streams go on.
      (child.stdio[3] as Readable)
        .setEncoding('utf8')
        .on('data', (text) => {
          log += text;
        })
        .pause();
      const code = await new Promise((resolve) => child.once('close', resolve));
      assert.equal(code, 5);
      assert.match(stderr, /its reader did not take it in time/);
      const { events, lost } = JSON.parse(stdout) as TracerStats;
      assert.ok(lost > 0);
      assert.equal(wholeLines(log).length + lost, total(events));
    });
  }

  it('a socket that blocks and whose reader has stopped does not hold a worker, and outlives it', async () => {
    const child = spawn(process.execPath, [fixture('worker-socket.js')], {
      stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
      timeout: 60_000,
      killSignal: 'SIGKILL',
    });
    (child.stdio[3] as Readable).pause();
    let [stdout, stderr] = ['', ''];
    child.stdout?.on('data', (text) => {
      stdout += text;
    });
    child.stderr?.on('data', (text) => {
      stderr += text;
    });
    await new Promise((resolve) => child.stdout?.once('end', resolve));
    child.stdio[3]?.destroy();
    const { code, isOpen, stats } = JSON.parse(stdout) as {
      code: number;
      isOpen: boolean;
      stats: TracerStats;
    };
    assert.deepEqual({ code, isOpen, made: total(stats.events) }, { code: 0, isOpen: true, made: 50_000 });
    assert.ok(stats.lost > 0);
    assert.match(stderr, /its reader does not keep up, and maxBuffer is reached/);
  });

  for (const [name, redirection, target] of [
    ['/dev/null as path', '', '/dev/null'],
    ['/dev/null as descriptor', '3>/dev/null', 3],
  ] as const) {
    it(`${name}: nothing is lost, nothing is said`, async () => {
      const result = await run(redirection, {}, { target });
      assertUnharmed(result);
      assert.equal(result.stderr, '');
      assert.equal(result.stats.lost, 0);
    });
  }

  for (const [name, redirection, target] of [
    ['/dev/full as path', '', '/dev/full'],
    ['/dev/full as descriptor', '3>/dev/full', 3],
  ] as const) {
    it(`${name}: all is lost and counted, with one warning`, async () => {
      const result = await run(redirection, {}, { target });
      assertUnharmed(result);
      assertOneWarning(result, /ENOSPC/);
      assert.ok(result.stats.lost > 0.9 * total(result.stats.events));
    });
  }

  it('standard output on /dev/full: the program meets its own error as it does bare', async () => {
    const bare = await shell(`'${process.execPath}' '${fixture('load.js')}' >/dev/full; echo $?`, {});
    const traced = await run('>/dev/full', {}, { target: 1 });
    assert.equal(traced.code, Number(bare.stdout));
  });

  it('a FIFO takes every record', () =>
    inFolder(async (folder) => {
      const fifo = path.join(folder, 'fifo');
      spawnSync('mkfifo', [fifo]);
      const reader = spawn('cat', [fifo]);
      const chunks: Buffer[] = [];
      reader.stdout.on('data', (chunk) => chunks.push(chunk));
      const ended = new Promise((resolve) => reader.once('close', resolve));
      // A FIFO that nobody has open for reading cannot be opened: this end stands in until `cat` is there.
      const holder = openSync(fifo, 'r+');
      const result = await run('', {}, { target: fifo });
      closeSync(holder);
      await ended;
      assertComplete({ ...result, log: Buffer.concat(chunks).toString() });
    }));

  it('a file that may not grow any more: it ends with a whole line, and what is lost is counted', async () => {
    const result = await run('', {}, { target: 'LOG', limit: 'ulimit -f 2000;' });
    assertUnharmed(result);
    assertOneWarning(result, /EFBIG/);
    const records = validateLog(result.log);
    assert.equal(total(countPhases(records)) + result.stats.lost, total(result.stats.events));
  });

  it('a disk that is full: it ends with a whole line, and what is lost is counted', async (context) => {
    const result = await onSmallDisk(() => undefined);
    if (result === undefined) {
      context.skip('no file system may be mounted here');
      return;
    }
    assertUnharmed(result);
    assertOneWarning(result, /ENOSPC/);
    const records = validateLog(result.log);
    assert.equal(total(countPhases(records)) + result.stats.lost, total(result.stats.events));
  });

  it('a disk that is full and has room again: the log goes on, with a lost record where some are missing', async (context) => {
    const result = await onSmallDisk((folder) => path.join(folder, 'filler'));
    if (result === undefined) {
      context.skip('no file system may be mounted here');
      return;
    }
    assertUnharmed(result);
    const records = validateLog(result.log);
    const end = records.at(-1) as EndRecord;
    const lost = records.reduce((sum, record) => sum + (record.phase === 'lost' ? record.count : 0), 0);
    assert.ok(lost > 0);
    assert.equal(end.lost, lost);
    assert.equal(total(countPhases(records)) + lost, total(end.counts));
  });
});

/** Runs load.js with its log on a disk of 16 MB, 15 of which are taken by a file that the program may remove half way. */
function onSmallDisk(removed: (folder: string) => string | undefined): Promise<Result | undefined> {
  return inFolder(async (folder) => {
    const disk = path.join(folder, 'disk');
    mkdirSync(disk);
    if (spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=16m', 'tmpfs', disk]).status !== 0) return undefined;
    try {
      writeFileSync(path.join(disk, 'filler'), Buffer.alloc(15 * 1024 * 1024));
      const target = path.join(disk, 'log.ndjson');
      const args = ['50', '500', removed(disk) ?? ''];
      const result = await run('', {}, { target, args });
      return { ...result, log: readFileSync(target, 'utf8') };
    } finally {
      spawnSync('umount', ['-l', disk]);
    }
  });
}
