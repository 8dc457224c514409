/** `async-tracer stats`: what ran. */
import type { CommandModule } from 'yargs';
import { analyzeStats, type StatsReport, type StatsRow } from '../../analyze';
import { formatDuration } from '../../analyze/duration';
import { TracerError } from '../../errors';
import { examples } from '../arguments/help';
import { settings } from '../arguments/settings';
import { renderFindings } from '../terminal/findings';
import { renderPreface } from '../terminal/log-summary';
import { formatCount, formatCountOf, formatShare } from '../terminal/numbers';
import { opOf, originOf } from '../terminal/place';
import type { Screen } from '../terminal/screen';
import { type Column, renderTable } from '../terminal/table';
import { wrap } from '../terminal/text';
import { type AnswerArguments, answer, answerOptions, numberOf, usageOf } from './answer';

const TOP = 20;

const ORDERS = {
  run: (row: StatsRow) => row.run.total,
  wait: (row: StatsRow) => row.wait.max ?? -1,
  count: (row: StatsRow) => row.count,
  live: (row: StatsRow) => row.live ?? -1,
};
type Order = keyof typeof ORDERS;

const COLUMNS: readonly Column<StatsRow>[] = [
  { head: 'op', align: 'left', cell: opOf },
  { head: 'count', cell: (row) => formatCount(row.count) },
  { head: 'live', cell: (row) => formatCount(row.live) },
  { head: 'wait p50', cell: (row) => formatDuration(row.wait.p50), spare: 1 },
  { head: 'p95', cell: (row) => formatDuration(row.wait.p95), spare: 3 },
  { head: 'p99', cell: (row) => formatDuration(row.wait.p99), spare: 2 },
  { head: 'wait max', cell: (row) => formatDuration(row.wait.max) },
  { head: 'run p99', cell: (row) => formatDuration(row.run.p99), spare: 1 },
  { head: 'max', cell: (row) => formatDuration(row.run.max), spare: 2 },
  { head: 'run total', cell: (row) => formatDuration(row.run.total) },
  { head: 'share', cell: (row) => formatShare(row.run.share) },
];

const AREA_COLUMNS: readonly Column<StatsReport['areas'][number]>[] = [
  { head: 'area', align: 'left', cell: ({ area }) => area ?? '?' },
  { head: 'count', cell: (row) => formatCount(row.count) },
  { head: 'live', cell: (row) => formatCount(row.live) },
  { head: 'callbacks', cell: (row) => formatCount(row.run.count) },
  { head: 'run total', cell: (row) => formatDuration(row.run.total) },
  { head: 'share', cell: (row) => formatShare(row.run.share) },
];

interface StatsView {
  top: number;
  by: Order;
  /** With which words all rows are shown. */
  advice?: (rows: number) => string;
}

export function renderStats(
  report: StatsReport,
  screen: Screen,
  { top, by, advice = (rows) => `--top ${rows}` }: StatsView = { top: TOP, by: 'run' },
): string {
  const order = ORDERS[by];
  const rows = [...report.ops].sort((a, b) => order(b) - order(a));
  const left = rows.length - top;
  const parts = [
    renderPreface(report.log, screen),
    renderTable(COLUMNS, rows.slice(0, top), screen, {
      head: 'from',
      cell: (row, width) => originOf(row, screen.folder, width),
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
      : `; the longest of them took ${formatDuration(longest.duration)}: ${[opOf(longest), originOf(longest, folder)].join(' ').trimEnd()}`;
  return `${wrap(`Callbacks ran for ${formatDuration(busy)}, ${formatShare(share)} of the time${most}`, width, '  ')}\n`;
}

function orderOf(given: string | undefined): Order {
  const by = given ?? 'run';
  if (!Object.hasOwn(ORDERS, by)) {
    throw new TracerError(
      'ERR_ASYNC_TRACER_USAGE',
      `--sort must be run, wait, count or live; got ${JSON.stringify(by)}.`,
    );
  }
  return by as Order;
}

interface StatsArguments extends AnswerArguments {
  sort: string | undefined;
  threshold: string | undefined;
  top: string | undefined;
}

export const statsCommand: CommandModule<object, StatsArguments> = {
  command: 'stats [log..]',
  describe: 'what ran: counts, waits and run times by op and call site',
  builder: (yargs) =>
    answerOptions(yargs)
      .usage(
        usageOf(
          'stats',
          'What ran, by op and call site: how many, how long they waited for their first\ncallback, how long their callbacks ran, and what is worth a look.',
        ),
      )
      .option('sort', {
        describe: 'order of the rows: run, wait, count or live',
        defaultDescription: 'run',
        requiresArg: true,
      })
      .option('threshold', {
        describe: 'from when on a callback is said to hold the loop, as in 20ms',
        defaultDescription: '50ms',
        requiresArg: true,
      })
      .option('top', { describe: 'rows shown', defaultDescription: String(TOP), requiresArg: true })
      .epilogue(
        examples([
          ['async-tracer stats app.ndjson', 'what took the time'],
          ['async-tracer stats --sort wait *.ndjson.gz', 'what waited longest'],
          ['zcat log.gz | async-tracer stats --json -', 'for other programs'],
        ]),
      ) as never,
  handler: async (given) => {
    const by = orderOf(given.sort);
    const top = numberOf(given.top, 'top', TOP);
    const heldMs =
      given.threshold === undefined ? undefined : settings().parseDuration(given.threshold, '--threshold');
    await answer(
      given,
      (sources, options) => analyzeStats(sources, { ...options, heldMs }),
      (report, screen) => renderStats(report, screen, { top, by }),
    );
  },
};
