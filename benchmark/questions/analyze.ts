import fs from 'node:fs';
import path from 'node:path';
import { Child } from '../suite/process';
import type { FigureQuestion, Figures, Setting } from '../suite/question';
import { trafficLog } from '../suite/trafficlog';

const SUBJECT = path.join(__dirname, '../subject');
const PACKAGE = path.join(__dirname, '../../..');

/** An operation from the middle of the log. */
function someId(file: string, bytes: number): number {
  const fd = fs.openSync(file, 'r');
  const block = Buffer.alloc(4096);
  fs.readSync(fd, block, 0, block.length, Math.floor(bytes / 2));
  fs.closeSync(fd);
  const [, id] = /"opid":(\d+),"op":"[^"]+","phase":"init"/.exec(block.toString()) ?? [];
  return Number(id ?? 10);
}

async function measure(row: string, setting: Setting): Promise<Figures> {
  const { file, bytes } = await trafficLog(setting);
  const child = new Child({
    node: setting.node,
    args: [path.join(SUBJECT, 'answer.js'), row, file, String(someId(file, bytes))],
    core: setting.pins?.subject,
    cwd: PACKAGE,
  });
  const { records, seconds, rssMb } = await child.next<{ records: number; seconds: number; rssMb: number }>();
  await child.end();
  return { recordsPerSecond: records / seconds, rssMb, logMb: bytes / 1e6 };
}

export const question: FigureQuestion = {
  kind: 'figures',
  name: 'analyze',
  title: 'Reading a log of real traced load, analysis included, on one core',
  note: 'Records a second of CPU time; memory at its peak, Node.js itself included.',
  rows: ['stats', 'leaks', 'slow', 'tree --op'],
  rounds: 3,
  metrics: [
    { key: 'recordsPerSecond', title: 'records', unit: '/s', better: 'more' },
    { key: 'rssMb', title: 'memory', unit: 'MB', better: 'less' },
    { key: 'logMb', title: 'log', unit: 'MB', better: 'more' },
  ],
  measure,
};
