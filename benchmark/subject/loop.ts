/** Runs one loop in a process of its own: argv is the module of the question, warm-up and measured iterations. */

import type { LoopQuestion } from '../suite/question';
import { finish, type Mark, mark } from './meter';

export interface LoopReport {
  begin: Mark;
  end: Mark;
}

async function run(module: string, warmUp: number, iterations: number): Promise<void> {
  const { question } = require(module) as { question: LoopQuestion };
  await question.loop(warmUp);
  const begin = await mark();
  await question.loop(iterations);
  const end = await mark();
  await finish({ begin, end } satisfies LoopReport);
}

void run(process.argv[2], Number(process.argv[3]), Number(process.argv[4]));
