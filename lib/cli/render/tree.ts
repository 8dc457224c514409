/** The text of `async-tracer tree`. */
import type { PathReport, RootReport, RootsReport, TreeReport } from '../../analyze';
import { formatCount, formatCountOf } from '../terminal/numbers';
import type { Screen } from '../terminal/screen';
import { wrap } from '../terminal/text';
import { nothingFound, renderLogSummary } from './log-summary';
import { renderRoots } from './roots';
import { renderNodes, type TreeView } from './tree-nodes';
import { renderPath } from './tree-path';
import { renderRoot } from './tree-root';

function renderTree(report: TreeReport, screen: Screen, view: TreeView): string {
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
  return `${renderNodes(roots, screen, view)}\n${asides.map((text) => colors.dim(wrap(text, width, '  '))).join('\n')}\n`;
}

export type AnyTreeReport = TreeReport | PathReport | RootReport | RootsReport;

export function renderTreeReport(report: AnyTreeReport, screen: Screen, view: TreeView): string {
  if (report.report === 'roots') {
    return renderRoots(report, screen, view.top);
  }
  const body =
    report.report === 'tree'
      ? renderTree(report, screen, view)
      : report.report === 'path'
        ? renderPath(report, screen)
        : renderRoot(report, screen, view);
  return `${renderLogSummary(report.log, screen)}\n${body === '' ? `${wrap(nothingFound('No operations.', report.log), screen.width, '  ')}\n` : body}`;
}
