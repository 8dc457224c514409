/** An option with a slip of the pen is refused, not passed over. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  analyzeLeaks,
  analyzeRoots,
  analyzeSlow,
  analyzeStats,
  analyzeTree,
  readLog,
} from '../../lib/analyze';
import { init, textOf } from './lines';

const source = () => textOf([init(5, 'TCP', 1)]);

const analyses: [string, (options: object) => unknown, string][] = [
  ['readLog', (options) => readLog(source(), options), 'onProgress'],
  [
    'analyzeStats',
    (options) => analyzeStats(source(), options),
    'heldMs, starvedMs, fanOut, growth, code, onProgress',
  ],
  [
    'analyzeSlow',
    (options) => analyzeSlow(source(), options),
    'heldMs, starvedMs, top, all, code, onProgress',
  ],
  ['analyzeLeaks', (options) => analyzeLeaks(source(), options), 'allow, minAge, code, onProgress'],
  ['analyzeRoots', (options) => analyzeRoots(source(), options), 'by, sort, top, code, onProgress'],
  ['analyzeTree', (options) => analyzeTree(source(), options), 'by, op, root, request, code, onProgress'],
];

describe('the options of', () => {
  for (const [name, analyze, known] of analyses) {
    const called = async (options: unknown) => analyze(options as object);

    it(`${name} are those that it knows, and an unknown one is named`, async () => {
      await assert.rejects(called({ threshold: 5 }), {
        code: 'ERR_ASYNC_TRACER_UNKNOWN_OPTION',
        message: `${name} has no option "threshold"; it knows ${known}`,
      });
    });

    it(`${name} are an object, and onProgress a function`, async () => {
      const cases: [unknown, string][] = [
        [null, `the options of ${name} are null; expected an object`],
        [['a'], `the options of ${name} are an array; expected an object`],
        [5, `the options of ${name} are a number; expected an object`],
        [{ onProgress: 'x' }, 'onProgress is x; expected a function'],
      ];
      for (const [options, message] of cases) {
        await assert.rejects(called(options), { code: 'ERR_ASYNC_TRACER_OPTION', message });
      }
    });

    it(`${name} may be undefined, all and each`, async () => {
      await called(undefined);
      await called(Object.fromEntries(known.split(', ').map((option) => [option, undefined])));
    });
  }

  it('analyzeSlow are of their types', async () => {
    await assert.rejects(analyzeSlow(source(), { all: 'yes' as never }), {
      code: 'ERR_ASYNC_TRACER_OPTION',
      message: 'all is yes; expected true or false',
    });
  });
});
