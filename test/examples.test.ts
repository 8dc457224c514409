import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { OperationRecord, TraceRecord } from '../lib/log/event';
import { validateLog } from './support/validate';

const EXAMPLES = path.join(__dirname, '../../examples');

/** The examples that have a test here, so that none is added without one. */
const tested = new Set<string>();

interface Run {
  stdout: string;
  stderr: string;
  /** The temporary folder that the example was given. */
  folder: string;
  /** Names of the files it left there. */
  left: string[];
}

describe('examples', () => {
  let folder: string;

  before(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'async-tracer-examples-'));
  });

  after(() => {
    rmSync(folder, { recursive: true });
  });

  /** Runs an example to its end in a new temporary folder, or in the one of an earlier run. */
  function run(file: string, again?: Run): Run {
    tested.add(file);
    const temporary = again?.folder ?? mkdtempSync(path.join(folder, `${path.basename(file)}-`));
    const { status, signal, stdout, stderr } = spawnSync(process.execPath, [path.join(EXAMPLES, file)], {
      encoding: 'utf8',
      env: { ...process.env, TMPDIR: temporary, TEMP: temporary, TMP: temporary, NODE_OPTIONS: '' },
    });
    assert.deepEqual({ status, signal }, { status: 0, signal: null }, stderr);
    return { stdout, stderr, folder: temporary, left: readdirSync(temporary).sort() };
  }

  function isOperation(record: TraceRecord): record is OperationRecord {
    return 'opid' in record;
  }

  function operations(records: TraceRecord[], op: string): OperationRecord[] {
    return records.filter(isOperation).filter((record) => record.op === op);
  }

  it('stream.js writes the trace to standard error and the program to standard output', () => {
    const { stdout, stderr, left } = run('stream.js');
    assert.equal(stdout, '50 ms are over\n');
    const timer = operations(validateLog(stderr), 'Timeout');
    assert.deepEqual(
      timer.map(({ opid, phase }) => [opid, phase]),
      ['init', 'before', 'after', 'destroy'].map((phase) => [timer[0].opid, phase]),
    );
    assert.deepEqual(left, []);
  });

  it('append.js adds a run to the file each time', () => {
    const first = run('append.js');
    const log = path.join(first.folder, 'async-tracer-append.ndjson');
    assert.equal(first.stdout, `${log} holds 1 run\n`);
    const second = run('append.js', first);
    assert.equal(second.stdout, `${log} holds 2 runs\n`);
    const records = validateLog(log);
    const ends = records.filter(({ phase }) => phase === 'start' || phase === 'end');
    assert.deepEqual(
      ends.map(({ phase }) => phase),
      ['start', 'end', 'start', 'end'],
    );
    assert.equal(operations(records, 'Immediate').filter(({ phase }) => phase === 'init').length, 2);
    assert.deepEqual(second.left, ['async-tracer-append.ndjson']);
  });

  it('prefix-suffix.js has its fields first and last in every record', () => {
    const { stdout, stderr, left } = run('prefix-suffix.js');
    const expected = { prefix: { service: 'shop', instance: 3 }, suffix: { region: 'eu' } };
    assert.deepEqual(
      validateLog(stdout, expected).map(({ phase }) => phase),
      ['init', 'before', 'after', 'destroy'],
    );
    assert.equal(stderr, '');
    assert.deepEqual(left, []);
  });

  it("stacks.js names the program's line behind each operation", () => {
    const source = readFileSync(path.join(EXAMPLES, 'stacks.js'), 'utf8').split('\n');
    const place = (call: string): string => {
      const index = source.findIndex((line) => line.includes(call));
      return `stacks.js:${index + 1}:${source[index].indexOf(call) + 1}`;
    };
    const { stdout, stderr, left } = run('stacks.js');
    const access = place('fs.access(').replace(/\d+$/, (column) => String(Number(column) + 'fs.'.length));
    assert.equal(
      stdout,
      `Timeout        askLater:${place('setTimeout(')}\nFSREQCALLBACK  Timeout.answer [as _onTimeout]:${access}\n`,
    );
    assert.equal(stderr, '');
    assert.deepEqual(left, []);
  });

  it('contexts.js shows the resource within its bounds and without its secrets', () => {
    const { stdout, stderr } = run('contexts.js');
    const records = validateLog(stdout);
    const order = { id: 7, lines: '[Array(7)]', cardNumber: '[Redacted]' };
    assert.deepEqual(
      records.map((record) => [record.phase, 'ctx' in record ? record.ctx : undefined]),
      [
        ['init', undefined],
        ['before', { order, token: '[Redacted]' }],
        ['after', { order: { ...order, done: true }, token: '[Redacted]' }],
        ['destroy', undefined],
      ],
    );
    assert.equal(stderr, '');
  });

  it('window.js traces the timers of its window alone', () => {
    const { stdout, stderr, left } = run('window.js');
    assert.equal(stdout, '2 timers began in the window, 0 records were lost\n');
    assert.equal(stderr, '');
    assert.deepEqual(left, []);
  });

  it('esm.mjs traces from an ES module', () => {
    const { stdout, stderr, left } = run('esm.mjs');
    assert.equal(stdout, 'RANDOMBYTESREQUEST, Timeout\n');
    assert.equal(stderr, '');
    assert.deepEqual(left, []);
  });

  it('worker.js writes one file a thread, each with its own operations', () => {
    const { stdout, stderr, folder: logs, left } = run('worker.js');
    assert.match(left.join(' '), /^async-tracer-(\d+)-thread-0\.ndjson async-tracer-\1-thread-1\.ndjson$/);
    const [main, worker] = left.map((file) => path.join(logs, file));
    assert.equal(stdout, `thread 1: traced, ${worker}\nthread 0: traced, ${main}\n`);
    assert.equal(stderr, '');
    const inMain = validateLog(main, { prefix: { worker: 0 } });
    const inWorker = validateLog(worker, { prefix: { worker: 1 } });
    assert.deepEqual([operations(inMain, 'WORKER').length > 0, operations(inMain, 'Timeout')], [true, []]);
    assert.deepEqual(
      operations(inWorker, 'Timeout').map(({ phase }) => phase),
      ['init', 'before'],
    );
    assert.deepEqual(operations(inWorker, 'WORKER'), []);
  });

  it('dispose.js ends the trace with the block', () => {
    const { stdout, stderr, left } = run('dispose.js');
    assert.equal(stdout, 'the log closes with phase end, reason close, 0 lost\n');
    assert.equal(stderr, '');
    assert.deepEqual(left, []);
  });

  it('demo shows what was traced, that the log is whole, and that nothing was lost', () => {
    const { stdout, stderr, folder: logs, left } = run('demo/main.js');
    const log = path.join(logs, 'async-tracer-demo.ndjson');
    const lines = stdout.split('\n');
    const counts = { init: 0, before: 0, after: 0, destroy: 0 };
    const records = validateLog(log).filter(isOperation);
    for (const { phase } of records) {
      counts[phase as keyof typeof counts]++;
    }
    const all = Object.values(counts).map((count) => count.toLocaleString('en').padStart(11));
    assert.ok(lines.includes(`${'all'.padEnd(32)}${all.join('')}`), stdout);
    assert.ok(lines.includes(`log      ${log}`), stdout);
    assert.ok(lines.includes('whole    yes: its end record counts as many records as it holds'), stdout);
    assert.ok(lines.includes('lost     0'), stdout);
    assert.ok(lines.includes(`ask it   npx async-tracer stats ${log}`), stdout);
    assert.match(stdout, /^1,000 of 1,000 requests answered over 10 connections in [\d.]+ s, exit code 0$/m);
    const begun = (op: string): number =>
      operations(records, op).filter(({ phase }) => phase === 'init').length;
    // How many system calls a file read takes is up to Node.js (3 until 24, 1 in 26), but the same for each request.
    const reads = begun('FSREQPROMISE') + begun('FSREQCALLBACK');
    assert.deepEqual([begun('TCPSERVER'), begun('TCP'), reads % 1000], [1, 10, 0]);
    assert.ok(reads > 0);
    assert.equal(stderr, '');
    assert.deepEqual(left, ['async-tracer-demo.ndjson']);
    const wide = lines.filter((line) => line.length > 80 && !line.includes(log));
    assert.deepEqual(wide, []);
  });

  it('are all run by a test', () => {
    const files = readdirSync(EXAMPLES).filter((file) => /\.(js|mjs)$/.test(file));
    assert.deepEqual([...tested].sort(), [...files, 'demo/main.js'].sort());
  });
});
