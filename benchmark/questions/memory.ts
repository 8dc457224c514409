import path from 'node:path';
import type { Table, Work } from '../subject/optable';
import { Child } from '../suite/process';
import type { FigureQuestion, Figures, Setting } from '../suite/question';

const MILLION = 1_000_000;
const SHORT = 20;

const ROWS: Readonly<Record<string, readonly [Table, Work, number]>> = {
  'op table, 1M live': ['optable', 'live', MILLION],
  'op table, 10M live': ['optable', 'live', 10 * MILLION],
  'op table, 20M live': ['optable', 'live', 20 * MILLION],
  'op table, 20M, one in 16,384 lives on': ['optable', 'survivors', 20 * MILLION],
  'Map, 1M live': ['map', 'live', MILLION],
  'Map, 10M live': ['map', 'live', 10 * MILLION],
  'Map, 20M live': ['map', 'live', 20 * MILLION],
};

async function measure(row: string, setting: Setting): Promise<Figures> {
  const [table, work, operations] = ROWS[row];
  const child = new Child({
    node: setting.node,
    args: [
      path.join(__dirname, '../subject/optable.js'),
      table,
      work,
      String(setting.short ? operations / SHORT : operations),
    ],
    core: setting.pins?.subject,
    cwd: __dirname,
  });
  const figures = await child.next<Figures>();
  await child.end();
  return figures;
}

export const question: FigureQuestion = {
  kind: 'figures',
  name: 'memory',
  title: 'Memory of the table that knows the op of every live operation',
  rows: Object.keys(ROWS),
  rounds: 1,
  metrics: [
    { key: 'ownMB', title: 'own bytes', unit: 'MB', better: 'less' },
    { key: 'residentMB', title: 'growth of the process', unit: 'MB', better: 'less' },
    { key: 'setNs', title: 'set', unit: 'ns', better: 'less' },
    { key: 'getNs', title: 'get', unit: 'ns', better: 'less' },
    { key: 'deleteNs', title: 'delete', unit: 'ns', better: 'less' },
  ],
  note: 'A Map has no bytes of its own to count: its row shows the growth of the heap.',
  measure,
};
