import type { LoopQuestion } from '../suite/question';
import { question as immediates } from './immediates';

export const question: LoopQuestion = {
  ...immediates,
  name: 'destinations',
  title:
    'Destinations, on the loop of immediates: a stream and the reader of a pipe need turns of the event loop',
  rows: ['off', 'empty', 'to-file', 'to-pipe', 'to-stream'],
};
