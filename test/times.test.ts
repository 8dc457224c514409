import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, it } from 'node:test';

const SANDWICH = path.join(__dirname, '../../test/fixtures/times/sandwich.js');
const LIB = path.join(__dirname, '../lib');

describe('the time of a record', () => {
  it('lies between those of the listeners before and behind ours, but for ticks that Node calls one after the other', () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'async-tracer-times-'));
    try {
      const { status, stdout, stderr } = spawnSync(
        process.execPath,
        ['--expose-gc', SANDWICH, LIB, path.join(folder, 'a.ndjson')],
        { encoding: 'utf8' },
      );
      assert.deepEqual([status, stderr], [0, '']);
      const { records, shared, wrong } = JSON.parse(stdout);
      assert.deepEqual(wrong, []);
      // As many as the program's own words ask for, at least: 40,000 resources, 50 ticks that share.
      assert.ok(records > 80_000, `${records} records`);
      assert.ok(shared > 50, `${shared} shared`);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
