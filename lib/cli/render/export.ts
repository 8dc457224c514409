/** The text of `async-tracer export`: what was written. */
import { formatDuration } from '../../analyze/report/duration';
import type { ExportFormat, ExportReport } from '../../export';
import { formatBytes, formatCount, formatCountOf } from '../terminal/numbers';
import type { Screen } from '../terminal/screen';
import { clean, wrap } from '../terminal/text';
import { renderLogSummary } from './log-summary';

/** How a file is opened, by its format. */
const OPEN: Record<ExportFormat, (file: string) => string> = {
  chrome: () =>
    'Open it at https://ui.perfetto.dev, chrome://tracing, or load it in the Performance panel of DevTools.',
  perfetto: () => 'Open it at https://ui.perfetto.dev.',
  speedscope: (file) => `Open it at https://www.speedscope.app, or by: npx speedscope ${file}`,
  pprof: (file) => `Read it by: go tool pprof -top ${file}`,
};

export interface Written {
  format: ExportFormat;
  file: string;
  seconds: number;
}

export function renderExport(
  report: ExportReport,
  screen: Screen,
  { format, file, seconds }: Written,
): string {
  const { operations, callbacks, flows, leftOut, unended, events, bytes, log } = report;
  const name = clean(file);
  const lines = [
    `${name}: ${formatBytes(bytes)}${/\.gz$/i.test(file) && format !== 'pprof' ? ' before compression' : ''}, ${formatCountOf(events, 'event')} in ${formatDuration(seconds * 1000)}`,
    `${formatCountOf(operations, 'operation')}, ${formatCountOf(callbacks, 'callback')}${flows > 0 ? `, ${formatCountOf(flows, 'arrow')}` : ''}`,
  ];
  if (leftOut > 0) {
    lines.push(`${formatCountOf(leftOut, 'callback')} left out, whose end is missing`);
  }
  if (unended > 0) {
    lines.push(`${formatCount(unended)} that had not ended ${unended === 1 ? 'ends' : 'end'} with the log`);
  }
  lines.push(OPEN[format](name));
  return `${renderLogSummary(log, screen)}\n${lines.map((line) => wrap(line, screen.width, '  ')).join('\n')}\n`;
}
