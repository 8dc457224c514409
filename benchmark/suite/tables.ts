/** Results as tables for people. */

import Table from 'cli-table3';
import { nsAnEvent, rateShare, ratio } from './cost';
import { type Answer, type Result, type Series, type TargetOutcome, valuesOf } from './result';
import { median, spread } from './statistics';

const MISSING = '-';

/** Three significant digits, with separators of thousands. */
export function figure(value: number | undefined): string {
  if (value === undefined || !Number.isFinite(value)) {
    return MISSING;
  }
  const size = Math.abs(value);
  const digits = size >= 100 || Number.isInteger(value) ? 0 : size >= 10 ? 1 : 2;
  return value.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

function fixed(value: number, digits: number): string {
  return Number.isFinite(value) ? value.toFixed(digits) : MISSING;
}

function percent(share: number): string {
  return Number.isFinite(share) ? `${fixed(share * 100, 1)}%` : MISSING;
}

function middle(series: Series, key: string, divisor = 1): string {
  return figure(spread(valuesOf(series, key)).median / divisor);
}

function range(series: Series, key: string, divisor = 1): string {
  const { min, max } = spread(valuesOf(series, key));
  return Number.isFinite(min) ? `${figure(min / divisor)}-${figure(max / divisor)}` : MISSING;
}

function middleAndRange(series: Series, key: string): string {
  const { min, max } = spread(valuesOf(series, key));
  return !Number.isFinite(min) || min === max
    ? middle(series, key)
    : `${middle(series, key)} (${range(series, key)})`;
}

/** Plain borders: the tables go into files and documents as they are. */
function table(head: string[]): Table.Table {
  return new Table({
    head,
    style: { head: [], border: [], compact: true },
    colAligns: head.map((_, column) => (column === 0 ? 'left' : 'right')),
  });
}

function unavailableRow(series: Series, columns: number): Table.HorizontalTableRow {
  return [
    series.title,
    { colSpan: columns - 1, content: series.unavailable ?? 'not measured', hAlign: 'left' },
  ];
}

function costTable(answer: Answer): string {
  const scale = answer.scale ?? 'ns';
  const divisor = scale === 'us' ? 1000 : 1;
  const head = [
    'variant',
    '\nrounds',
    `CPU ${scale}\nper ${answer.unit}`,
    '\nmin-max',
    'times\noff',
    'times\nempty',
    'ns an event\nover empty',
    `events\nper ${answer.unit}`,
    `${answer.unit}s\nper second`,
    '\nof off',
    '\nrecords',
    '\nlost',
  ];
  const result = table(head);
  for (const series of answer.series) {
    if (series.rounds.length === 0) {
      result.push(unavailableRow(series, head.length));
      continue;
    }
    const floor = series.row === 'off' || series.row.startsWith('empty');
    const kept = valuesOf(series, 'records').length > 0;
    result.push([
      series.title,
      String(series.rounds.length),
      middle(series, 'cpuNs', divisor),
      range(series, 'cpuNs', divisor),
      fixed(median(ratio(answer, series.row, 'off')), 2),
      fixed(median(ratio(answer, series.row, 'empty')), 2),
      floor ? MISSING : figure(median(nsAnEvent(answer, series.row))),
      middle(series, 'events'),
      middle(series, 'rate'),
      percent(median(rateShare(answer, series.row, 'off'))),
      middle(series, 'records'),
      // A row that lost records has failed and has no figures.
      kept ? '0' : MISSING,
    ]);
  }
  return result.toString();
}

function figureTable(answer: Answer): string {
  const columns = answer.metrics.map(({ key, title, unit }) => ({
    key,
    head: unit === '' ? title : `${title}, ${unit}`,
  }));
  const result = table(['', 'rounds', ...columns.map(({ head }) => head)]);
  for (const series of answer.series) {
    if (series.rounds.length === 0) {
      result.push(unavailableRow(series, columns.length + 2));
    } else {
      result.push([
        series.title,
        String(series.rounds.length),
        ...columns.map(({ key }) => middleAndRange(series, key)),
      ]);
    }
  }
  return result.toString();
}

export function answerText(answer: Answer): string {
  const text = answer.kind === 'cost' ? costTable(answer) : figureTable(answer);
  return `\n${answer.title}\n${text}${answer.note ? `\n${answer.note}` : ''}\n`;
}

/** Where rounds stand on both sides of the limit, the noise is larger than the distance to it. */
function verdict({ met, measured, certain }: TargetOutcome): string {
  if (met !== undefined) {
    return `${met ? 'met' : 'missed'}${certain ? '' : ', within noise'}`;
  }
  return measured === undefined ? 'not measured' : 'no limit for this Node';
}

/** Nothing where no question was asked that has a target. */
export function targetsText(targets: readonly TargetOutcome[]): string {
  if (targets.length === 0) {
    return '';
  }
  const result = table(['target', 'limit', 'measured', 'min-max', '']);
  for (const outcome of targets) {
    const [min, max] = outcome.range ?? [];
    const range = min === max ? MISSING : `${figure(min)}-${figure(max)}`;
    result.push([outcome.target, outcome.limit, figure(outcome.measured), range, verdict(outcome)]);
  }
  return `\nTargets\n${result.toString()}\n`;
}

export function failuresText({ failures }: Result): string {
  return failures.length === 0 ? '' : `\nFailed:\n${failures.map((failure) => `  ${failure}`).join('\n')}\n`;
}

/** How many of the rounds were measured when the run was interrupted. */
export function roundsText({ question, series }: Answer, rounds: number): string {
  const counts = series.map((each) => each.rounds.length);
  const [least, most] = [Math.min(...counts), Math.max(...counts)];
  return `the rows of ${question} have ${least === most ? least : `${least} to ${most}`} of ${rounds} rounds`;
}
