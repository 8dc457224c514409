/** Every question by name. */

import type { Question } from '../suite/question';
import { question as analyze } from './analyze';
import { question as awaits } from './await';
import { question as contexts } from './contexts';
import { question as destinations } from './destinations';
import { question as disk } from './disk';
import { question as exporting } from './export';
import { question as filters } from './filters';
import { question as files } from './fs';
import { question as growth } from './growth';
import { question as http } from './http';
import { question as immediates } from './immediates';
import { question as memory } from './memory';
import { question as options } from './options';
import { question as parts } from './parts';
import { question as soak } from './soak';
import { question as stacks } from './stacks';
import { question as startup } from './startup';
import { question as ticks } from './ticks';
import { question as timers } from './timers';

export const QUESTIONS: readonly Question[] = [
  http,
  awaits,
  ticks,
  immediates,
  timers,
  files,
  stacks,
  contexts,
  parts,
  filters,
  options,
  destinations,
  disk,
  analyze,
  exporting,
  startup,
  memory,
  growth,
  soak,
];

/** What `npm run benchmark` asks: enough for every target. */
export const MAIN: readonly string[] = ['http', 'await', 'ticks', 'stacks', 'startup', 'memory', 'growth'];

/** Throws a RangeError that lists the names where there is none of this one. */
export function questionOf(name: string): Question {
  const found = QUESTIONS.find((question) => question.name === name);
  if (found !== undefined) {
    return found;
  }
  throw new RangeError(
    `no question ${name}; there are ${QUESTIONS.map((question) => question.name).join(', ')}`,
  );
}
