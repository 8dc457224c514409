/** How long a reader that does not move is waited for. */
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import type * as Patience from '../../lib/trace/destination/wait';
import { retryUntil } from '../../lib/trace/destination/wait';
import { loadAnew } from '../support/modules';
import { runAsOwnTagged } from './fixture';

describe('destination: patience', () => {
  it('goes on while something moves, and gives up at once where nothing may be waited for', () => {
    const states = ['moved', 'moved', 'stuck', 'done'] as const;
    let steps = 0;
    assert.equal(
      retryUntil(() => states[steps++], 0),
      false,
    );
    assert.equal(steps, 3);
  });

  it('begins its wait anew with each move', () => {
    const states = ['stuck', 'moved', 'stuck', 'done'] as const;
    let steps = 0;
    assert.equal(
      retryUntil(() => states[steps++], 1),
      true,
    );
    assert.equal(steps, 4);
  });

  /** The waiting of a flush, by a clock whose timers come at once. */
  function impatient(context: TestContext) {
    const waits: number[] = [];
    const { mock } = context.mock.method(globalThis, 'setTimeout', (work: () => void, ms: number) => {
      waits.push(ms);
      setImmediate(work);
    });
    const { whenDrained } = loadAnew<typeof Patience>('trace/destination/wait');
    mock.restore();
    return { whenDrained, waits };
  }

  it('a flush gives up after 10 seconds in which nothing moved', async (context) => {
    const { whenDrained, waits } = impatient(context);
    assert.equal(await whenDrained(() => 5, runAsOwnTagged), false);
    assert.deepEqual([waits.length, new Set(waits)], [1000, new Set([10])]);
  });

  it('a flush that moves begins its 10 seconds anew', async (context) => {
    const { whenDrained, waits } = impatient(context);
    // Asked once before the first wait.
    let asked = 0;
    const held = () => {
      asked++;
      return asked > 901 ? 1 : 2;
    };
    assert.equal(await whenDrained(held, runAsOwnTagged), false);
    assert.equal(waits.length, 1901);
  });

  it('a flush is over when nothing is held', async (context) => {
    const { whenDrained, waits } = impatient(context);
    let held = 3;
    assert.equal(await whenDrained(() => held--, runAsOwnTagged), true);
    assert.equal(waits.length, 3);
    assert.equal(await whenDrained(() => 0, runAsOwnTagged), true);
    assert.equal(waits.length, 3);
  });
});
