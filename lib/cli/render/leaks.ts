/** The text of `async-tracer leaks`. */
import { type LeakRow, type LeaksReport, parseFrame, type Verdict } from '../../analyze';
import { formatDuration } from '../../analyze/report/duration';
import { formatCount, formatCountOf } from '../terminal/numbers';
import type { Screen } from '../terminal/screen';
import { clean, wrap } from '../terminal/text';
import { formatFrame, formatOp, formatSite } from './call-site';
import { renderFindings } from './findings';
import { renderLogSummary } from './log-summary';

const TITLES: Record<Verdict, string> = {
  leak: 'Never ended',
  unsure: 'Perhaps never ended: the log cannot tell',
  kept: 'Live, and no leak',
};

export interface LeaksView {
  /** Also the rows that are no leak. */
  all: boolean;
  stacks: boolean;
}

export function renderLeaks(report: LeaksReport, screen: Screen, view: LeaksView): string {
  const { log, rows, allowed, notes } = report;
  const of = (verdict: Verdict): LeakRow[] => rows.filter((row) => row.verdict === verdict);
  const kept = of('kept').reduce((sum, row) => sum + row.count, 0);
  const { width, colors } = screen;
  const asides = [
    ...(kept > 0 && !view.all
      ? [
          `${formatCountOf(kept, 'operation')} live at the end${promisesOf(report)}, and no leak: --all shows them and why`,
        ]
      : []),
    ...(allowed > 0 ? [`${formatCountOf(allowed, 'operation')} left out by --allow`] : []),
    ...notes,
  ];
  const parts = [
    renderLogSummary(log, screen),
    ...(['leak', 'unsure', ...(view.all ? (['kept'] as const) : [])] as const).map((verdict) =>
      renderRows(TITLES[verdict], of(verdict), screen, view.stacks),
    ),
    asides.length === 0 ? '' : `${asides.map((text) => colors.dim(wrap(text, width, '  '))).join('\n')}\n`,
    renderFindings(report, 'No leaks.', screen),
  ];
  return parts.filter((part) => part !== '').join('\n');
}

/** What the number of live operations does not count. */
function promisesOf({ live, promises }: LeaksReport): string {
  if (live.promise === 0) {
    return '';
  }
  return promises.recorded
    ? ' (of promises only those that never settled are counted)'
    : ' (promises are not counted)';
}

function renderRows(title: string, rows: readonly LeakRow[], screen: Screen, stacks: boolean): string {
  if (rows.length === 0) {
    return '';
  }
  const { width, colors, folder } = screen;
  const blocks = rows.map((row) => {
    const age = `${row.atLeast ? 'at least ' : ''}${formatDuration(row.oldest)} ${row.count === 1 ? 'old' : 'the oldest'}`;
    const unref = row.unref === null || row.unref === 0 ? '' : `, ${formatCount(row.unref)} unref’d`;
    const head = `${formatCount(row.count)} ${colors.bold(formatOp(row))}, ${age}${unref}${confirmedOf(row)}`;
    const site = formatSite(row, folder, width - 4);
    const ids = `opid ${row.opids.join(', ')}${row.count > row.opids.length && row.opids.length > 0 ? ' ...' : ''}`;
    return [
      `  ${head}`,
      ...(site === '' ? [] : [`    ${colors.cyan(site)}`]),
      ...wrap(row.opids.length === 0 ? row.reason : `${row.reason}; ${ids}`, width - 4, '')
        .split('\n')
        .map((line) => `    ${colors.dim(line)}`),
      ...(stacks && row.stack !== null ? row.stack.map((text) => `      ${frameOf(text, screen)}`) : []),
    ].join('\n');
  });
  return `${colors.bold(title)}\n${blocks.join('\n')}\n`;
}

/** Whether Node listed them as active when the log ended. */
function confirmedOf({ count, confirmed }: LeakRow): string {
  if (confirmed === null) {
    return '';
  }
  return confirmed === count
    ? ', confirmed'
    : `, ${formatCount(confirmed)} of ${formatCount(count)} confirmed`;
}

function frameOf(text: string, { folder, width, colors }: Screen): string {
  const frame = parseFrame(text);
  return colors.dim(`at ${frame === undefined ? clean(text) : formatFrame(frame, folder, width - 9)}`);
}
