import fs from 'node:fs';
import type { LoopQuestion } from '../suite/question';

export const question: LoopQuestion = {
  kind: 'loop',
  name: 'fs',
  title: 'Files: fs.fstat, one after the other',
  unit: 'call',
  rows: ['off', 'empty', 'traced', 'coarse', 'trace-events', 'sonic-boom', 'fs-write'],
  iterations: 100_000,
  loop(iterations) {
    const fd = fs.openSync(__filename, 'r');
    return new Promise((resolve, reject) => {
      let left = iterations;
      function next(error: Error | null): void {
        if (error === null && left-- > 0) {
          fs.fstat(fd, next);
          return;
        }
        fs.closeSync(fd);
        if (error === null) {
          resolve();
        } else {
          reject(error);
        }
      }
      next(null);
    });
  },
};
