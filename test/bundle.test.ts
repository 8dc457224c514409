/** What the step behind tsc refuses, before it writes anything. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, describe, it } from 'node:test';

const ROOT = path.join(__dirname, '../..');

describe('the bundle', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'async-tracer-bundle-'));
  const trace = path.join(folder, 'dist/lib/trace');
  mkdirSync(path.join(folder, '.build'));
  mkdirSync(path.join(trace, 'options'), { recursive: true });
  copyFileSync(path.join(ROOT, '.build/bundle.mjs'), path.join(folder, '.build/bundle.mjs'));
  symlinkSync(path.join(ROOT, 'node_modules'), path.join(folder, 'node_modules'));
  after(() => rmSync(folder, { recursive: true }));

  /** What it says of this as index.js. */
  function refusalOf(entry: string): string | undefined {
    const file = path.join(trace, 'index.js');
    writeFileSync(file, entry);
    const script = path.join(folder, '.build/bundle.mjs');
    const { status, stderr } = spawnSync(process.execPath, [script], { encoding: 'utf8' });
    assert.deepEqual([status, readFileSync(file, 'utf8')], [1, entry]);
    return /^Error: (.*)$/m.exec(stderr)?.[1];
  }

  it('is not made of itself', () => {
    const bundled = readFileSync(path.join(ROOT, 'dist/lib/trace/index.js'), 'utf8');
    assert.equal(refusalOf(bundled), `${path.join(trace, 'index.js')} is bundled already: run tsc first`);
  });

  it('takes no module that asks for __filename, which would be another one there', () => {
    const file = path.join(trace, 'options/table.js');
    writeFileSync(file, 'exports.place = __filename;\n');
    assert.equal(
      refusalOf('"use strict";\nconst table = require("./options/table");\n'),
      `${file} has __filename, which in the bundle would be that of ${path.join(trace, 'index.js')}`,
    );
  });

  it('names no module to be loaded soon that nothing requires', () => {
    const file = path.join(trace, 'destination/file.js');
    assert.equal(
      refusalOf('"use strict";\n'),
      `nothing requires ${file}: SOON must name what register loads`,
    );
  });
});
