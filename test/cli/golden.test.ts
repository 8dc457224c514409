/**
 * Screens held against files. After a change that is meant: UPDATE_GOLDEN=1 node --test dist/test/cli/golden.test.js,
 * and read the difference.
 */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { widthOf } from '../../lib/cli/terminal/text';
import { OPTIONS } from '../../lib/trace/options';
import { command, FIXTURES, ROOT } from './command';

const GOLDEN = path.join(ROOT, 'test/golden');
/** Of a small server that answered one request and was ended by its client; with two lines that are no records. */
const LOG = path.join(FIXTURES, 'app.ndjson');

function isGolden(name: string, text: string): void {
  const file = path.join(GOLDEN, `${name}.txt`);
  if (process.env['UPDATE_GOLDEN'] === '1') {
    writeFileSync(file, text);
  }
  assert.equal(text, readFileSync(file, 'utf8'));
}

describe('the help', () => {
  for (const name of [
    '',
    'run',
    'stats',
    'leaks',
    'tree',
    'slow',
    'export',
    'report',
    'view',
    'completion',
  ]) {
    it(`of ${name || 'the command'} is as in its file, and fits 80 columns`, () => {
      const { status, stdout, stderr } = command([...(name === '' ? [] : [name]), '--help']);
      assert.deepEqual([status, stderr], [0, '']);
      isGolden(`help${name && `-${name}`}`, stdout);
      for (const line of stdout.split('\n')) {
        assert.ok(widthOf(line) <= 80, line);
        assert.doesNotMatch(line, /\S\[default/);
      }
    });

    it(`of ${name || 'the command'} is what help ${name} shows too`, () => {
      const words = name === '' ? [] : [name];
      assert.deepEqual(command(['help', ...words]), command([...words, '--help']));
    });
  }

  it('of run says of every option what may be given, where that is no plain yes or no', () => {
    const shown = command(['run', '--help']).stdout.replaceAll(/\s+/g, ' ');
    for (const { name, text } of OPTIONS) {
      assert.ok(text === 'true or false' || shown.includes(`(${text})`), name);
    }
    assert.match(shown, /%p stands for the process id, %t for the thread id/);
    assert.match(shown, /\.PID-THREAD before the extension/);
  });
});

describe('the answer', () => {
  const questions = [
    'stats',
    'leaks',
    'leaks --all --stacks',
    'tree',
    'tree --op 35',
    'tree --root 25',
    'slow',
  ];
  for (const words of questions) {
    for (const width of [80, 160]) {
      it(`of ${words} is as in its file, and fits ${width} columns`, () => {
        const env = { COLUMNS: String(width) };
        const { status, stdout, stderr } = command([...words.split(' '), LOG], { env });
        assert.deepEqual([status, stderr], [0, '']);
        isGolden(`${words.replaceAll(/ -*/g, '-')}-${width}`, stdout);
        for (const line of stdout.split('\n')) {
          assert.ok(widthOf(line) <= width, line);
        }
      });
    }
  }

  it('begins with what is missing from the log', () => {
    for (const name of ['stats', 'leaks', 'tree', 'slow']) {
      const [, second] = command([name, LOG]).stdout.split('\n');
      assert.equal(second, '3 lost, 2 unreadable, 0 without init', name);
    }
  });
});
