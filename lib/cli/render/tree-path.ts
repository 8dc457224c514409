/** The text of `async-tracer tree --op`: the causes of one operation. */
import type { PathReport, PathStep } from '../../analyze';
import { formatDuration } from '../../analyze/report/duration';
import { formatCountOf } from '../terminal/numbers';
import type { Screen } from '../terminal/screen';
import { type Column, renderTable } from '../terminal/table';
import { formatOp, formatOrigin } from './call-site';

/** A chain of promises may have ten thousand steps. Of a longer path the first step and the last ones are shown. */
const MAX_STEPS_SHOWN = 100;

function stepColumns(from: number | null): readonly Column<PathStep>[] {
  return [
    { head: 'opid', cell: ({ opid }) => String(opid) },
    { head: 'op', align: 'left', cell: formatOp },
    {
      head: 'at',
      cell: ({ time }) => (time === null || from === null ? '-' : `+${formatDuration(time - from)}`),
    },
    { head: 'wait', cell: ({ wait }) => formatDuration(wait) },
    { head: 'run', cell: ({ run }) => formatDuration(run) },
  ];
}

export function renderPath({ opid, paths, log }: PathReport, screen: Screen): string {
  return paths
    .map(({ run, steps }) => {
      const where = paths.length > 1 ? ` of run ${run}` : '';
      const left = steps.length - MAX_STEPS_SHOWN;
      const rows = left > 0 ? [steps[0], ...steps.slice(1 - MAX_STEPS_SHOWN)] : steps;
      const table = renderTable(stepColumns(log.from), rows, screen, {
        head: 'from',
        cell: (step, width) => formatOrigin(step, screen.folder, width),
      });
      const aside =
        left > 0
          ? screen.colors.dim(`${formatCountOf(left, 'step')} behind the first not shown: --json has them\n`)
          : '';
      return `${screen.colors.bold(`How operation ${opid}${where} came about, the first cause first`)}\n${table}${aside}`;
    })
    .join('\n');
}
