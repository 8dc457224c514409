/** The text of `async-tracer stats`, and of `run --summary`. */
import type { StatsReport, StatsRow } from '../../analyze';
import { formatDuration } from '../../analyze/report/duration';
import { formatCount, formatCountOf, formatShare } from '../terminal/numbers';
import type { Screen } from '../terminal/screen';
import { type Column, renderTable } from '../terminal/table';
import { clean, wrap } from '../terminal/text';
import { formatOp, formatOrigin } from './call-site';
import { renderFindings } from './findings';
import { renderLogSummary } from './log-summary';

export const ORDERS = {
  run: (row: StatsRow) => row.run.total,
  wait: (row: StatsRow) => row.wait.max ?? -1,
  count: (row: StatsRow) => row.count,
  live: (row: StatsRow) => row.live ?? -1,
};
export type Order = keyof typeof ORDERS;

const COLUMNS: readonly Column<StatsRow>[] = [
  { head: 'op', align: 'left', cell: formatOp },
  { head: 'count', cell: (row) => formatCount(row.count) },
  { head: 'live', cell: (row) => formatCount(row.live) },
  { head: 'wait p50', cell: (row) => formatDuration(row.wait.p50), dropRank: 1 },
  { head: 'p95', cell: (row) => formatDuration(row.wait.p95), dropRank: 3 },
  { head: 'p99', cell: (row) => formatDuration(row.wait.p99), dropRank: 2 },
  { head: 'wait max', cell: (row) => formatDuration(row.wait.max) },
  { head: 'run p99', cell: (row) => formatDuration(row.run.p99), dropRank: 1 },
  { head: 'max', cell: (row) => formatDuration(row.run.max), dropRank: 2 },
  { head: 'run total', cell: (row) => formatDuration(row.run.total) },
  { head: 'share', cell: (row) => formatShare(row.run.share) },
];

const AREA_COLUMNS: readonly Column<StatsReport['areas'][number]>[] = [
  { head: 'area', align: 'left', cell: ({ area }) => (area === null ? '?' : clean(area)) },
  { head: 'count', cell: (row) => formatCount(row.count) },
  { head: 'live', cell: (row) => formatCount(row.live) },
  { head: 'callbacks', cell: (row) => formatCount(row.run.count) },
  { head: 'run total', cell: (row) => formatDuration(row.run.total) },
  { head: 'share', cell: (row) => formatShare(row.run.share) },
];

export interface StatsView {
  top: number;
  by: Order;
  /** The flag or the command that shows all rows. */
  advice?: (rows: number) => string;
}

export function renderStats(
  report: StatsReport,
  screen: Screen,
  { top, by, advice = (rows) => `--top ${rows}` }: StatsView,
): string {
  const order = ORDERS[by];
  const rows = [...report.ops].sort((a, b) => order(b) - order(a));
  const left = rows.length - top;
  const parts = [
    renderLogSummary(report.log, screen),
    renderTable(COLUMNS, rows.slice(0, top), screen, {
      head: 'from',
      cell: (row, width) => formatOrigin(row, screen.folder, width),
    }) +
      (left > 0 ? screen.colors.dim(`and ${formatCountOf(left, 'row')} more: ${advice(rows.length)}\n`) : ''),
    renderTable(AREA_COLUMNS, report.areas, screen),
    renderLoop(report.loop, screen),
    renderFindings(report, 'No findings.', screen),
  ];
  return parts.filter((part) => part !== '').join('\n');
}

function renderLoop({ busy, share, longest }: StatsReport['loop'], { width, folder }: Screen): string {
  const most =
    longest === null
      ? ''
      : `; the longest of them took ${formatDuration(longest.duration)}: ${[formatOp(longest), formatOrigin(longest, folder)].join(' ').trimEnd()}`;
  return `${wrap(`Callbacks ran for ${formatDuration(busy)}, ${formatShare(share)} of the time${most}`, width, '  ')}\n`;
}
