/** Which names hold secrets, where the user adds globs. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { Redaction } from '../lib/trace/context/redaction';

function pattern(glob: string): RegExp {
  return new RegExp(`^${glob.replaceAll('*', '.*').replaceAll('?', '.')}$`, 's');
}

describe('names under redact', () => {
  it('pi? stands for names of three letters, in any case', () => {
    const redaction = new Redaction(['pi?']);
    assert.deepEqual(
      ['pin', 'PIX', 'pi', 'pins', 'api?'].map((name) => redaction.isSecret(name)),
      [true, true, false, false, false],
    );
  });

  it('are those that a regular expression would find, for any glob with * and ?', () => {
    const letters = (from: string[]) =>
      fc.array(fc.constantFrom(...from), { maxLength: 8 }).map((a) => a.join(''));
    fc.assert(
      fc.property(letters(['a', 'b', '*', '?']), letters(['a', 'b', 'c']), (glob, name) => {
        fc.pre(glob !== '');
        assert.equal(new Redaction([glob]).isSecret(name), pattern(glob).test(name));
      }),
      { numRuns: 5000 },
    );
  });
});
