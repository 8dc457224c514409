/** `async-tracer report`: a log as one page. */
import { resolve } from 'node:path';
import type { CommandModule } from 'yargs';
import { TracerError } from '../../errors';
import { checkWritable, writeWhole } from '../../report';
import { examples } from '../arguments/help';
import { jsonOption, type LogArguments, STDIN_WORD, sourcesOf, usageOf } from '../arguments/log-files';
import { refuseOverwrite } from '../arguments/output-path';
import { settings } from '../arguments/settings';
import { formatBytes } from '../terminal/numbers';
import { print, printMessage } from '../terminal/output';
import { clean } from '../terminal/text';
import { DEFAULT_REPORT, reportOf } from './make-report';

interface ReportArguments extends LogArguments {
  output: string | undefined;
  threshold: string | undefined;
}

export const reportCommand: CommandModule<object, ReportArguments> = {
  command: 'report [log..]',
  describe: 'one page to look at: findings, event loop, tables, tree, requests',
  builder: (yargs) =>
    jsonOption(yargs, 'print what was written as JSON')
      .usage(
        usageOf(
          'report',
          'Writes one HTML page that shows the log: the findings, the event loop over time,\nwhat ran, who started what, the slowest requests, and what never ended. The page\nneeds no other file and no network.',
        ),
      )
      .option('output', {
        alias: 'o',
        describe: 'where the page goes; - is standard output',
        defaultDescription: DEFAULT_REPORT,
        requiresArg: true,
      })
      .option('threshold', {
        describe: 'from when on a callback is said to hold the loop, as in 20ms',
        defaultDescription: '50ms',
        requiresArg: true,
      })
      .epilogue(
        examples([
          ['async-tracer report app.ndjson', `the page is ${DEFAULT_REPORT}`],
          ['async-tracer report -o day.html *.ndjson.gz', 'several logs as one'],
        ]),
      ) as never,
  handler: async ({ log, json, output = DEFAULT_REPORT, threshold }) => {
    const heldMs = threshold === undefined ? undefined : settings().parseDuration(threshold, '--threshold');
    const sources = sourcesOf(log);
    const toScreen = output === STDIN_WORD || output === '-';
    if (toScreen && json) {
      throw new TracerError('ERR_ASYNC_TRACER_USAGE', '--json and -o - both print to standard output.');
    }
    if (!toScreen) {
      checkWritable(resolve(output));
      refuseOverwrite(output, sources);
    }
    const { html, data, seconds } = await reportOf(sources, log !== undefined && log.length > 0, heldMs);
    if (toScreen) {
      print(html);
      return;
    }
    writeWhole(resolve(output), html);
    const bytes = Buffer.byteLength(html);
    if (json) {
      print(`${JSON.stringify({ report: 'report', output, bytes, records: data.log.records, seconds })}\n`);
    } else {
      printMessage(`the report is ${clean(output)} (${formatBytes(bytes)})`);
    }
  },
};
