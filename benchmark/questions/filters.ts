import type { LoopQuestion } from '../suite/question';
import { question as ticks } from './ticks';

export const question: LoopQuestion = {
  ...ticks,
  name: 'filters',
  title: 'Filters, on the loop of ticks',
  rows: ['off', 'empty', 'traced', 'include-one', 'include-none', 'send-off'],
};
