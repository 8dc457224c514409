/** Operations under what caused them: a row each, with guides. */
import type { TreeNode } from '../../analyze';
import { formatDuration } from '../../analyze/report/duration';
import { formatCount } from '../terminal/numbers';
import type { Screen } from '../terminal/screen';
import { type Column, renderTable } from '../terminal/table';
import { beginningOf } from '../terminal/text';
import { formatOp, formatOrigin } from './call-site';

/** The narrowest column of the tree itself. */
const LABEL_MIN = 24;

export interface TreeView {
  /** Nodes shown of each parent. */
  top: number;
  depth: number;
}

interface Row {
  guides: string;
  /** A node, or the number of nodes that are not shown. */
  node: TreeNode | number;
  parent: TreeNode | undefined;
}

function rowsOf(nodes: readonly TreeNode[], view: TreeView): Row[] {
  const rows: Row[] = [];
  const visit = (
    list: readonly TreeNode[],
    guides: string,
    depth: number,
    parent: TreeNode | undefined,
  ): void => {
    const rest = list.length - view.top;
    const last = rest > 0 ? view.top : list.length - 1;
    list.slice(0, view.top).forEach((node, i) => {
      const isLast = i === last;
      const own = depth === 0 ? '' : `${guides}${isLast ? '└─ ' : '├─ '}`;
      rows.push({ guides: own, node, parent });
      const under = depth === 0 ? '' : `${guides}${isLast ? '   ' : '│  '}`;
      if (depth + 1 < view.depth) {
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

/** Whether without its call site a node would look like another one of the same parent. */
function hasTwin(node: TreeNode, parent: TreeNode | undefined): boolean {
  return (
    node.inherited &&
    (parent?.children ?? []).some(
      (other) => other.op === node.op && !other.inherited && isSamePlace(other, node),
    )
  );
}

/** The op, and the call site where it is not that of the parent. */
function labelOf({ guides, node, parent }: Row, { colors, folder }: Screen, width: number): string {
  if (typeof node === 'number') {
    return colors.dim(beginningOf(`${guides}and ${formatCount(node)} more`, width));
  }
  const again = node.again > 0 ? ` (${formatCount(node.again)} inside itself)` : '';
  const head = beginningOf(`${guides}${formatOp(node)}${again}`, width);
  const room = width - head.length - 1;
  const isLeftOut = isSamePlace(node, parent) && !hasTwin(node, parent);
  const site = isLeftOut || room < 8 ? '' : formatOrigin(node, folder, room);
  return `${colors.dim(head.slice(0, guides.length))}${head.slice(guides.length)}${site === '' ? '' : ` ${colors.cyan(site)}`}`;
}

export function renderNodes(nodes: readonly TreeNode[], screen: Screen, view: TreeView): string {
  const rows = rowsOf(nodes, view);
  const figures = (cell: (node: TreeNode) => string) => (row: Row) =>
    typeof row.node === 'number' ? '' : cell(row.node);
  const columns: Column<Row>[] = [
    { head: 'opid', cell: figures(({ opid }) => String(opid)) },
    { head: 'count', cell: figures((node) => formatCount(node.count)) },
    {
      head: 'wait max',
      cell: figures((node) => formatDuration(node.wait.count === 0 ? null : node.wait.max)),
    },
    { head: 'run total', cell: figures((node) => formatDuration(node.run.total)), dropRank: 1 },
  ];
  const room = (rank: number): number =>
    columns
      .filter((column) => (column.dropRank ?? 0) <= rank)
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
