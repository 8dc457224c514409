/** The text of `async-tracer tree --root`: what one operation started, and where its time went. */
import type { RootReport } from '../../analyze';
import { formatDuration } from '../../analyze/report/duration';
import { formatCountOf, formatShare } from '../terminal/numbers';
import type { Screen } from '../terminal/screen';
import { renderTable } from '../terminal/table';
import { wrap } from '../terminal/text';
import { formatOp, formatOrigin } from './call-site';
import { renderNodes, type TreeView } from './tree-nodes';

export function renderRoot({ opid, found }: RootReport, screen: Screen, view: TreeView): string {
  return found
    .map(({ run, root, operations, elapsed, ran, queued, waited, started }) => {
      const where = found.length > 1 ? ` of run ${run}` : '';
      const site = formatOrigin(root, screen.folder);
      const title = `Operation ${opid}${where}, ${formatOp(root)}${site === '' ? '' : ` ${site}`}, led to ${formatCountOf(operations, 'operation')} in ${formatDuration(elapsed)}`;
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
      return `${screen.colors.bold(wrap(title, screen.width, '  '))}\n${split}\n${renderNodes(started, screen, view)}`;
    })
    .join('\n');
}
