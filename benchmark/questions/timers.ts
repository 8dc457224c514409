import type { LoopQuestion } from '../suite/question';

/** Due together, so that the millisecond which a timer takes at least is waited for once a batch. */
const BATCH = 1000;

function batch(size: number): Promise<void> {
  return new Promise((resolve) => {
    let left = size;
    for (let i = 0; i < size; i++) {
      setTimeout(() => {
        left--;
        if (left === 0) {
          resolve();
        }
      }, 1);
    }
  });
}

export const question: LoopQuestion = {
  kind: 'loop',
  name: 'timers',
  title: 'Timers: setTimeout of 1 ms, 1000 at once',
  unit: 'timer',
  rows: ['off', 'empty', 'traced', 'coarse', 'trace-events', 'sonic-boom', 'fs-write'],
  iterations: 500_000,
  async loop(iterations) {
    for (let done = 0; done < iterations; done += BATCH) {
      await batch(Math.min(BATCH, iterations - done));
    }
  },
};
