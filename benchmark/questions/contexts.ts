import type { CostQuestion } from '../suite/question';
import { question as http } from './http';

export const question: CostQuestion = {
  ...http,
  name: 'contexts',
  title: 'Contexts, on the HTTP server',
  rows: ['off', 'empty', 'traced', 'contexts'],
};
