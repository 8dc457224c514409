import type { LogCounts, LogReport } from '../report/log';
import { round } from './percentiles';
import type { Run } from './run';

/** Longer lists of runs than this are cut in reports. */
export const MAX_RUNS_LISTED = 1000;

/** The part of every answer that says which log it is about. */
export function logReport(
  counts: LogCounts,
  runs: readonly Run[],
  { withoutInit, unpaired }: { withoutInit: number; unpaired: number },
): LogReport {
  const timed = runs.filter((run) => !Number.isNaN(run.from));
  const isTimed = timed.length > 0;
  return {
    ...counts,
    from: isTimed ? timed.reduce((from, run) => Math.min(from, run.from), Number.POSITIVE_INFINITY) : null,
    to: isTimed ? timed.reduce((to, run) => Math.max(to, run.to), Number.NEGATIVE_INFINITY) : null,
    elapsed: round(elapsedOf(runs)),
    operationRecords: runs.reduce((sum, run) => sum + run.records, 0),
    withoutInit,
    forgotten: runs.reduce((sum, run) => sum + run.forgotten, 0),
    unpaired,
    runs: runs.slice(0, MAX_RUNS_LISTED).map((run) => run.report()),
    runCount: runs.length,
  };
}

/** The time that all runs took together. */
export function elapsedOf(runs: readonly Run[]): number {
  return runs.reduce((sum, run) => sum + (run.to - run.from || 0), 0);
}
