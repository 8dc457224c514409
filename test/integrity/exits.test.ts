/** What is left for the end of a process, where a reader stops, a stream throws, or a thread is not to be had. */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import type { TracerOptions } from '../../lib/trace/options';
import type { TracerStats } from '../../lib/trace/tracer/tracer';
import { validateLog } from '../support/validate';
import { assertWhole, countPhases, fixture, inFolder } from './program';

const PRELOAD = fixture('preload.js');
const WAITS = fixture('waits.js');

interface Result {
  code: number;
  stderr: string;
  stats: TracerStats;
  waitedMs: number;
  log: string;
}

/**
 * Runs a program whose log goes to a pipe. Its reader begins when the file `cue` is there: `code` is, once the program has
 * ended. One that hangs is killed, and ends with 137.
 */
function run(program: string, arg: string, cue: string, options: TracerOptions): Promise<Result> {
  return inFolder(async (folder) => {
    const { NODE_OPTIONS: _options, NODE_TEST_CONTEXT: _context, ...env } = process.env;
    const [log, stats] = [path.join(folder, 'log'), path.join(folder, 'stats')];
    const node = `timeout -s KILL 40 '${process.execPath}' -r '${WAITS}' -r '${PRELOAD}' '${fixture(program)}' ${arg}`;
    const script = `{ ${node} 3>&1 >&2; echo $? > "$FOLDER/code"; } |
      { while [ ! -e "$FOLDER/code" ] && [ ! -e "$FOLDER/${cue}" ]; do sleep 0.1; done; cat > "$LOG"; }`;
    const stderr = await new Promise<string>((resolve, reject) => {
      const child = spawn('/bin/sh', ['-c', script], {
        env: {
          ...env,
          FOLDER: folder,
          LOG: log,
          INTEGRITY: JSON.stringify({ target: 3, options, stats }),
        },
        stdio: ['ignore', 'ignore', 'pipe'],
      });
      let text = '';
      child.stderr.setEncoding('utf8').on('data', (more) => {
        text += more;
      });
      child.once('error', reject);
      child.once('close', () => resolve(text));
    });
    return {
      code: Number(readFileSync(path.join(folder, 'code'), 'utf8')),
      stderr,
      waitedMs: Number(readFileSync(path.join(folder, 'waited'), 'utf8')),
      stats: JSON.parse(readFileSync(stats, 'utf8') || 'null'),
      log: readFileSync(log, 'utf8'),
    };
  });
}

function total(counts: Record<string, number>): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}

/** The operation records of whole lines; half a line may stand at the end. */
function recordsIn(log: string): number {
  return total(countPhases(validateLog(log.slice(0, log.lastIndexOf('\n') + 1))));
}

/** The sum of the sleeps that were asked for, so that it does not depend on the machine. */
function assertWaitedOnce(waitedMs: number): void {
  assert.ok(waitedMs >= 2000 && waitedMs < 2100, String(waitedMs));
}

function assertCounted({ code, stderr, stats, waitedMs, log }: Result): void {
  assert.equal(code, 0, stderr);
  assertWaitedOnce(waitedMs);
  assert.ok(stats.lost > 0);
  assert.equal(recordsIn(log) + stats.lost, total(stats.events));
}

describe('what is left for the exit', { concurrency: 2 }, () => {
  const BLOCK = { maxBuffer: 100_000, overflow: 'block' } as const;

  for (const [ending, what] of [
    ['exit', 'process.exit with a chunk half full'],
    ['listener', 'an exit listener before the tracer’s own that fills chunks'],
  ]) {
    it(`a reader that has stopped and overflow 'block', ${what}: it ends, and what is lost is counted`, async () => {
      const result = await run('stopped-reader.js', ending, 'code', BLOCK);
      assertCounted(result);
      assert.match(result.stderr, /its reader did not take it in time/);
    });
  }

  for (const options of [BLOCK, { maxBuffer: 250_000 }]) {
    it(`a reader that has stopped and ${JSON.stringify(options)}: an uncaught error waits for it once`, async () => {
      const result = await run('stopped-reader.js', 'throw', 'code', options);
      assertCounted({ ...result, code: result.code - 1 });
    });
  }

  it("a reader that has stopped and overflow 'block': flushSync returns, and nothing is lost by it", async () => {
    const { code, waitedMs } = await run('stopped-reader.js', 'flushSync', 'code', BLOCK);
    assert.equal(code, 0);
    assertWaitedOnce(waitedMs);
  });

  it("a reader that has stopped and overflow 'block': disable returns, and nothing is lost by it", async () => {
    const { code, stderr, waitedMs } = await run('stopped-reader.js', 'disable', 'code', BLOCK);
    assert.deepEqual([code, stderr], [0, 'returned\n']);
    assertWaitedOnce(waitedMs);
  });

  it("a reader that has stopped and overflow 'block': flush resolves while tracing goes on, and what is lost is counted", async () => {
    const result = await run('stopped-reader.js', 'flush', 'code', BLOCK);
    assert.match(result.stderr, /^returned\n.*^resolved$/ms);
    assertCounted(result);
  });

  it("a reader that has stopped and overflow 'block': close resolves, and what is lost is counted", async () => {
    const result = await run('stopped-reader.js', 'close', 'code', BLOCK);
    assert.match(result.stderr, /^returned\n.*^resolved$/ms);
    assertCounted(result);
  });

  it("a reader that has stopped and overflow 'block': dispose returns, and what is lost is counted", async () => {
    assertCounted(await run('stopped-reader.js', 'dispose', 'code', BLOCK));
  });

  it('a reader that reads on takes what exit listeners behind the tracer’s own make', async () => {
    const { code, stderr, log } = await run('late-records.js', '', 'late', { header: true });
    assert.deepEqual([code, stderr], [0, '']);
    const records = validateLog(log);
    assertWhole(records);
    assert.equal(records.filter((record) => 'op' in record && record.op === 'LATE').length, 300);
  });

  it('methods that the program has replaced are not called from inside a hook', async () => {
    const result = await run('stopped-reader.js', 'patched', 'code', { maxBuffer: 100_000 });
    assertCounted(result);
    assert.match(result.stderr, /^called: $/m);
  });

  it('a reader that goes away within a chunk: the writes that it took are not counted as lost', () =>
    inFolder(async (folder) => {
      const fifo = path.join(folder, 'fifo');
      spawnSync('mkfifo', [fifo]);
      const { stdout, stderr } = node([fixture('leaving-reader.js'), fifo]);
      assert.match(stderr, /EPIPE/);
      const { made, lost, lines } = JSON.parse(stdout);
      assert.ok(lines > 0);
      assert.equal(lines + lost, made);
    }));

  it('a tracer whose stream throws does not keep another one from its end', () =>
    inFolder(async (folder) => {
      const log = path.join(folder, 'log.ndjson');
      const { status, stderr } = node([fixture('throwing-stream.js'), log]);
      assert.deepEqual([status, stderr], [0, '']);
      assertWhole(validateLog(readFileSync(log, 'utf8')));
    }));

  it('the coarse clock needs no thread: where none is permitted, times are precise', () =>
    inFolder(async (folder) => {
      const log = path.join(folder, 'log.ndjson');
      const isStable = process.allowedNodeEnvironmentFlags.has('--permission');
      const flag = isStable ? '--permission' : '--experimental-permission';
      const from = Date.now();
      const { status, stderr } = node([
        '--no-warnings',
        flag,
        '--allow-fs-read=*',
        '--allow-fs-write=*',
        fixture('coarse.js'),
        log,
      ]);
      assert.deepEqual([status, stderr], [0, '']);
      const records = validateLog(readFileSync(log, 'utf8'));
      assert.equal(assertWhole(records).counts.init, 5);
      for (const { time } of records) {
        assert.ok(time >= from - 1000 && time <= Date.now() + 1000, String(time));
      }
    }));
});

function node(args: string[]) {
  const {
    NODE_OPTIONS: _options,
    NODE_TEST_CONTEXT: _context,
    NODE_V8_COVERAGE: _coverage,
    ...env
  } = process.env;
  return spawnSync(process.execPath, args, { encoding: 'utf8', env, timeout: 60_000, killSignal: 'SIGKILL' });
}
