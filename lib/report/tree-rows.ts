import type { TreeNode } from '../analyze';
import type { ReportData, TreeRow } from './data';
import type { GroupIndex } from './group-index';

/** Nodes in the page: those under which there are most operations. */
const MAX_NODES = 8000;

/** The nodes of a tree for the page. */
export function treeRows(
  roots: readonly TreeNode[],
  groups: GroupIndex,
): Pick<ReportData['tree'], 'roots' | 'leftOut'> {
  const sizes = new Map<TreeNode, number>();
  for (const root of roots) {
    measure(root, sizes);
  }
  // A node has more operations under it than any of its children, so no child is chosen without its parent.
  const chosen = new Set(
    [...sizes]
      .sort(([, a], [, b]) => b - a)
      .slice(0, MAX_NODES)
      .map(([node]) => node),
  );
  const rowsOf = (nodes: readonly TreeNode[]): TreeRow[] =>
    nodes
      .filter((node) => chosen.has(node))
      .map((node) => {
        const children = rowsOf(node.children);
        const { opid, count, again, wait, run } = node;
        const left = node.children.length - children.length;
        return [groups.of(node), opid, count, again, wait.max, run.total, children, left];
      });
  return { roots: rowsOf(roots), leftOut: sizes.size - chosen.size };
}

/** Notes how many operations there are at each node and under it. */
function measure(node: TreeNode, sizes: Map<TreeNode, number>): number {
  const size = node.children.reduce((sum, child) => sum + measure(child, sizes), node.count);
  sizes.set(node, size);
  return size;
}
