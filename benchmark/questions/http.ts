import { measureHttp } from '../suite/http';
import type { CostQuestion } from '../suite/question';

export const question: CostQuestion = {
  kind: 'cost',
  name: 'http',
  title: 'HTTP hello world: autocannon -c 10 -p 10, the server on one core',
  unit: 'request',
  scale: 'us',
  rows: [
    'off',
    'empty',
    'bytes',
    'traced',
    'coarse',
    'contexts',
    'trace-events',
    'sonic-boom',
    'sonic-boom-4096',
    'fs-write',
  ],
  measure: measureHttp,
};
