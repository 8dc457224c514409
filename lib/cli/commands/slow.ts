/** `async-tracer slow`: what held the event loop, and what waited. */
import type { CommandModule } from 'yargs';
import { analyzeSlow, type Callback, type OpGroup, type SlowReport, type SlowWait } from '../../analyze';
import { formatDuration } from '../../analyze/duration';
import { examples } from '../arguments/help';
import { settings } from '../arguments/settings';
import { renderFindings } from '../terminal/findings';
import { renderPreface } from '../terminal/log-summary';
import { formatCount } from '../terminal/numbers';
import { opOf, originOf } from '../terminal/place';
import type { Screen } from '../terminal/screen';
import { type Column, renderTable, type Wide } from '../terminal/table';
import { type AnswerArguments, answer, answerOptions, numberOf, usageOf } from './answer';

const TOP = 10;

const HELD: readonly Column<SlowReport['held'][number]>[] = [
  { head: 'op', align: 'left', cell: opOf },
  { head: 'callbacks', cell: (row) => formatCount(row.count) },
  { head: 'longest', cell: (row) => formatDuration(row.max) },
  { head: 'total', cell: (row) => formatDuration(row.total) },
];

const WAITING: readonly Column<SlowReport['waiting'][number]>[] = [
  { head: 'op', align: 'left', cell: opOf },
  { head: 'count', cell: (row) => formatCount(row.wait.count) },
  { head: 'p50', cell: (row) => formatDuration(row.wait.p50) },
  { head: 'p95', cell: (row) => formatDuration(row.wait.p95), spare: 1 },
  { head: 'p99', cell: (row) => formatDuration(row.wait.p99) },
  { head: 'longest', cell: (row) => formatDuration(row.wait.max) },
];

function singleColumns<Row extends Callback | SlowWait>(
  from: number | null,
  several: boolean,
): readonly Column<Row>[] {
  return [
    { head: 'op', align: 'left', cell: opOf },
    { head: 'opid', cell: (row) => String(row.opid) },
    ...(several ? [{ head: 'run', cell: (row: Row) => String(row.run), spare: 1 }] : []),
    { head: 'at', cell: (row) => (from === null ? '-' : `+${formatDuration(row.time - from)}`) },
    { head: 'took', cell: (row) => formatDuration(row.duration) },
  ];
}

function renderSlow(report: SlowReport, screen: Screen, top = TOP): string {
  const { log, callbacks, held, waits, waiting, threshold } = report;
  const from: Wide<OpGroup> = {
    head: 'from',
    cell: (row, width) => originOf(row, screen.folder, width),
  };
  const titled = (title: string, table: string): string =>
    table === '' ? '' : `${screen.colors.bold(title)}\n${table}`;
  const columns = singleColumns(log.from, log.runCount > 1);
  const parts = [
    renderPreface(log, screen),
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

interface SlowArguments extends AnswerArguments {
  threshold: string | undefined;
  top: string | undefined;
  all: boolean | undefined;
}

export const slowCommand: CommandModule<object, SlowArguments> = {
  command: 'slow [log..]',
  describe: 'callbacks that held the event loop, and the longest waits',
  builder: (yargs) =>
    answerOptions(yargs)
      .usage(
        usageOf(
          'slow',
          'Callbacks that held the event loop, and operations that waited longest for their\nfirst callback.',
        ),
      )
      .option('threshold', {
        describe: 'how long a callback must hold the loop, as in 20ms',
        defaultDescription: '50ms',
        requiresArg: true,
      })
      .option('top', {
        describe: 'rows shown of each table',
        defaultDescription: String(TOP),
        requiresArg: true,
      })
      .option('all', { describe: 'timers, servers and sockets among the waits too', type: 'boolean' })
      .epilogue(
        examples([
          ['async-tracer slow app.ndjson', 'what held the loop'],
          ['async-tracer slow --threshold 10ms app.ndjson', 'the same, stricter'],
        ]),
      ) as never,
  handler: async (given) => {
    const top = numberOf(given.top, 'top', TOP);
    const heldMs =
      given.threshold === undefined ? undefined : settings().parseDuration(given.threshold, '--threshold');
    await answer(
      given,
      (sources, options) => analyzeSlow(sources, { ...options, heldMs, top, all: given.all === true }),
      (report, screen) => renderSlow(report, screen, top),
    );
  },
};
