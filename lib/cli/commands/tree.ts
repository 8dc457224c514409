/** `async-tracer tree`: who started what. */
import type { CommandModule } from 'yargs';
import {
  analyzeTree,
  type PathReport,
  type PathStep,
  type RootReport,
  type TreeNode,
  type TreeReport,
} from '../../analyze';
import { formatDuration } from '../../analyze/report/duration';
import { TracerError } from '../../errors';
import { examples } from '../arguments/help';
import { noneOf, renderPreface } from '../terminal/log-summary';
import { formatCount, formatCountOf, formatShare } from '../terminal/numbers';
import { opOf, originOf } from '../terminal/place';
import type { Screen } from '../terminal/screen';
import { type Column, renderTable } from '../terminal/table';
import { beginningOf, wrap } from '../terminal/text';
import { type AnswerArguments, answer, answerOptions, numberOf, usageOf } from './answer';

const TOP = 10;
const DEPTH = 10;
/** The narrowest column of the tree itself. */
const LABEL_MIN = 24;

interface Shown {
  /** Nodes of each parent. */
  top: number;
  depth: number;
}

interface Row {
  guides: string;
  /** A node, or how many are not shown. */
  node: TreeNode | number;
  parent: TreeNode | undefined;
}

function rowsOf(nodes: readonly TreeNode[], shown: Shown): Row[] {
  const rows: Row[] = [];
  const visit = (
    list: readonly TreeNode[],
    guides: string,
    depth: number,
    parent: TreeNode | undefined,
  ): void => {
    const rest = list.length - shown.top;
    const last = rest > 0 ? shown.top : list.length - 1;
    list.slice(0, shown.top).forEach((node, i) => {
      const isLast = i === last;
      const mine = depth === 0 ? '' : `${guides}${isLast ? '└─ ' : '├─ '}`;
      rows.push({ guides: mine, node, parent });
      const under = depth === 0 ? '' : `${guides}${isLast ? '   ' : '│  '}`;
      if (depth + 1 < shown.depth) {
        visit(node.children, under, depth + 1, node);
      } else if (node.children.length > 0) {
        rows.push({ guides: `${under}└─ `, node: node.children.length, parent: node });
      }
    });
    if (rest > 0) {
      rows.push({ guides: depth === 0 ? '' : `${guides}└─ `, node: rest, parent });
    }
  };
  visit(nodes, '', 0, undefined);
  return rows;
}

function isSamePlace(a: TreeNode, b: TreeNode | undefined): boolean {
  return (
    a.site !== null &&
    b?.site !== null &&
    b !== undefined &&
    a.site.file === b.site.file &&
    a.site.line === b.site.line &&
    a.site.column === b.site.column
  );
}

/** Whether a node would read like another one beside it if its call site were left out. */
function hasTwin(node: TreeNode, parent: TreeNode | undefined): boolean {
  return (
    node.inherited &&
    (parent?.children ?? []).some(
      (other) => other.op === node.op && !other.inherited && isSamePlace(other, node),
    )
  );
}

/** The op and, where it is not that of its parent, the call site. */
function labelOf({ guides, node, parent }: Row, { colors, folder }: Screen, width: number): string {
  if (typeof node === 'number') {
    return colors.dim(beginningOf(`${guides}and ${formatCount(node)} more`, width));
  }
  const again = node.again > 0 ? ` (${formatCount(node.again)} inside itself)` : '';
  const head = beginningOf(`${guides}${opOf(node)}${again}`, width);
  const room = width - head.length - 1;
  const isLeftOut = isSamePlace(node, parent) && !hasTwin(node, parent);
  const site = isLeftOut || room < 8 ? '' : originOf(node, folder, room);
  return `${colors.dim(head.slice(0, guides.length))}${head.slice(guides.length)}${site === '' ? '' : ` ${colors.cyan(site)}`}`;
}

function renderNodes(nodes: readonly TreeNode[], screen: Screen, shown: Shown): string {
  const rows = rowsOf(nodes, shown);
  const figures = (cell: (node: TreeNode) => string) => (row: Row) =>
    typeof row.node === 'number' ? '' : cell(row.node);
  const columns: Column<Row>[] = [
    { head: 'opid', cell: figures(({ opid }) => String(opid)) },
    { head: 'count', cell: figures((node) => formatCount(node.count)) },
    {
      head: 'wait max',
      cell: figures((node) => formatDuration(node.wait.count === 0 ? null : node.wait.max)),
    },
    { head: 'run total', cell: figures((node) => formatDuration(node.run.total)), spare: 1 },
  ];
  const room = (spare: number): number =>
    columns
      .filter((column) => (column.spare ?? 0) <= spare)
      .reduce(
        (left, { head, cell }) =>
          left - 2 - rows.reduce((most, row) => Math.max(most, cell(row).length), head.length),
        screen.width,
      );
  const labelWidth = Math.max(room(1) >= LABEL_MIN ? room(1) : room(0), LABEL_MIN);
  const label: Column<Row> = {
    head: 'op',
    align: 'left',
    cell: (row) => labelOf(row, screen, labelWidth),
  };
  return renderTable([label, ...columns], rows, screen);
}

function renderTree(report: TreeReport, screen: Screen, shown: Shown): string {
  const { nodes, folded, roots } = report;
  if (roots.length === 0) {
    return '';
  }
  const asides = [
    ...(folded > 0
      ? [
          `${formatCountOf(folded, 'operation')} counted at an ancestor: the tree has ${formatCount(nodes)} nodes, which is the most`,
        ]
      : []),
    'opid: the first of them; --root OPID shows what it started, --op OPID its causes',
  ];
  const { width, colors } = screen;
  return `${renderNodes(roots, screen, shown)}\n${asides.map((text) => colors.dim(wrap(text, width, '  '))).join('\n')}\n`;
}

/** Of a longer way, as of a chain of promises, the first step and the last ones are shown: nobody reads ten thousand. */
const MAX_STEPS_SHOWN = 100;

function stepColumns(from: number | null): readonly Column<PathStep>[] {
  return [
    { head: 'opid', cell: ({ opid }) => String(opid) },
    { head: 'op', align: 'left', cell: opOf },
    {
      head: 'at',
      cell: ({ time }) => (time === null || from === null ? '-' : `+${formatDuration(time - from)}`),
    },
    { head: 'wait', cell: ({ wait }) => formatDuration(wait) },
    { head: 'run', cell: ({ run }) => formatDuration(run) },
  ];
}

function renderPath({ opid, paths, log }: PathReport, screen: Screen): string {
  return paths
    .map(({ run, steps }) => {
      const where = paths.length > 1 ? ` of run ${run}` : '';
      const left = steps.length - MAX_STEPS_SHOWN;
      const rows = left > 0 ? [steps[0], ...steps.slice(1 - MAX_STEPS_SHOWN)] : steps;
      const table = renderTable(stepColumns(log.from), rows, screen, {
        head: 'from',
        cell: (step, width) => originOf(step, screen.folder, width),
      });
      const aside =
        left > 0
          ? screen.colors.dim(`${formatCountOf(left, 'step')} behind the first not shown: --json has them\n`)
          : '';
      return `${screen.colors.bold(`How operation ${opid}${where} came about, the first cause first`)}\n${table}${aside}`;
    })
    .join('\n');
}

function renderRoot({ opid, found }: RootReport, screen: Screen, shown: Shown): string {
  return found
    .map(({ run, root, operations, elapsed, ran, queued, waited, started }) => {
      const where = found.length > 1 ? ` of run ${run}` : '';
      const site = originOf(root, screen.folder);
      const title = `Operation ${opid}${where}, ${opOf(root)}${site === '' ? '' : ` ${site}`}, led to ${formatCountOf(operations, 'operation')} in ${formatDuration(elapsed)}`;
      const parts: [string, number, string][] = [
        ['ran', ran, 'one of them ran'],
        ['queued', queued, 'none of them ran, but something else did'],
        ['waited', waited, 'nothing ran'],
      ];
      const split = renderTable(
        [
          { head: '', align: 'left', cell: ([name]) => name },
          { head: 'time', cell: ([, time]) => formatDuration(time) },
          { head: 'share', cell: ([, time]) => (elapsed > 0 ? formatShare(time / elapsed) : '-') },
          { head: '', align: 'left', cell: ([, , meaning]) => meaning },
        ],
        parts,
        screen,
      );
      return `${screen.colors.bold(wrap(title, screen.width, '  '))}\n${split}\n${renderNodes(started, screen, shown)}`;
    })
    .join('\n');
}

type Report = TreeReport | PathReport | RootReport;

function renderTreeReport(report: Report, screen: Screen, shown: Shown): string {
  const body =
    report.report === 'tree'
      ? renderTree(report, screen, shown)
      : report.report === 'path'
        ? renderPath(report, screen)
        : renderRoot(report, screen, shown);
  return `${renderPreface(report.log, screen)}\n${body === '' ? `${wrap(noneOf('No operations.', report.log), screen.width, '  ')}\n` : body}`;
}

interface TreeArguments extends AnswerArguments {
  op: string | undefined;
  root: string | undefined;
  by: string | undefined;
  depth: string | undefined;
  top: string | undefined;
}

function idOf(text: string | undefined, flag: string): number | undefined {
  if (text === undefined) {
    return undefined;
  }
  if (!/^\d{1,15}$/.test(text)) {
    throw new TracerError(
      'ERR_ASYNC_TRACER_USAGE',
      `--${flag} must be an opid, as async-tracer tree LOG shows them; got ${JSON.stringify(text)}.`,
    );
  }
  return Number(text);
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
    const [op, root] = [idOf(given.op, 'op'), idOf(given.root, 'root')];
    if (op !== undefined && root !== undefined) {
      throw new TracerError(
        'ERR_ASYNC_TRACER_USAGE',
        '--op and --root were both given: one answers from the operation upwards, the other downwards.',
      );
    }
    const by = given.by ?? 'trigger';
    if (by !== 'trigger' && by !== 'execution') {
      throw new TracerError(
        'ERR_ASYNC_TRACER_USAGE',
        `--by must be trigger or execution; got ${JSON.stringify(by)}.`,
      );
    }
    const shown = { top: numberOf(given.top, 'top', TOP), depth: numberOf(given.depth, 'depth', DEPTH) };
    await answer(
      given,
      (sources, options): Promise<Report> => analyzeTree(sources, { ...options, by, op, root }),
      (report, screen) => {
        refuseNone(report);
        return renderTreeReport(report, screen, shown);
      },
    );
  },
};

function refuseNone(report: Report): void {
  const none =
    (report.report === 'path' && report.paths.length === 0) ||
    (report.report === 'root' && report.found.length === 0);
  if (none) {
    const { opid } = report as PathReport | RootReport;
    throw new TracerError(
      'ERR_ASYNC_TRACER_INPUT',
      `there is no operation ${opid} in the log: async-tracer tree LOG shows some that are`,
    );
  }
}
