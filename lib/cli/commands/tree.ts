/** `async-tracer tree`: who started what. */
import type { CommandModule } from 'yargs';
import { analyzeRoots, analyzeTree, ROOT_ORDERS, type TreeOptions } from '../../analyze';
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
  request: string | undefined;
  roots: boolean | undefined;
  sort: string | undefined;
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
      .option('request', {
        describe: 'with --root: only this one of the requests that the operation carried',
        requiresArg: true,
      })
      .option('roots', {
        describe: 'what came into the program, as requests and events, and where the time of each went',
        type: 'boolean',
      })
      .option('sort', {
        describe: `order of --roots: ${ROOT_ORDERS.slice(0, -1).join(', ')} or ${ROOT_ORDERS.at(-1)}`,
        defaultDescription: 'time',
        requiresArg: true,
      })
      .option('by', {
        describe: 'trigger: by what caused it; execution: by what ran at the time',
        defaultDescription: 'trigger',
        requiresArg: true,
      })
      .option('depth', { describe: 'levels shown', defaultDescription: String(DEPTH), requiresArg: true })
      .option('top', {
        describe: 'nodes shown under each node, or roots',
        defaultDescription: String(TOP),
        requiresArg: true,
      })
      .epilogue(
        examples([
          ['async-tracer tree app.ndjson', 'the whole program'],
          ['async-tracer tree --roots app.ndjson', 'which request took longest, and why'],
          ['async-tracer tree --root 42 app.ndjson', 'what one operation started'],
          ['async-tracer tree --op 99 app.ndjson', 'why this operation exists'],
        ]),
      ) as never,
  handler: async (given) => {
    const [op, root] = [opidOf(given.op, 'op'), opidOf(given.root, 'root')];
    checkTogether(given);
    const by = choiceOf(given.by, 'by', ['trigger', 'execution']);
    const sort = choiceOf(given.sort, 'sort', ROOT_ORDERS);
    const request = given.request === undefined ? undefined : countOf(given.request, 'request', 1);
    const view = { top: countOf(given.top, 'top', TOP), depth: countOf(given.depth, 'depth', DEPTH) };
    await answer(
      given,
      (sources, options): Promise<AnyTreeReport> =>
        given.roots
          ? analyzeRoots(sources, { ...options, by, sort, top: view.top })
          : analyzeTree(sources, { ...options, by, op, root, request } as TreeOptions),
      (report, screen) => {
        refuseUnknownOpid(report, request);
        return renderTreeReport(report, screen, view);
      },
    );
  },
};

function checkTogether({ op, root, request, roots, sort }: TreeArguments): void {
  const problem =
    op !== undefined && root !== undefined
      ? '--op and --root were both given: one answers from the operation upwards, the other downwards.'
      : roots && (op ?? root) !== undefined
        ? `--roots and --${op === undefined ? 'root' : 'op'} were both given: one is about all roots, the other about one operation.`
        : request !== undefined && root === undefined
          ? '--request needs --root, the operation that carried it.'
          : sort !== undefined && !roots
            ? '--sort needs --roots.'
            : undefined;
  if (problem !== undefined) {
    throw new TracerError('ERR_ASYNC_TRACER_USAGE', problem);
  }
}

function refuseUnknownOpid(report: AnyTreeReport, request: number | undefined): void {
  if (
    (report.report === 'path' && report.paths.length === 0) ||
    (report.report === 'root' && report.found.length === 0)
  ) {
    const { opid } = report;
    throw new TracerError(
      'ERR_ASYNC_TRACER_INPUT',
      request === undefined
        ? `there is no operation ${opid} in the log: async-tracer tree LOG shows some that are`
        : `there is no request ${request} of an operation ${opid} in the log: async-tracer tree --roots LOG shows some that are`,
    );
  }
}
