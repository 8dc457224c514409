/** Findings, as the last thing on the screen. */
import type { Finding, LogReport } from '../../analyze';
import { noneOf } from './log-summary';
import { formatCountOf } from './numbers';
import type { Screen } from './screen';
import { clean, wrap } from './text';

/** @param none what to say where there is none */
export function renderFindings(
  { findings, log }: { findings: readonly Finding[]; log: LogReport },
  none: string,
  { width, colors, folder }: Screen,
): string {
  if (findings.length === 0) {
    const text = noneOf(none, log);
    return `${(text === none ? colors.green : colors.yellow)(wrap(text, width, '  '))}\n`;
  }
  const lines = findings.map(({ severity, code, message }) => {
    const paint = severity === 'error' ? colors.red : severity === 'warning' ? colors.yellow : colors.cyan;
    // Relative, as in the tables.
    const text = clean(message).replaceAll(`file://${folder}/`, '').replaceAll(`(${folder}/`, '(');
    const whole = wrap(`${code}: ${text}`, width - 2, '  ');
    return `  ${paint(code)}${whole.slice(code.length).replaceAll('\n', '\n  ')}`;
  });
  return `${colors.bold(formatCountOf(findings.length, 'finding'))}\n${lines.join('\n')}\n`;
}
