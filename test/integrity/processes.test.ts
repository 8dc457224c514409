/** Children, clusters and threads under the preload door: a file each, whole, with ids that are unique by pid and thread. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import type { StartRecord } from '../../lib/log/event';
import { validateLog } from '../support/validate';
import { assertSame, assertWhole, inFolder, runBare, runTraced } from './program';

const REGISTER = path.join(__dirname, '../../lib/register.js');

describe('many processes and threads', { concurrency: 2 }, () => {
  for (const [scenario, logs] of [
    ['fork', 5],
    ['spawn', 6],
    ['cluster', 4],
    ['threads', 5],
  ] as const) {
    it(`${scenario}: ${logs} logs, all whole, and the program does the same`, () =>
      inFolder(async (folder) => {
        const bare = await runBare('processes.js', { args: [scenario] });
        const traced = await runBare('processes.js', {
          args: [scenario],
          env: {
            NODE_OPTIONS: `--require=${JSON.stringify(REGISTER)}`,
            ASYNC_TRACER_OUTPUT: path.join(folder, '%p-%t.ndjson'),
          },
        });
        assertSame(traced, bare);
        const files = readdirSync(folder);
        assert.equal(files.length, logs);
        const names = new Set<string>();
        for (const file of files) {
          const records = validateLog(readFileSync(path.join(folder, file), 'utf8'));
          assertWhole(records);
          const { pid, thread } = records[0] as StartRecord;
          assert.equal(file, `${pid}-${thread}.ndjson`);
          names.add(file);
          const inits = records.flatMap((record) => (record.phase === 'init' ? [record.opid] : []));
          assert.equal(new Set(inits).size, inits.length);
        }
        assert.equal(names.size, logs);
      }));
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
