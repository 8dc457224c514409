/** The shared part of the commands that answer: read the logs with a progress bar, then print text or JSON. */
import type { CodeOptions, LogReport, ReadOptions } from '../../analyze';
import { TracerError } from '../../errors';
import { type LogArguments, sourcesOf } from '../arguments/log-files';
import { choiceOf } from '../arguments/values';
import { formatCount } from '../terminal/numbers';
import { print, printMessage } from '../terminal/output';
import { withProgress } from '../terminal/progress';
import { type Screen, screenOf } from '../terminal/screen';

/**
 * A file that is no log has no answer. Above all, "No leaks." must not be the answer.
 *
 * @param named whether the person named the logs
 * @throws TracerError ERR_ASYNC_TRACER_INPUT
 */
export function refuseNoLog(sources: readonly string[], named: boolean, log: LogReport): void {
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

/**
 * Reads the logs and prints the answer to standard output.
 *
 * @param judge sets the exit code and returns a message to print after the answer, or an empty string. It runs before
 *   anything is printed: a reader that has enough (`| head`) ends the command at the first write
 */
export async function answer<Report extends { log: LogReport }>(
  { log, json, code }: LogArguments,
  analyze: (sources: string[], options: ReadOptions & CodeOptions) => Promise<Report>,
  render: (report: Report, screen: Screen) => string,
  judge: (report: Report) => string = () => '',
): Promise<void> {
  const places = choiceOf(code, 'code', ['user', 'all']);
  const sources = sourcesOf(log);
  const report = await withProgress((onProgress) => analyze(sources, { onProgress, code: places }));
  refuseNoLog(sources, log !== undefined && log.length > 0, report.log);
  const text = json
    ? `${JSON.stringify(report, null, 2)}\n`
    : render(report, screenOf(process.stdout, process.env));
  const verdict = judge(report);
  print(text);
  if (verdict !== '') {
    printMessage(verdict);
  }
}
