/** The findings at the end of an answer. */
import type { Finding, LogReport } from '../../analyze';
import { formatCountOf } from '../terminal/numbers';
import type { Screen } from '../terminal/screen';
import { clean, wrap } from '../terminal/text';
import { nothingFound } from './log-summary';

/** @param none the text where there are no findings */
export function renderFindings(
  { findings, log }: { findings: readonly Finding[]; log: LogReport },
  none: string,
  { width, colors, folder }: Screen,
): string {
  if (findings.length === 0) {
    const text = nothingFound(none, log);
    return `${(text === none ? colors.green : colors.yellow)(wrap(text, width, '  '))}\n`;
  }
  const lines = findings.map(({ severity, code, message }) => {
    const paint = severity === 'error' ? colors.red : severity === 'warning' ? colors.yellow : colors.cyan;
    // Paths are relative, as in the tables.
    const text = clean(message).replaceAll(`file://${folder}/`, '').replaceAll(`(${folder}/`, '(');
    const whole = wrap(`${code}: ${text}`, width - 2, '  ');
    return `  ${paint(code)}${whole.slice(code.length).replaceAll('\n', '\n  ')}`;
  });
  return `${colors.bold(formatCountOf(findings.length, 'finding'))}\n${lines.join('\n')}\n`;
}
