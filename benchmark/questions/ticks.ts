import type { LoopQuestion } from '../suite/question';

export const question: LoopQuestion = {
  kind: 'loop',
  name: 'ticks',
  title: 'Ticks: process.nextTick, one after the other',
  unit: 'tick',
  rows: ['off', 'empty', 'traced', 'coarse', 'send-off', 'include-none'],
  iterations: 1_000_000,
  loop(iterations) {
    return new Promise((resolve) => {
      let left = iterations;
      function tick(): void {
        if (left-- > 0) {
          process.nextTick(tick);
        } else {
          resolve();
        }
      }
      tick();
    });
  },
};
