/** Children, clusters and threads under the preload door: a file each, whole, with ids that are unique by pid and thread. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import * as modules from 'node:module';
import path from 'node:path';
import { describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';
import type { StartRecord } from '../../lib/log/event';
import { validateLog } from '../support/validate';
import { assertSame, assertWhole, fixture, inFolder, type Run, runBare, runTraced } from './program';

const REGISTER = path.join(__dirname, '../../lib/register.js');
const REQUIRE = `--require=${JSON.stringify(REGISTER)}`;
const IMPORT = `--import=${pathToFileURL(REGISTER)}`;
const IMPORT_HOOKS = `--import=${pathToFileURL(fixture('modules/import.mjs'))}`;

interface Case extends Run {
  title: string;
  program: string;
  logs: number;
  skip?: boolean;
}

const CASES: Case[] = [
  { title: 'fork', program: 'processes.js', args: ['fork'], logs: 5 },
  { title: 'spawn', program: 'processes.js', args: ['spawn'], logs: 6 },
  { title: 'cluster', program: 'processes.js', args: ['cluster'], logs: 4 },
  { title: 'threads', program: 'processes.js', args: ['threads'], logs: 5 },
  {
    title: 'threads in threads, and a process in the innermost',
    program: 'processes.js',
    args: ['nested'],
    logs: 5,
  },
  { title: 'module.register', program: 'modules/main.mjs', args: ['register'], logs: 2 },
  {
    title: 'module.registerHooks',
    program: 'modules/main.mjs',
    args: ['registerHooks'],
    logs: 2,
    skip: !('registerHooks' in modules),
  },
  {
    title: 'module.register in a file of --import',
    program: 'modules/main.mjs',
    flags: [IMPORT_HOOKS],
    args: ['imported'],
    logs: 2,
  },
];

const WAYS = [
  { by: '--require', preload: REQUIRE, pattern: '%p-%t.ndjson' },
  { by: '--require', preload: REQUIRE, pattern: 'log.ndjson' },
  { by: '--import', preload: IMPORT, pattern: '%p.ndjson' },
];

describe('many processes and threads', { concurrency: 2 }, () => {
  for (const { title, program, logs, skip = false, ...run } of CASES) {
    for (const { by, preload, pattern } of WAYS) {
      it(
        `${title}, traced by ${by} into ${pattern}: ${logs} logs, all whole, and the program does the same`,
        {
          skip,
        },
        () =>
          inFolder(async (folder) => {
            const bare = await runBare(program, run);
            const traced = await runBare(program, {
              ...run,
              env: { NODE_OPTIONS: preload, ASYNC_TRACER_OUTPUT: path.join(folder, pattern) },
            });
            assertSame(traced, bare);
            assertLogs(folder, logs);
          }),
      );
    }
  }

  /** Each log is of one thread of one process, whole, and has no id twice. */
  function assertLogs(folder: string, count: number): void {
    const files = readdirSync(folder);
    assert.equal(files.length, count);
    const writers = new Set<string>();
    for (const file of files) {
      const records = validateLog(readFileSync(path.join(folder, file), 'utf8'));
      assertWhole(records);
      const { pid, thread } = records[0] as StartRecord;
      const writer = `${pid}-${thread}`;
      const names = [`${writer}`, 'log', `log.${writer}`, `${pid}`, `${pid}.${writer}`];
      assert.ok(
        names.some((name) => file === `${name}.ndjson`),
        file,
      );
      writers.add(writer);
      const inits = records.flatMap((record) => (record.phase === 'init' ? [record.opid] : []));
      assert.equal(new Set(inits).size, inits.length);
    }
    assert.equal(writers.size, count);
  }

  it('ids beyond 2^31, 2^32 and up to 2^52 are written exactly', async () => {
    const run = { flags: ['--expose-internals'] };
    const [bare, traced] = [await runBare('ids.js', run), await runTraced('ids.js', run)];
    assertSame(traced, bare);
    assertWhole(traced.records);
    for (const start of [2 ** 31 - 20, 2 ** 32 - 20, 2 ** 40, 2 ** 52]) {
      const near = traced.records.flatMap((record) =>
        record.phase === 'init' && record.op === 'FAR' && record.opid > start && record.opid <= start + 100
          ? [record.opid]
          : [],
      );
      assert.deepEqual(
        near,
        Array.from({ length: 50 }, (_, i) => start + 1 + 2 * i),
      );
    }
    const known = traced.records.filter((record) => record.phase === 'destroy' && record.op === 'FAR');
    assert.equal(known.length, 200);
  });
});
