/** The top of the page: which log it is, what is missing from it, and the findings. */
import type { ReportData } from '../data';
import { html, section } from './dom';
import { formatBytes, formatCount, formatCountOf, formatDuration, formatShare } from './format';

const SEVERITIES = { error: 'Error', warning: 'Warning', info: 'Info' } as const;

export function pageHead({ log, sources, version, loop }: ReportData): HTMLElement {
  const [first] = log.runs;
  const who =
    log.runCount !== 1 || first === undefined
      ? formatCountOf(log.runCount, 'run')
      : [
          first.pid === null ? '1 run' : `pid ${first.pid}`,
          first.node === null ? '' : `Node ${first.node}`,
          first.error !== null
            ? `ended by ${first.error.name}: ${first.error.message.split('\n', 1)[0]}`
            : first.exitcode !== null
              ? `exit code ${first.exitcode}`
              : '',
        ]
          .filter((part) => part !== '')
          .join(', ');
  const unreadable = log.foreign + log.cut;
  const incomplete = log.runs.filter(({ complete }) => complete === false).length;
  const losses = [
    `${formatCount(log.lost)} lost`,
    `${formatCount(unreadable)} unreadable`,
    `${formatCount(log.withoutInit)} without init`,
    ...(log.forgotten > 0 ? [`${formatCountOf(log.forgotten, 'promise')} given up to bound memory`] : []),
    ...(incomplete > 0 ? [`${formatCountOf(incomplete, 'run')} of which parts are missing`] : []),
    ...log.damaged.map(({ source, message }) => `${source} could be read in part only: ${message}`),
  ];
  const isWhole = log.lost + unreadable + incomplete + log.damaged.length === 0;
  const began =
    log.from === null
      ? ''
      : new Date(log.from)
          .toISOString()
          .replace('T', ' ')
          .replace(/\.\d+Z$/, ' UTC');
  const tile = (name: string, value: string, about: string) =>
    html(
      'div',
      { class: 'tile' },
      html('dt', {}, name),
      html('dd', {}, value),
      html('dd', { class: 'about' }, about),
    );
  return html(
    'header',
    {},
    html('h1', {}, sources.join(', ')),
    html(
      'p',
      { id: 'log' },
      `${formatCountOf(log.records, 'record')} (${formatBytes(log.bytes)}) in ${formatDuration(log.elapsed)}, ${who}${began === '' ? '' : `, from ${began}`}`,
    ),
    html('p', { id: 'losses', class: isWhole ? 'about' : 'warning' }, losses.join(', ')),
    html(
      'dl',
      { class: 'tiles' },
      tile('Loop busy', formatShare(loop.share), `${formatDuration(loop.busy)} in callbacks`),
      tile(
        'Longest callback',
        formatDuration(loop.longest?.duration ?? null),
        loop.longest === null ? 'none was recorded' : (loop.longest.op ?? '?'),
      ),
      tile('Held the loop', formatCount(loop.held), `callbacks of ${formatDuration(loop.threshold)} or more`),
    ),
    html('p', { class: 'made' }, `async-tracer ${version}`),
  );
}

export function findingsSection({ findings, log }: ReportData): HTMLElement {
  const none = log.operationRecords === 0 ? 'The log holds no operation.' : 'Nothing stands out.';
  return section(
    'Findings',
    '',
    findings.length === 0
      ? html('p', { id: 'findings' }, none)
      : html(
          'ul',
          { id: 'findings' },
          ...findings.map(({ code, severity, message }) =>
            html(
              'li',
              { class: severity },
              html('span', { class: 'severity' }, SEVERITIES[severity]),
              html('code', {}, code),
              html('span', {}, message),
            ),
          ),
        ),
  );
}
