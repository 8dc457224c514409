import type { LoopQuestion } from '../suite/question';

async function nothing(): Promise<void> {}

export const question: LoopQuestion = {
  kind: 'loop',
  name: 'await',
  title: 'Await loop: `await` of an async function that does nothing',
  unit: 'iteration',
  rows: [
    'off',
    'empty',
    'empty-3',
    'traced',
    'coarse',
    'no-promise-destroy',
    'no-promises',
    'trace-events',
    'sonic-boom',
    'fs-write',
  ],
  iterations: 500_000,
  async loop(iterations) {
    for (let i = 0; i < iterations; i++) {
      await nothing();
    }
  },
};
