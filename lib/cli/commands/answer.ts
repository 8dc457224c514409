/** What the commands that read logs have in common: their words, the bar, and text or JSON at the end. */
import type { Argv } from 'yargs';
import type { LogReport, ReadOptions } from '../../analyze';
import { TracerError } from '../../errors';
import { formatCount } from '../terminal/numbers';
import { print, say } from '../terminal/output';
import { startProgress } from '../terminal/progress';
import { type Screen, screenOf } from '../terminal/screen';

export interface AnswerArguments {
  log: string[] | undefined;
  json: boolean | undefined;
}

/** Stands for `-`, of which yargs makes nothing. */
export const STDIN_WORD = '\0stdin';

export function answerOptions<T>(yargs: Argv<T>): Argv<T> {
  return yargs.option('json', { describe: 'print the whole report as JSON', type: 'boolean' }) as never;
}

/** The beginning of a command's help. */
export function usageOf(command: string, text: string): string {
  return `Usage: $0 ${command} [options] LOG...\n\n${text}\n\nA LOG is a file, also a .gz or one that still grows, or - for standard input;\nseveral are read as one.`;
}

/** The logs that were named; standard input where there are none and it is no terminal. */
function sourcesOf(log: readonly string[] | undefined): string[] {
  const given = (log ?? []).map((word) => (word === STDIN_WORD ? '-' : word));
  if (given.length === 0 && process.stdin.isTTY) {
    throw new TracerError(
      'ERR_ASYNC_TRACER_USAGE',
      'No log was given: name its files, or - for standard input.',
    );
  }
  return given.length === 0 ? ['-'] : given;
}

/** Of something else than a log there is no answer, and above all not that it is in order. */
function refuseNoLog(sources: readonly string[], named: boolean, log: LogReport): void {
  if (log.records > 0) {
    return;
  }
  const names = sources.map((source) => (source === '-' ? 'standard input' : source)).join(', ');
  const lines = log.foreign + log.cut;
  const [one, of] = sources.length === 1 ? [true, 'its'] : [false, 'their'];
  const damage = log.damaged.map(
    ({ source, message }) => `; ${source} could be read in part only: ${message}`,
  );
  const why =
    log.bytes === 0
      ? `${names} ${one ? 'is' : 'are'} empty${named ? '' : ', and no log was named'}`
      : lines === 0
        ? `${names} ${one ? 'holds' : 'hold'} no record of async-tracer, nor any other line`
        : `${names} ${one ? 'is no log' : 'are no logs'} of async-tracer: ${lines === 1 ? `${of} only line is no record` : `none of ${of} ${formatCount(lines)} lines is a record`}`;
  throw new TracerError('ERR_ASYNC_TRACER_INPUT', `${why}${damage.join('')}`);
}

/** A whole number from 1 from a flag. */
export function numberOf(text: unknown, flag: string, fallback: number): number {
  if (text === undefined) {
    return fallback;
  }
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1 || String(text).trim() === '') {
    throw new TracerError(
      'ERR_ASYNC_TRACER_USAGE',
      `--${flag} must be a whole number from 1; got ${JSON.stringify(text)}.`,
    );
  }
  return value;
}

/** A list from a flag that may be given more than once. */
export function listOf(value: unknown): string[] {
  return value === undefined ? [] : Array.isArray(value) ? value.map(String) : [String(value)];
}

/**
 * Reads with a bar, and prints on standard output.
 *
 * @param judge may set the exit code, before a reader that has enough (`| head`) ends the command; gives what is to be
 *   said of it behind the answer
 */
export async function answer<Report extends { log: LogReport }>(
  { log, json }: AnswerArguments,
  analyze: (sources: string[], options: ReadOptions) => Promise<Report>,
  render: (report: Report, screen: Screen) => string,
  judge: (report: Report) => string = () => '',
): Promise<void> {
  const sources = sourcesOf(log);
  const progress = startProgress(process.stderr);
  let report: Report;
  try {
    report = await analyze(sources, { onProgress: progress.onProgress });
  } finally {
    progress.stop();
  }
  refuseNoLog(sources, log !== undefined && log.length > 0, report.log);
  const text = json
    ? `${JSON.stringify(report, null, 2)}\n`
    : render(report, screenOf(process.stdout, process.env));
  const verdict = judge(report);
  print(text);
  if (verdict !== '') {
    say(verdict);
  }
}
