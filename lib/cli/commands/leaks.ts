/** `async-tracer leaks`: what never ended. */
import type { CommandModule } from 'yargs';
import { analyzeLeaks, type LeakRow, type LeaksReport, parseFrame, type Verdict } from '../../analyze';
import { formatDuration } from '../../analyze/duration';
import { examples } from '../arguments/help';
import { settings } from '../arguments/settings';
import { renderFindings } from '../terminal/findings';
import { missingOf, renderPreface } from '../terminal/log-summary';
import { formatCount, formatCountOf } from '../terminal/numbers';
import { opOf, placeOf, siteOf } from '../terminal/place';
import type { Screen } from '../terminal/screen';
import { clean, wrap } from '../terminal/text';
import { type AnswerArguments, answer, answerOptions, listOf, usageOf } from './answer';

/** Exit code of --fail. */
const LEAKED = 1;

const TITLES: Record<Verdict, string> = {
  leak: 'Never ended',
  unsure: 'Perhaps never ended: the log cannot tell',
  kept: 'Live, and no leak',
};

interface Shown {
  /** Rows that are no leak too. */
  all: boolean;
  stacks: boolean;
}

function renderLeaks(
  report: LeaksReport,
  screen: Screen,
  shown: Shown = { all: false, stacks: false },
): string {
  const { log, rows, allowed, notes } = report;
  const of = (verdict: Verdict): LeakRow[] => rows.filter((row) => row.verdict === verdict);
  const kept = of('kept').reduce((sum, row) => sum + row.count, 0);
  const { width, colors } = screen;
  const asides = [
    ...(kept > 0 && !shown.all
      ? [
          `${formatCountOf(kept, 'operation')} live at the end${promisesOf(report)}, and no leak: --all shows them and why`,
        ]
      : []),
    ...(allowed > 0 ? [`${formatCountOf(allowed, 'operation')} left out by --allow`] : []),
    ...notes,
  ];
  const parts = [
    renderPreface(log, screen),
    ...(['leak', 'unsure', ...(shown.all ? (['kept'] as const) : [])] as const).map((verdict) =>
      renderRows(TITLES[verdict], of(verdict), screen, shown.stacks),
    ),
    asides.length === 0 ? '' : `${asides.map((text) => colors.dim(wrap(text, width, '  '))).join('\n')}\n`,
    renderFindings(report, 'No leaks.', screen),
  ];
  return parts.filter((part) => part !== '').join('\n');
}

/** What the number of live operations leaves out. */
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
    const head = `${formatCount(row.count)} ${colors.bold(opOf(row))}, ${age}${unref}`;
    const site = siteOf(row, folder, width - 4);
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

function frameOf(text: string, { folder, width, colors }: Screen): string {
  const frame = parseFrame(text);
  return colors.dim(`at ${frame === undefined ? clean(text) : placeOf(frame, folder, width - 9)}`);
}

interface LeaksArguments extends AnswerArguments {
  allow: unknown;
  'min-age': string | undefined;
  fail: boolean | undefined;
  all: boolean | undefined;
  stacks: boolean | undefined;
}

export const leaksCommand: CommandModule<object, LeaksArguments> = {
  command: 'leaks [log..]',
  describe: 'what never ended: handles, timers, requests and promises',
  builder: (yargs) =>
    answerOptions(yargs)
      .usage(
        usageOf(
          'leaks',
          'What never ended, by call site. Trace with --stacks for call sites, and with\n--resolve for promises that never settled.',
        ),
      )
      .option('allow', {
        describe: 'an op, an area or a part of a call site that is no leak, * for any text; may be repeated',
        requiresArg: true,
      })
      .option('min-age', {
        describe: 'how long it must have lived when the log ended, as in 500ms',
        defaultDescription: '0',
        requiresArg: true,
      })
      .option('fail', {
        describe: 'exit code 1 where there is a leak, or where the log cannot tell, for CI',
        type: 'boolean',
      })
      .option('all', { describe: 'also what is live and no leak, and why', type: 'boolean' })
      .option('stacks', { describe: 'the whole stack of each', type: 'boolean' })
      .epilogue(
        examples([
          ['async-tracer leaks app.ndjson', 'why the process does not exit'],
          ["async-tracer leaks --fail --allow 'pool.js' app.ndjson", 'in CI'],
        ]),
      ) as never,
  handler: async (given) => {
    const minAge =
      given['min-age'] === undefined ? 0 : settings().parseDuration(given['min-age'], '--min-age');
    const allow = listOf(given.allow);
    const shown = { all: given.all === true, stacks: given.stacks === true };
    await answer(
      given,
      (sources, options) => analyzeLeaks(sources, { ...options, allow, minAge }),
      (report, screen) => renderLeaks(report, screen, shown),
      (report) => (given.fail ? failAt(report) : ''),
    );
  },
};

/**
 * Where a leak is found, by what is said at the end of the screen: a promise that was dropped is found, though the log
 * cannot be sure. And where the log cannot tell: what is not there must not be green.
 */
function failAt({ findings, log }: LeaksReport): string {
  const found = findings.some(({ code }) => code !== 'records-lost');
  const missing = log.operationRecords === 0 ? ['it holds no operation'] : missingOf(log);
  if (!found && missing.length === 0) {
    return '';
  }
  process.exitCode = LEAKED;
  return found ? '' : `no leak was found, but the log cannot tell: ${missing.join(', ')}`;
}
