/** Answers one question about a log and reports the cost. argv is the command, the path, and an id for tree. */

import { analyzeLeaks, analyzeSlow, analyzeStats, analyzeTree } from '../../lib/analyze';
import { report } from './report';

const [, , command, log, id] = process.argv;

let records = 0;
const onProgress = (progress: { records: number }): void => {
  records = progress.records;
};

async function answer(): Promise<void> {
  switch (command) {
    case 'stats':
      await analyzeStats(log, { onProgress });
      return;
    case 'leaks':
      await analyzeLeaks(log, { onProgress });
      return;
    case 'slow':
      await analyzeSlow(log, { onProgress });
      return;
    case 'tree --op':
      await analyzeTree(log, { onProgress, op: Number(id) });
      return;
    default:
      throw new RangeError(`no command ${command}`);
  }
}

void answer().then(() => {
  const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage();
  report({ records, seconds: (userCPUTime + systemCPUTime) / 1e6, rssMb: maxRSS / 1024 });
});
