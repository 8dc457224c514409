import type { Run } from '../model/run';
import type { Finding } from '../report/finding';
import type { LogReport } from '../report/log';
import { count } from './wording';

/**
 * A `lost` record holds how many records are missing and where, not why. Where the header says that the run waits for
 * its destination, a slow destination was not the reason.
 */
export function lostFindings(log: LogReport, runs: readonly Run[]): Finding[] {
  if (log.lost === 0) {
    return [];
  }
  const affected = runs.filter((run) => run.lost > 0);
  const waited = affected.every((run) => run.start?.options?.['overflow'] === 'block');
  const why = waited
    ? "With overflow 'block' none is dropped because its destination is slow; a full disk or a reader that is gone refuses them."
    : "The log does not tell why: a slow destination drops them (raise maxBuffer, set overflow to 'block', or write to a file), a full disk or a reader that is gone refuses them.";
  return [
    {
      code: 'records-lost',
      severity: 'error',
      message: `${count(log.lost, 'record is', 'records are')} missing from the log, so counts may be too low. ${why}`,
      evidence: { lost: log.lost, runs: affected.map((run) => run.index) },
    },
  ];
}
