/** Awaits many times and reports the growth of the memory. argv is the iterations of the first and of the second part. */

import v8 from 'node:v8';
import vm from 'node:vm';
import { question } from '../questions/await';
import { finish, mark } from './meter';

v8.setFlagsFromString('--expose-gc');
const collect = vm.runInNewContext('gc') as () => void;

/** Megabytes of the heap and of buffers beside it, after a collection and the destroys that follow it. */
async function memoryMB(): Promise<number> {
  collect();
  await new Promise((resolve) => setImmediate(resolve));
  collect();
  const { heapUsed, external } = process.memoryUsage();
  return (heapUsed + external) / 1e6;
}

async function run(first: number, second: number): Promise<void> {
  await question.loop(first);
  const before = await memoryMB();
  const begin = await mark();
  await question.loop(second);
  const after = await memoryMB();
  const end = await mark();
  await finish({ begin, end, beforeMB: before, growthMB: after - before });
}

void run(Number(process.argv[2]), Number(process.argv[3]));
