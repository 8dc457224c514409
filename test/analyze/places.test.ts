import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import {
  analyzeLeaks,
  analyzeSlow,
  analyzeStats,
  analyzeTree,
  type CodeOptions,
  type OpGroup,
} from '../../lib/analyze';
import { pathOf } from '../../lib/analyze/site/path';
import { end, event, init, run, textOf } from './lines';

const own = 'open:/app/a.js:3:5';
const packaged = 'query:/app/node_modules/pg/client.js:7:1';
const deeper = 'send:/app/node_modules/pg/socket.js:9:1';
const node = 'listen:node:net:1:1';

/** By op, "file:line" of its place, behind "under" where it is an ancestor's. */
async function places(lines: string[], options?: CodeOptions): Promise<Record<string, string | null>> {
  const { ops } = await analyzeStats(textOf(lines), options);
  return Object.fromEntries(ops.map((row) => [row.op, placeOf(row)]));
}

function placeOf({ site, inherited }: Pick<OpGroup, 'site' | 'inherited'>): string | null {
  return site && `${inherited ? 'under ' : ''}${site.file}:${site.line}`;
}

describe('the place of an operation', () => {
  it('is that of the nearest ancestor that has one, over ancestors without', async () => {
    const lines = [
      init(5, 'PROMISE', 0, { stack: [own] }),
      init(6, 'TickObject', 1, { parentopid: 5, stack: [] }),
      init(7, 'FSREQPROMISE', 2, { parentopid: 6, stack: [node] }),
      init(8, 'TCP', 3, { parentopid: 7, stack: [] }),
    ];
    assert.deepEqual(await places(lines), {
      PROMISE: '/app/a.js:3',
      TickObject: 'under /app/a.js:3',
      FSREQPROMISE: 'under /app/a.js:3',
      TCP: 'under /app/a.js:3',
    });
  });

  it('is that of an ancestor that has ended', async () => {
    const lines = [
      init(5, 'PROMISE', 0, { stack: [own] }),
      event('destroy', 5, 'PROMISE', 1),
      init(6, 'TickObject', 2, { parentopid: 5, stack: [node] }),
      event('destroy', 6, 'TickObject', 3),
      init(7, 'TCP', 4, { parentopid: 6, stack: [] }),
    ];
    assert.equal((await places(lines))['TCP'], 'under /app/a.js:3');
  });

  it('is not that of an operation of another run with the same id', async () => {
    const lines = [
      init(5, 'PROMISE', 0, { stack: [own] }),
      event('destroy', 5, 'PROMISE', 1),
      init(4, 'Timeout', 2, { stack: [] }),
      init(5, 'Immediate', 2, { stack: [] }),
      init(5, 'Timeout', 2, { stack: [] }),
      init(6, 'TCP', 3, { parentopid: 3, stack: [] }),
    ];
    assert.equal((await places(lines))['TCP'], null);
  });

  it('is that of what was executing where nothing that triggered it has one', async () => {
    const lines = [
      init(5, 'Timeout', 0, { stack: [own] }),
      init(6, 'TCPSERVER', 0, { stack: [node] }),
      init(7, 'TCP', 1, { parentopid: 6, execopid: 5, stack: [] }),
    ];
    assert.equal((await places(lines))['TCP'], 'under /app/a.js:3');
  });

  it('of what fs.promises.open made is that of the request whose callback follows', async () => {
    const lines = [
      init(5, 'FSREQPROMISE', 0, { stack: ['open:node:internal/fs/promises:1:1', own] }),
      init(9, 'FILEHANDLE', 1, { parentopid: 0, stack: [] }),
      run(5, 'FSREQPROMISE', 1, 2),
      init(10, 'FILEHANDLE', 3, { parentopid: 0, stack: [] }),
      event('destroy', 5, 'FSREQPROMISE', 3),
      init(11, 'FILEHANDLE', 4, { parentopid: 0, stack: [] }),
    ];
    const { ops } = await analyzeStats(textOf(lines));
    assert.deepEqual(
      ops.filter(({ op }) => op === 'FILEHANDLE').map((row) => [row.count, placeOf(row)]),
      [
        [2, null],
        [1, 'under /app/a.js:3'],
      ],
    );
    const { paths } = await analyzeTree(textOf(lines), { op: 9 });
    assert.deepEqual(
      paths[0].steps.map(({ op, opid }) => [op, opid]),
      [
        ['FSREQPROMISE', 5],
        ['FILEHANDLE', 9],
      ],
    );
    assert.equal((await analyzeStats(textOf(lines))).log.operationRecords, 7);
  });

  it('is user code before a package, in the own stack or above; all: the nearest outside Node', async () => {
    const lines = [
      init(5, 'PROMISE', 0, { stack: [node, deeper, packaged, own] }),
      init(6, 'TCP', 1, { parentopid: 5, stack: [node, packaged] }),
      init(7, 'TickObject', 2, { parentopid: 6, stack: [node] }),
      init(8, 'Timeout', 3, { stack: [packaged] }),
      init(9, 'Immediate', 3, { parentopid: 8, stack: [node] }),
    ];
    assert.deepEqual(await places(lines), {
      PROMISE: '/app/a.js:3',
      TCP: 'under /app/a.js:3',
      TickObject: 'under /app/a.js:3',
      Timeout: '/app/node_modules/pg/client.js:7',
      Immediate: 'under /app/node_modules/pg/client.js:7',
    });
    assert.deepEqual(await places(lines, { code: 'all' }), {
      PROMISE: '/app/node_modules/pg/socket.js:9',
      TCP: '/app/node_modules/pg/client.js:7',
      TickObject: 'under /app/node_modules/pg/client.js:7',
      Timeout: '/app/node_modules/pg/client.js:7',
      Immediate: 'under /app/node_modules/pg/client.js:7',
    });
  });

  it('is the same in every answer and its findings', async () => {
    const lines = [
      init(5, 'PROMISE', 0, { stack: [own] }),
      init(6, 'PROMISE', 0, { parentopid: 5, stack: [] }),
      event('destroy', 5, 'PROMISE', 1),
      init(7, 'TCP', 2, { parentopid: 6, stack: [node] }),
      run(7, 'TCP', 10, 110),
      end(200, { reason: 'error' }),
    ];
    const place = 'under /app/a.js:3';
    const slow = await analyzeSlow(textOf(lines));
    assert.deepEqual([slow.callbacks[0], slow.held[0]].map(placeOf), [place, place]);
    assert.match(slow.findings[0].message, /^A callback of TCP under open \(\/app\/a\.js:3:5\) held/);
    const leaks = await analyzeLeaks(textOf(lines));
    assert.deepEqual(leaks.rows.map(placeOf), [place]);
    assert.match(leaks.findings[0].message, /^1 TCP under open \(\/app\/a\.js:3:5\) was never closed/);
    const { paths } = await analyzeTree(textOf(lines), { op: 7 });
    assert.deepEqual(paths[0].steps.map(placeOf), ['/app/a.js:3', place, place]);
    const { found } = await analyzeTree(textOf(lines), { root: 7 });
    assert.equal(placeOf(found[0].root), place);
  });

  it('refuses a code that is neither', async () => {
    await assert.rejects(analyzeStats(textOf([]), { code: 'package' as never }), {
      code: 'ERR_ASYNC_TRACER_OPTION',
      message: "code is package; expected 'user' or 'all'",
    });
  });
});

describe('the file of a place', () => {
  it('is a path, for ES modules too', () => {
    const cases: Record<string, string> = {
      '/app/a.js': '/app/a.js',
      'file:///app/x%20y.mjs?v=1': '/app/x y.mjs',
      'file:///C:/app/m.mjs': 'C:\\app\\m.mjs',
      'file://host/share/m.mjs': '\\\\host\\share\\m.mjs',
      'C:\\app\\a.js': 'C:\\app\\a.js',
      'node:net': 'node:net',
      'file://%': 'file://%',
      'file:///a%2Fb.mjs': 'file:///a%2Fb.mjs',
      'data:text/javascript,1': 'data:text/javascript,1',
    };
    for (const [file, expected] of Object.entries(cases)) {
      assert.equal(pathOf(file), expected);
    }
  });

  it('groups the frames of one file, whether it was imported or required', async () => {
    const lines = [
      init(5, 'TCP', 0, { stack: ['open:file:///app/a.js:3:5'] }),
      init(6, 'TCP', 1, { stack: [own] }),
    ];
    assert.deepEqual(
      (await analyzeStats(textOf(lines))).ops.map(({ count, site }) => [count, site?.file]),
      [[2, '/app/a.js']],
    );
    const report = await analyzeLeaks(textOf(lines), { allow: ['open (/app/a.js:3:5)'] });
    assert.equal(report.allowed, 2);
    const [row] = (await analyzeLeaks(textOf(lines))).rows;
    assert.deepEqual([row.count, row.stack], [2, [own]]);
  });
});

describe('file handles that a route left open', () => {
  const program = path.join(__dirname, '../../../test/fixtures/analyze/programs/file-handles.js');
  let folder: string;
  before(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'async-tracer-places-'));
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  it('are listed with the line of the route', async () => {
    const log = path.join(folder, 'log.ndjson');
    const register = path.join(__dirname, '../../lib/register.js');
    const { status, stderr } = spawnSync(process.execPath, ['-r', register, program], {
      encoding: 'utf8',
      env: {
        ...process.env,
        NODE_TEST_CONTEXT: undefined,
        ASYNC_TRACER_STACKS: 'true',
        ASYNC_TRACER_OUTPUT: log,
      },
    });
    assert.equal(status, 0, stderr);
    const source = readFileSync(program, 'utf8').split('\n');
    const line = source.findIndex((text) => text.includes('planted: file-handles')) + 1;
    const { rows } = await analyzeLeaks(log);
    assert.deepEqual(
      rows.filter(({ op }) => op === 'FILEHANDLE').map((row) => [row.verdict, row.count, placeOf(row)]),
      [['leak', 43, `under ${program}:${line}`]],
    );
  });
});
