/** The text of `async-tracer tree --root`: what one operation started, and where its time went. */
import type { RootReport } from '../../analyze';
import { formatDuration } from '../../analyze/report/duration';
import { formatCountOf, formatShare } from '../terminal/numbers';
import type { Screen } from '../terminal/screen';
import { renderTable } from '../terminal/table';
import { wrap } from '../terminal/text';
import { formatOp, formatOrigin } from './call-site';
import { renderRequests } from './roots';
import { renderNodes, type TreeView } from './tree-nodes';

export function renderRoot({ log, opid, found }: RootReport, screen: Screen, view: TreeView): string {
  return found
    .map((part) => {
      const { run, root, request, operations, elapsed, ran, queued, waited, started } = part;
      const where = found.length > 1 ? ` of run ${run}` : '';
      const site = formatOrigin(root, screen.folder);
      const who = `${formatOp(root)}${site === '' ? '' : ` ${site}`}`;
      const led = `led to ${formatCountOf(operations, 'operation')} in ${formatDuration(elapsed)}`;
      if (part.requestCount > 1) {
        const title = `Operation ${opid}${where}, ${who}, carried ${formatCountOf(part.requestCount, 'request')} and ${led}`;
        return renderRequestsOf(title, part, log.from, screen, view.top);
      }
      const title = `${request === null ? 'Operation' : `Request ${request} of operation`} ${opid}${where}, ${who}, ${led}`;
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

/** An operation that carried several requests: a tree of all would mix them. */
function renderRequestsOf(
  title: string,
  { requests, requestCount }: RootReport['found'][number],
  from: number | null,
  screen: Screen,
  top: number,
): string {
  const { width, colors } = screen;
  const shown = requests.slice(0, top);
  const left = requestCount - shown.length;
  const more =
    left > 0 ? colors.dim(`and ${formatCountOf(left, 'request')} more: --top ${requestCount}\n`) : '';
  const advice = colors.dim(wrap('--request N shows what one of them started', width, '  '));
  return `${colors.bold(wrap(title, width, '  '))}\n${renderRequests(shown, from, screen)}${more}\n${advice}\n`;
}
