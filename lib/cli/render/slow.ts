/** The text of `async-tracer slow`. */
import type { Callback, OpGroup, SlowReport, SlowWait } from '../../analyze';
import { formatDuration } from '../../analyze/report/duration';
import { formatCount } from '../terminal/numbers';
import type { Screen } from '../terminal/screen';
import { type Column, renderTable, type WideColumn } from '../terminal/table';
import { formatOp, formatOrigin } from './call-site';
import { renderFindings } from './findings';
import { renderLogSummary } from './log-summary';

const HELD: readonly Column<SlowReport['held'][number]>[] = [
  { head: 'op', align: 'left', cell: formatOp },
  { head: 'callbacks', cell: (row) => formatCount(row.count) },
  { head: 'longest', cell: (row) => formatDuration(row.max) },
  { head: 'total', cell: (row) => formatDuration(row.total) },
];

const WAITING: readonly Column<SlowReport['waiting'][number]>[] = [
  { head: 'op', align: 'left', cell: formatOp },
  { head: 'count', cell: (row) => formatCount(row.wait.count) },
  { head: 'p50', cell: (row) => formatDuration(row.wait.p50) },
  { head: 'p95', cell: (row) => formatDuration(row.wait.p95), dropRank: 1 },
  { head: 'p99', cell: (row) => formatDuration(row.wait.p99) },
  { head: 'longest', cell: (row) => formatDuration(row.wait.max) },
];

function singleColumns<Row extends Callback | SlowWait>(
  from: number | null,
  several: boolean,
): readonly Column<Row>[] {
  return [
    { head: 'op', align: 'left', cell: formatOp },
    { head: 'opid', cell: (row) => String(row.opid) },
    ...(several ? [{ head: 'run', cell: (row: Row) => String(row.run), dropRank: 1 }] : []),
    { head: 'at', cell: (row) => (from === null ? '-' : `+${formatDuration(row.time - from)}`) },
    { head: 'took', cell: (row) => formatDuration(row.duration) },
  ];
}

export function renderSlow(report: SlowReport, screen: Screen, top: number): string {
  const { log, callbacks, held, waits, waiting, threshold } = report;
  const from: WideColumn<OpGroup> = {
    head: 'from',
    cell: (row, width) => formatOrigin(row, screen.folder, width),
  };
  const titled = (title: string, table: string): string =>
    table === '' ? '' : `${screen.colors.bold(title)}\n${table}`;
  const columns = singleColumns(log.from, log.runCount > 1);
  const parts = [
    renderLogSummary(log, screen),
    titled(
      `Callbacks that held the event loop for ${formatDuration(threshold)} or more`,
      renderTable(HELD, held.slice(0, top), screen, from),
    ),
    titled('Longest callbacks', renderTable(columns, callbacks.slice(0, top), screen, from)),
    titled('Longest waits, by call site', renderTable(WAITING, waiting.slice(0, top), screen, from)),
    titled('Longest waits', renderTable(columns, waits.slice(0, top), screen, from)),
    renderFindings(
      report,
      `No callback held the event loop for ${formatDuration(threshold)} or more.`,
      screen,
    ),
  ];
  return parts.filter((part) => part !== '').join('\n');
}
