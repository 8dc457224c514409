import os from 'node:os';
import path from 'node:path';
import { Child } from '../suite/process';
import type { FigureQuestion } from '../suite/question';

export const question: FigureQuestion = {
  kind: 'figures',
  name: 'parts',
  title: 'Parts of the hot path, each beside what would do in its place',
  note: 'The fastest twentieth of 400 slices of 30,000 calls. "ids" is one set, one get and one delete.',
  rows: [
    'clock: ours',
    'clock: performance.now',
    'clock: Date.now',
    'encode: init',
    'encode: before',
    'encode: JSON.stringify',
    'ids: op table',
    'ids: Map',
  ],
  metrics: [{ key: 'ns', title: 'a call', unit: 'ns', better: 'less' }],
  async measure(row, setting) {
    const child = new Child({
      node: setting.node,
      args: [path.join(__dirname, '../subject/parts.js'), row],
      cwd: os.tmpdir(),
      core: setting.pins?.subject,
    });
    const figures = await child.next<{ ns: number }>();
    await child.end();
    return figures;
  },
};
