import path from 'node:path';
import { Child } from '../suite/process';
import type { FigureQuestion, Figures, Setting } from '../suite/question';
import { inFolder } from '../suite/subject';

/** The tracer's options of each row; none for the bare program. */
const ROWS: Readonly<Record<string, string>> = {
  off: '',
  traced: '{}',
  'no-promise-destroy': '{"promiseDestroy":false}',
  'no-promises': '{"promises":false}',
};
const SECONDS = 30;
const SHORT_SECONDS = 1;
const SAMPLES = 24;
/** For the start, the last collections and the end of the log. */
const SLACK_MS = 60_000;

async function measure(row: string, setting: Setting): Promise<Figures> {
  const seconds = setting.seconds ?? (setting.short ? SHORT_SECONDS : SECONDS);
  return inFolder(async (folder) => {
    const child = new Child({
      node: setting.node,
      args: [
        path.join(__dirname, '../subject/soak.js'),
        ROWS[row],
        path.join(folder, 'log'),
        String(seconds),
        String(SAMPLES),
      ],
      core: setting.pins?.subject,
      cwd: folder,
      timeoutMs: seconds * 1000 + SLACK_MS,
    });
    const figures = await child.next<Figures>();
    await child.end();
    if (figures.lost > 0) {
      throw new Error(`${figures.lost} records were lost`);
    }
    return figures;
  });
}

export const question: FigureQuestion = {
  kind: 'figures',
  name: 'soak',
  title: 'Memory at full load for long: promises, ticks, timers, files and resources',
  rows: Object.keys(ROWS),
  rounds: 1,
  metrics: [
    { key: 'firstMB', title: 'used after a quarter', unit: 'MB', better: 'less' },
    { key: 'lastMB', title: 'at the end', unit: 'MB', better: 'less' },
    { key: 'usedSlope', title: 'slope', unit: 'MB/min', better: 'less' },
    { key: 'residentMB', title: 'resident', unit: 'MB', better: 'less' },
    { key: 'residentSlope', title: 'slope', unit: 'MB/min', better: 'less' },
    { key: 'events', title: 'events', unit: 'M', better: 'more' },
    { key: 'live', title: 'live', unit: '', better: 'less' },
  ],
  note: 'Used: heap and typed arrays after collections. --seconds sets how long each row runs; 30 by default.',
  measure,
};
