/** The answer of `run --summary`, printed to standard error. */
import { analyzeStats } from '../../analyze';
import { renderStats } from '../render/stats';
import { printError } from '../terminal/output';
import { withProgress } from '../terminal/progress';
import { screenOf } from '../terminal/screen';

const TOP = 10;

export async function printSummary(logs: string[]): Promise<void> {
  const report = await withProgress((onProgress) => analyzeStats(logs, { onProgress }));
  printError(
    renderStats(report, screenOf(process.stderr, process.env), {
      top: TOP,
      by: 'run',
      advice: (rows) => `async-tracer stats --top ${rows} LOG`,
    }),
  );
}
