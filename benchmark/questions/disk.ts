import path from 'node:path';
import { measureLoop } from '../suite/loop';
import { Child } from '../suite/process';
import type { FigureQuestion, Figures, Setting } from '../suite/question';
import { inFolder } from '../suite/subject';
import { question as ticks } from './ticks';

const RAW = 'writeSync of 256 KiB';

/** The floor: chunks of the same size without a trace in them. */
function raw(setting: Setting): Promise<Figures> {
  return inFolder(async (folder) => {
    const child = new Child({
      node: setting.node,
      args: [
        path.join(__dirname, '../subject/rawwrite.js'),
        path.join(folder, 'log'),
        setting.short ? '64' : '2048',
      ],
      core: setting.pins?.subject,
      cwd: folder,
    });
    const { bytes, seconds } = await child.next<{ bytes: number; seconds: number }>();
    await child.end();
    return { mbPerSecond: bytes / seconds / 1e6 };
  });
}

async function traced(row: string, setting: Setting): Promise<Figures> {
  const { rate, units, events, records, bytes } = await measureLoop(ticks, row, setting);
  const seconds = units / rate;
  const written = units * events;
  return { mbPerSecond: ((bytes / records) * written) / seconds / 1e6, recordsPerSecond: written / seconds };
}

export const question: FigureQuestion = {
  kind: 'figures',
  name: 'disk',
  title: 'Rate of writing, on the loop of ticks',
  rows: [RAW, 'traced', 'coarse', 'sonic-boom', 'sonic-boom-4096', 'fs-write'],
  metrics: [
    { key: 'mbPerSecond', title: 'written', unit: 'MB/s', better: 'more' },
    { key: 'recordsPerSecond', title: 'records', unit: '/s', better: 'more' },
  ],
  note: 'Into the page cache of the folder for temporary files; nobody waits for the disk.',
  measure: (row, setting) => (row === RAW ? raw(setting) : traced(row, setting)),
};
