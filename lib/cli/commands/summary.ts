/** What `run --summary` says at the end, on standard error. */
import { analyzeStats } from '../../analyze';
import { note } from '../terminal/output';
import { startProgress } from '../terminal/progress';
import { screenOf } from '../terminal/screen';
import { renderStats } from './stats';

const TOP = 10;

export async function summarize(logs: string[]): Promise<void> {
  const progress = startProgress(process.stderr);
  let text: string;
  try {
    const report = await analyzeStats(logs, { onProgress: progress.onProgress });
    text = renderStats(report, screenOf(process.stderr, process.env), {
      top: TOP,
      by: 'run',
      advice: (rows) => `async-tracer stats --top ${rows} LOG`,
    });
  } finally {
    progress.stop();
  }
  note(text);
}
