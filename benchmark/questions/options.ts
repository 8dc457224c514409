import type { CostQuestion } from '../suite/question';
import { question as http } from './http';

export const question: CostQuestion = {
  ...http,
  name: 'options',
  title: 'What the options cost, on the HTTP server',
  rows: [
    'off',
    'empty',
    'traced',
    'coarse',
    'chunk-64',
    'stacks-10',
    'stacks-all',
    'contexts',
    'no-promise-destroy',
    'no-promises',
    'include-one',
    'send-off',
  ],
};
