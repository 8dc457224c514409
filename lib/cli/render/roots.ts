/** The text of `async-tracer tree --roots`, and the table of requests of `tree --root`. */
import type { Root, RootKind, RootsReport } from '../../analyze';
import { formatDuration } from '../../analyze/report/duration';
import { formatCount, formatCountOf, formatShare } from '../terminal/numbers';
import type { Screen } from '../terminal/screen';
import { type Column, renderTable } from '../terminal/table';
import { wrap } from '../terminal/text';
import { formatOp, formatSite } from './call-site';
import { nothingFound, renderLogSummary } from './log-summary';

/** No record of the main script is in a log, so it has no op. */
const MAIN = 1;

const KIND_COLUMNS: readonly Column<RootKind>[] = [
  { head: 'op', align: 'left', cell: (row) => (row.op === null ? '-' : formatOp(row)) },
  { head: 'count', cell: (row) => formatCount(row.count) },
  { head: 'p50', cell: (row) => formatDuration(row.elapsed.p50) },
  { head: 'p95', cell: (row) => formatDuration(row.elapsed.p95), dropRank: 2 },
  { head: 'p99', cell: (row) => formatDuration(row.elapsed.p99) },
  { head: 'longest', cell: (row) => formatDuration(row.elapsed.max) },
  { head: 'ran p99', cell: (row) => formatDuration(row.ran.p99), dropRank: 3 },
  { head: 'queued p99', cell: (row) => formatDuration(row.queued.p99), dropRank: 3 },
  { head: 'waited p99', cell: (row) => formatDuration(row.waited.p99), dropRank: 3 },
  { head: 'operations', cell: (row) => formatCount(row.operations), dropRank: 1 },
];

function shareOf(part: number, { elapsed }: Root): string {
  return elapsed > 0 ? formatShare(part / elapsed) : '-';
}

/** What is known of each root but its op and call site. */
function figures(from: number | null, several: boolean): readonly Column<Root>[] {
  return [
    { head: 'request', cell: ({ request }) => (request === null ? '-' : formatCount(request)) },
    ...(several ? [{ head: 'run', cell: (row: Root) => String(row.run), dropRank: 1 }] : []),
    {
      head: 'at',
      cell: ({ time }) => (from === null ? '-' : `+${formatDuration(time - from)}`),
      dropRank: 2,
    },
    { head: 'time', cell: (row) => formatDuration(row.elapsed) },
    { head: 'ran', cell: (row) => shareOf(row.ran, row) },
    { head: 'queued', cell: (row) => shareOf(row.queued, row) },
    { head: 'waited', cell: (row) => shareOf(row.waited, row) },
    { head: 'operations', cell: (row) => formatCount(row.operations), dropRank: 3 },
  ];
}

/** The requests of one operation. */
export function renderRequests(requests: readonly Root[], from: number | null, screen: Screen): string {
  return renderTable(figures(from, false), requests, screen);
}

/** Where the root comes from; the main script and what began before the trace have no call site. */
function originOf(row: Root | RootKind, folder: string, width: number): string {
  if (row.op !== null) {
    return formatSite(row, folder, width);
  }
  return row.opid === MAIN ? '(the main script)' : '(started before the trace)';
}

export function renderRoots(report: RootsReport, screen: Screen, top: number): string {
  const { log, kinds, roots, count, folded } = report;
  const { folder, colors, width } = screen;
  const left = count - roots.length;
  const kindsLeft = kinds.length - top;
  const more = (number: number, noun: string, all: number) =>
    number > 0 ? colors.dim(`and ${formatCountOf(number, noun)} more: --top ${all}\n`) : '';
  const asides = [
    'ran: one of its operations ran; queued: something else did; waited: nothing ran',
    ...(folded > 0 ? [`${formatCountOf(folded, 'root')} more counted only, to bound memory`] : []),
    ...(roots.some(({ request }) => request !== null)
      ? ['opid and request: --root OPID --request N shows what one request started']
      : []),
  ];
  const parts =
    count === 0
      ? [renderLogSummary(log, screen), `${wrap(nothingFound('No operations.', log), width, '  ')}\n`]
      : [
          renderLogSummary(log, screen),
          renderTable(KIND_COLUMNS, kinds.slice(0, top), screen, {
            head: 'from',
            cell: (row, room) => originOf(row, folder, room),
          }) + more(kindsLeft, 'kind', kinds.length),
          renderTable(
            [
              { head: 'op', align: 'left', cell: (row) => (row.op === null ? '-' : formatOp(row)) },
              { head: 'opid', cell: ({ opid }) => String(opid) },
              ...figures(log.from, log.runCount > 1),
            ],
            roots,
            screen,
            { head: 'from', cell: (row, room) => originOf(row, folder, room) },
          ) + more(left, 'root', count),
          `${asides.map((text) => colors.dim(wrap(text, width, '  '))).join('\n')}\n`,
        ];
  return parts.join('\n');
}
