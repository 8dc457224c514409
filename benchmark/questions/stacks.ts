import { setImmediate } from 'node:timers/promises';
import type { LoopQuestion } from '../suite/question';

const DEPTH = 24;
/** As many ways down, each with its own places of call: a program has many stacks and meets them again. */
const WAYS = 64;
const BATCH = 1000;

function nothing(): void {}

function left(depth: number, way: number): void {
  if (depth === 0) {
    process.nextTick(nothing);
  } else if (way & (1 << (depth % 6))) {
    left(depth - 1, way);
  } else {
    right(depth - 1, way);
  }
}

function right(depth: number, way: number): void {
  if (depth === 0) {
    process.nextTick(nothing);
  } else if (way & (1 << (depth % 6))) {
    right(depth - 1, way);
  } else {
    left(depth - 1, way);
  }
}

export const question: LoopQuestion = {
  kind: 'loop',
  name: 'stacks',
  title: `Stacks: ticks begun ${DEPTH} calls deep, on ${WAYS} ways`,
  unit: 'stack',
  rows: ['off', 'empty', 'traced', 'stacks-10', 'stacks-all'],
  iterations: 100_000,
  async loop(iterations) {
    for (let i = 0; i < iterations; i++) {
      left(DEPTH, i % WAYS);
      if (i % BATCH === 0) {
        await setImmediate();
      }
    }
  },
};
