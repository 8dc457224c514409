import fs from 'node:fs';
import path from 'node:path';
import { Child } from '../suite/process';
import type { FigureQuestion, Figures, Setting } from '../suite/question';
import { inFolder } from '../suite/subject';

const EMPTY = 'empty module';
/** The modules behind the rows; the empty one is made for the measurement. */
const MODULES: Readonly<Record<string, string>> = {
  'async-tracer': 'async-tracer',
  'async-tracer/register': 'async-tracer/register',
  'sonic-boom alone': 'sonic-boom',
};
const PACKAGE = path.join(__dirname, '../../..');

async function measure(row: string, setting: Setting): Promise<Figures> {
  return inFolder(async (folder) => {
    const empty = path.join(folder, 'empty.js');
    fs.writeFileSync(empty, '');
    const child = new Child({
      node: setting.node,
      args: [path.join(__dirname, '../subject/startup.js'), row === EMPTY ? empty : MODULES[row], PACKAGE],
      env: { ASYNC_TRACER_OUTPUT: path.join(folder, '%p.ndjson') },
      core: setting.pins?.subject,
      cwd: PACKAGE,
    });
    const figures = await child.next<Figures>();
    await child.end();
    return figures;
  });
}

export const question: FigureQuestion = {
  kind: 'figures',
  name: 'startup',
  title: 'Start-up: the first require, in a fresh process',
  note: 'What `register` loads begins a trace to a file, too.',
  rows: [EMPTY, ...Object.keys(MODULES)],
  metrics: [
    { key: 'ms', title: 'require', unit: 'ms', better: 'less' },
    { key: 'files', title: 'files', unit: '', better: 'less' },
    { key: 'bytes', title: 'source', unit: 'bytes', better: 'less' },
    { key: 'foreign', title: 'of ours beyond trace/, log/ and the entry points', unit: '', better: 'less' },
  ],
  measure,
};
