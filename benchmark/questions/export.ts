import path from 'node:path';
import { EXPORT_FORMATS } from '../../lib/export';
import { Child } from '../suite/process';
import type { FigureQuestion, Figures, Setting } from '../suite/question';
import { trafficLog } from '../suite/trafficlog';

async function measure(row: string, setting: Setting): Promise<Figures> {
  const { file, bytes } = await trafficLog(setting);
  const child = new Child({
    node: setting.node,
    args: [path.join(__dirname, '../subject/export.js'), row, file],
    core: setting.pins?.subject,
    cwd: path.join(__dirname, '../../..'),
  });
  const { records, seconds, rssMb, written } = await child.next<{
    records: number;
    seconds: number;
    rssMb: number;
    written: number;
  }>();
  await child.end();
  return { recordsPerSecond: records / seconds, rssMb, fileMb: written / 1e6, logMb: bytes / 1e6 };
}

export const question: FigureQuestion = {
  kind: 'figures',
  name: 'export',
  title: 'Exporting a log of real traced load, reading included, on one core',
  note: 'Records a second of CPU time; memory at its peak, Node.js itself included.',
  rows: EXPORT_FORMATS,
  rounds: 3,
  metrics: [
    { key: 'recordsPerSecond', title: 'records', unit: '/s', better: 'more' },
    { key: 'rssMb', title: 'memory', unit: 'MB', better: 'less' },
    { key: 'fileMb', title: 'file', unit: 'MB', better: 'less' },
    { key: 'logMb', title: 'log', unit: 'MB', better: 'more' },
  ],
  measure,
};
