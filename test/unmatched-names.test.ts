/** What the call prints of names in `include` and `exclude` that matched nothing. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { describe, it } from 'node:test';
import { unmatchedNames } from '../lib/trace/lifecycle/unmatched-names';
import { resolveOptions, type TracerOptions } from '../lib/trace/options';

const LIB = JSON.stringify(path.join(__dirname, '../lib/main'));

function printed(options: TracerOptions, end = ''): { status: number | null; stderr: string } {
  const program = `
    const tracer = require(${LIB})('/dev/null', ${JSON.stringify(options)});
    new (require('node:async_hooks').AsyncResource)('LOAD');
    setTimeout(() => { ${end} }, 1);`;
  const { NODE_OPTIONS: _, ASYNC_TRACER_BEGAN: __, ...env } = process.env;
  const { status, stderr } = spawnSync(process.execPath, ['-e', program], { encoding: 'utf8', env });
  return { status, stderr: stderr.replace(/\(node:\d+\) |\(Use `node.*\n/g, '') };
}

function namesIn(options: TracerOptions, ...ops: string[]): string[] {
  return unmatchedNames(resolveOptions(options), (op) => ops.includes(op));
}

describe('names that matched nothing', () => {
  for (const [end, call] of [
    ['a natural end', ''],
    ['process.exit', 'process.exit(0)'],
    ['close', 'tracer.close()'],
  ]) {
    it(`are printed once at ${end}, with the nearest known one`, () => {
      const { status, stderr } = printed({ include: ['timer', 'LOAD'], exclude: 'tick' }, call);
      assert.equal(status, 0);
      assert.deepEqual(stderr.trim().split('\n'), [
        "[ERR_ASYNC_TRACER_OPTION] AsyncTracerWarning: The option include has 'timer', which matched no operation. Is timers meant?",
        "[ERR_ASYNC_TRACER_OPTION] AsyncTracerWarning: The option exclude has 'tick', which is no op or area of Node.js. Is ticks meant?",
      ]);
    });
  }

  it('are not printed where each one matched', () => {
    assert.deepEqual(printed({ include: ['timers', 'LOAD'], exclude: 'TickObject' }), {
      status: 0,
      stderr: '',
    });
  });

  it('are those that are no op or area of Node.js, and that no operation had', () => {
    assert.deepEqual(namesIn({ include: ['fs', 'FSREQCALLBACK', 'MINE', /^timer$/] }, 'MINE', 'timer'), []);
    assert.deepEqual(namesIn({ include: ['OTHER'] }, 'MINE'), [
      "The option include has 'OTHER', which matched no operation.",
    ]);
  });

  it('of exclude are printed where a known name is near', () => {
    assert.deepEqual(namesIn({ exclude: ['somethingElse', 'promise'] }), [
      "The option exclude has 'promise', which is no op or area of Node.js. Is PROMISE meant?",
    ]);
  });

  it('are no globs', () => {
    assert.deepEqual(namesIn({ include: ['LO*', 'L?AD'] }), []);
  });
});
