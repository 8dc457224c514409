import type { LoopQuestion } from '../suite/question';

export const question: LoopQuestion = {
  kind: 'loop',
  name: 'immediates',
  title: 'Immediates: setImmediate, one a turn of the event loop',
  unit: 'turn',
  rows: ['off', 'empty', 'traced', 'coarse', 'trace-events', 'sonic-boom', 'fs-write'],
  iterations: 500_000,
  loop(iterations) {
    return new Promise((resolve) => {
      let left = iterations;
      function turn(): void {
        if (left-- > 0) {
          setImmediate(turn);
        } else {
          resolve();
        }
      }
      turn();
    });
  },
};
