/** `async-tracer tree`: who started what. */
import type { CommandModule } from 'yargs';
import { analyzeTree } from '../../analyze';
import { TracerError } from '../../errors';
import { examples } from '../arguments/help';
import { answerOptions, type LogArguments, usageOf } from '../arguments/log-files';
import { choiceOf, countOf, opidOf } from '../arguments/values';
import { type AnyTreeReport, renderTreeReport } from '../render/tree';
import { answer } from './answer';

const TOP = 10;
const DEPTH = 10;

interface TreeArguments extends LogArguments {
  op: string | undefined;
  root: string | undefined;
  by: string | undefined;
  depth: string | undefined;
  top: string | undefined;
}

export const treeCommand: CommandModule<object, TreeArguments> = {
  command: 'tree [log..]',
  describe: 'who started what',
  builder: (yargs) =>
    answerOptions(yargs)
      .usage(
        usageOf(
          'tree',
          'Who started what: operations that are alike stand together under what caused\nthem, with the opid of the first.',
        ),
      )
      .option('op', {
        describe: 'only the way from this operation, by its opid, back to the first cause',
        requiresArg: true,
      })
      .option('root', {
        describe: 'only what this operation, by its opid, started, and where its time went',
        requiresArg: true,
      })
      .option('by', {
        describe: 'trigger: by what caused it; execution: by what ran at the time',
        defaultDescription: 'trigger',
        requiresArg: true,
      })
      .option('depth', { describe: 'levels shown', defaultDescription: String(DEPTH), requiresArg: true })
      .option('top', {
        describe: 'nodes shown under each node',
        defaultDescription: String(TOP),
        requiresArg: true,
      })
      .epilogue(
        examples([
          ['async-tracer tree app.ndjson', 'the whole program'],
          ['async-tracer tree --root 42 app.ndjson', 'what one request started'],
          ['async-tracer tree --op 99 app.ndjson', 'why this operation exists'],
        ]),
      ) as never,
  handler: async (given) => {
    const [op, root] = [opidOf(given.op, 'op'), opidOf(given.root, 'root')];
    if (op !== undefined && root !== undefined) {
      throw new TracerError(
        'ERR_ASYNC_TRACER_USAGE',
        '--op and --root were both given: one answers from the operation upwards, the other downwards.',
      );
    }
    const by = choiceOf(given.by, 'by', ['trigger', 'execution']);
    const view = { top: countOf(given.top, 'top', TOP), depth: countOf(given.depth, 'depth', DEPTH) };
    await answer(
      given,
      (sources, options): Promise<AnyTreeReport> => analyzeTree(sources, { ...options, by, op, root }),
      (report, screen) => {
        refuseUnknownOpid(report);
        return renderTreeReport(report, screen, view);
      },
    );
  },
};

function refuseUnknownOpid(report: AnyTreeReport): void {
  if (
    (report.report === 'path' && report.paths.length === 0) ||
    (report.report === 'root' && report.found.length === 0)
  ) {
    const { opid } = report;
    throw new TracerError(
      'ERR_ASYNC_TRACER_INPUT',
      `there is no operation ${opid} in the log: async-tracer tree LOG shows some that are`,
    );
  }
}
