import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { Child } from '../suite/process';
import type { FigureQuestion, Figures, Setting } from '../suite/question';

const FULL_MB = 1050;
const SHORT_MB = 20;
const SUBJECT = path.join(__dirname, '../subject');
const PACKAGE = path.join(__dirname, '../../..');

/** One log for all rows and rounds: it takes longer to make than to read. */
let made: Promise<{ file: string; bytes: number }> | undefined;

async function make(setting: Setting): Promise<{ file: string; bytes: number }> {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'async-tracer-benchmark-'));
  process.once('exit', () => fs.rmSync(folder, { recursive: true, force: true }));
  const file = path.join(folder, 'log');
  const child = new Child({
    node: setting.node,
    args: [path.join(SUBJECT, 'traffic.js'), file, String(setting.short ? SHORT_MB : FULL_MB), '0'],
    cwd: PACKAGE,
  });
  const { bytes, lost } = await child.next<{ bytes: number; lost: number }>();
  await child.end();
  if (lost > 0) {
    throw new Error(`${lost} records of the log were lost while it was made`);
  }
  return { file, bytes };
}

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
  made ??= make(setting);
  const { file, bytes } = await made;
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
