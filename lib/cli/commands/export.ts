/** `async-tracer export`: a log in the format of a viewer. */
import type { CommandModule } from 'yargs';
import { TracerError } from '../../errors';
import { EPOCH_MS, EXPORT_FORMATS, type ExportFormat, LogExport } from '../../export';
import { examples } from '../arguments/help';
import { nearestName, suggestion } from '../arguments/known-names';
import { jsonOption, type LogArguments, STDIN_WORD, sourcesOf, usageOf } from '../arguments/log-files';
import { refuseOverwrite } from '../arguments/output-path';
import { settings } from '../arguments/settings';
import { listOf, opidOf } from '../arguments/values';
import { renderExport } from '../render/export';
import { print } from '../terminal/output';
import { writeFile, writeStdout } from '../terminal/output-file';
import { withProgress } from '../terminal/progress';
import { screenOf } from '../terminal/screen';
import { refuseNoLog } from './answer';

const STDOUT = '-';
const BINARY: readonly ExportFormat[] = ['perfetto', 'pprof'];

interface ExportArguments extends LogArguments {
  to: string | undefined;
  output: string | undefined;
  from: string | undefined;
  until: string | undefined;
  root: string | undefined;
  include: unknown;
  exclude: unknown;
}

function refuse(message: string): never {
  throw new TracerError('ERR_ASYNC_TRACER_USAGE', message);
}

function formatOf(word: string | undefined): ExportFormat {
  const list = `The formats are ${EXPORT_FORMATS.join(', ')}.`;
  if (word === undefined) {
    refuse(`A format is needed, as in --to ${EXPORT_FORMATS[0]}. ${list}`);
  }
  if (!EXPORT_FORMATS.includes(word as ExportFormat)) {
    refuse(
      `There is no format ${JSON.stringify(word)}.${suggestion(nearestName(word, EXPORT_FORMATS))} ${list}`,
    );
  }
  return word as ExportFormat;
}

/** A duration after the begin of the log, or a date. */
function timeOf(text: string | undefined, flag: string): number | undefined {
  if (text === undefined) {
    return undefined;
  }
  const number = Number(text);
  const time = /^\d{4}-\d\d/.test(text) ? Date.parse(text) : number >= EPOCH_MS ? number : Number.NaN;
  return Number.isNaN(time) ? settings().parseDuration(text, `--${flag}`) : time;
}

/** As the option of the same name of a trace. */
function patternsOf(flag: 'include' | 'exclude', value: unknown): readonly RegExp[] | undefined {
  const text = listOf(value).join(',');
  if (text === '') {
    return undefined;
  }
  return settings().resolveOptions(
    settings().optionsFromEnvironment({ [settings().variableOf(flag)]: text }, (name) => `--${name}`),
  )[flag];
}

function outputOf({ output, log, json }: ExportArguments, format: ExportFormat): string {
  const file = output === STDIN_WORD ? STDOUT : output;
  if (file === undefined || file === '') {
    refuse('An output is needed: -o FILE, or -o - for standard output.');
  }
  if (file !== STDOUT) {
    refuseOverwrite(file, sourcesOf(log));
    return file;
  }
  if (json) {
    refuse('--json and -o - both print to standard output.');
  }
  if (process.stdout.isTTY && BINARY.includes(format)) {
    refuse(`${format} is no text: standard output must not be a terminal.`);
  }
  return file;
}

export const exportCommand: CommandModule<object, ExportArguments> = {
  command: 'export [log..]',
  describe: 'a log in the format of a viewer: chrome, perfetto, speedscope, pprof',
  builder: (yargs) =>
    jsonOption(yargs)
      .usage(
        usageOf(
          'export',
          'Writes a log in the format of a viewer: callbacks by thread, operations, and\nwhich callback started which.',
        ),
      )
      .option('to', { describe: `the format: ${EXPORT_FORMATS.join(', ')}`, requiresArg: true })
      .option('output', {
        alias: 'o',
        describe: 'the file, compressed where it ends in .gz; - for standard output',
        requiresArg: true,
      })
      .option('from', {
        describe: 'only what began since then: 10s after the begin of the log, or a date',
        requiresArg: true,
      })
      .option('until', { describe: 'only what began before then', requiresArg: true })
      .option('root', {
        describe: 'only this operation, by its opid, and all that it triggered',
        requiresArg: true,
      })
      .option('include', {
        describe: 'only these ops and areas, globs or /regular expressions/',
        requiresArg: true,
      })
      .option('exclude', { describe: 'without these', requiresArg: true })
      .option('json', { describe: 'print what was written as JSON', type: 'boolean' })
      .epilogue(
        examples([
          ['async-tracer export --to chrome app.ndjson -o app.json', 'for Perfetto or DevTools'],
          ['async-tracer export --to perfetto *.ndjson -o app.pftrace', 'smaller; all processes in one'],
          ['async-tracer export --to speedscope app.ndjson -o app.speedscope.json', 'flame graphs'],
          ['async-tracer export --to pprof app.ndjson -o app.pb.gz', 'for go tool pprof'],
        ]),
      ) as never,
  handler: async (given) => {
    const format = formatOf(given.to);
    const file = outputOf(given, format);
    const cut = {
      from: timeOf(given.from, 'from'),
      until: timeOf(given.until, 'until'),
      root: opidOf(given.root, 'root'),
      include: patternsOf('include', given.include),
      exclude: patternsOf('exclude', given.exclude),
    };
    const sources = sourcesOf(given.log);
    const began = performance.now();
    const { report } = await withProgress(async (onProgress) => {
      const all = new LogExport(sources, format, { ...cut, onProgress });
      const chunks = refusingNoLog(all, () =>
        refuseNoLog(sources, (given.log ?? []).length > 0, all.report.log),
      );
      await (file === STDOUT ? writeStdout(chunks) : writeFile(file, chunks, isCompressed(file, format)));
      return all;
    });
    if (file === STDOUT) {
      return;
    }
    const seconds = Math.round(performance.now() - began) / 1000;
    print(
      given.json
        ? `${JSON.stringify({ report: 'export', format, file, seconds, ...report }, null, 2)}\n`
        : renderExport(report, screenOf(process.stdout, process.env), { format, file, seconds }),
    );
  },
};

/** pprof compresses by itself. */
function isCompressed(file: string, format: ExportFormat): boolean {
  return format !== 'pprof' && /\.gz$/i.test(file);
}

/** The chunks, and at their end the check whether there was a log, before the file gets its name. */
async function* refusingNoLog(
  chunks: AsyncIterable<Uint8Array>,
  check: () => void,
): AsyncGenerator<Uint8Array> {
  yield* chunks;
  check();
}
