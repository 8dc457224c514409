/** What never ended. */
import type { LeakData, ReportData } from '../data';
import { html, section } from './dom';
import { formatCount, formatCountOf, formatDuration, opName, siteName } from './format';

export function leaksSection(data: ReportData): HTMLElement {
  const { leaks, limitations } = data;
  const kept = leaks.filter(({ verdict }) => verdict === 'kept');
  const list = (rows: readonly LeakData[]) =>
    html('ul', { class: 'leaks' }, ...rows.map((leak) => leakItem(leak, data)));
  const suspects = leaks.filter(({ verdict }) => verdict !== 'kept');
  return section(
    'Never ended',
    '',
    suspects.length === 0
      ? html('p', { class: 'summary' }, 'No leak was found.')
      : html(
          'p',
          { class: 'summary' },
          formatCountOf(
            suspects.reduce((sum, { count }) => sum + count, 0),
            'operation',
          ),
        ),
    list(suspects),
    kept.length === 0
      ? null
      : html(
          'details',
          {},
          html(
            'summary',
            {},
            `${formatCountOf(
              kept.reduce((sum, { count }) => sum + count, 0),
              'operation',
            )} alive at the end, and no leak`,
          ),
          list(kept),
        ),
    ...limitations.map((limitation) => html('p', { class: 'about' }, limitation)),
  );
}

function leakItem(
  { group, verdict, reason, count, oldest, atLeast, opids, stack }: LeakData,
  data: ReportData,
): HTMLElement {
  const age = `${atLeast ? 'at least ' : ''}${formatDuration(oldest)} old`;
  return html(
    'li',
    { class: verdict },
    html('span', { class: 'severity' }, verdict),
    html('b', {}, `${formatCount(count)} ${opName(data, group)}`),
    ` ${siteName(data, group)}: ${reason}; ${age}${opids.length > 0 ? `, opid ${opids.join(', ')}` : ''}`,
    stack === null
      ? null
      : html(
          'details',
          {},
          html('summary', {}, 'stack'),
          html('ol', { class: 'stack' }, ...stack.map((frame) => html('li', {}, frame))),
        ),
  );
}
