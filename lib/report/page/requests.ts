/** The slowest requests, each with where its time went and a waterfall of its operations. */
import type { ReportData, SpanData } from '../data';
import { html, section } from './dom';
import { formatCount, formatCountOf, formatDuration, formatShare, opName, siteName } from './format';

const SHOWN = 20;

export function requestsSection(data: ReportData): HTMLElement {
  const { kind, count, p50, p95, p99, max, slowest } = data.requests;
  const what = kind === 'http' ? 'request' : 'root operation';
  const title = kind === 'http' ? 'Slowest requests' : 'Slowest root operations';
  if (count === 0) {
    return section(title, '', html('p', {}, 'The log has none.'));
  }
  const longest = slowest[0].elapsed;
  const list = html('ol', { class: 'requests' });
  let shown = 0;
  const more = html('button', { type: 'button', class: 'more', click: () => add(slowest.length) });
  function add(until: number): void {
    list.append(
      ...slowest.slice(shown, until).map((span, i) => requestItem(span, shown + i + 1, longest, data)),
    );
    shown = Math.min(until, slowest.length);
    more.hidden = shown >= slowest.length;
    more.textContent = `Show ${formatCount(slowest.length - shown)} more`;
  }
  add(SHOWN);
  const about =
    kind === 'http'
      ? 'From the message to the last thing that it led to.'
      : 'The log has no HTTP request, so these are operations that nothing in it started.';
  return section(
    title,
    about,
    html(
      'p',
      { class: 'summary' },
      `${formatCountOf(count, what)}: median ${formatDuration(p50)}, p95 ${formatDuration(p95)}, p99 ${formatDuration(p99)}, longest ${formatDuration(max)}`,
    ),
    html(
      'ul',
      { class: 'legend' },
      html('li', {}, html('i', { class: 'swatch run' }), 'run: it or what it started ran'),
      html('li', {}, html('i', { class: 'swatch queued' }), 'queued: something else ran'),
      html('li', {}, html('i', { class: 'swatch wait' }), 'wait: nothing ran'),
    ),
    list,
    more,
  );
}

function requestItem(span: SpanData, rank: number, longest: number, data: ReportData): HTMLElement {
  const { time, wait, queued, run, elapsed, operations } = span;
  const from = data.log.from ?? 0;
  const segments = html('span', { class: 'segments' });
  for (const [name, value] of Object.entries({ run, queued, wait })) {
    const segment = html('i', { class: name, title: `${name} ${formatDuration(value)}` });
    segment.style.width = `${longest > 0 ? (value / longest) * 100 : 0}%`;
    segments.append(segment);
  }
  const body = html('div', { class: 'request-body' });
  const details = html(
    'details',
    {
      toggle: () => {
        if (details.open && body.childElementCount === 0) {
          body.append(...requestBody(span, data));
        }
      },
    },
    html(
      'summary',
      {},
      html('span', { class: 'rank' }, `${rank}`),
      html('span', { class: 'took' }, formatDuration(elapsed)),
      segments,
      html(
        'span',
        { class: 'request-name' },
        `${requestName(span, data)} at ${formatDuration(Math.max(0, time - from))}, ${formatCountOf(operations, 'operation')}`,
      ),
    ),
    body,
  );
  return html('li', {}, details);
}

/** The call site of the first thing that the program started in it; without one the op. */
function requestName({ parts, group, opid }: SpanData, data: ReportData): string {
  const { groups, sites } = data;
  const named = parts.find(
    ([part]) => groups[part][3] >= 0 && !groups[part][4] && !/node_modules/.test(sites[groups[part][3]]),
  );
  return named === undefined ? `${opName(data, group)} ${opid}` : siteName(data, named[0]);
}

function requestBody(span: SpanData, data: ReportData): HTMLElement[] {
  const { run, queued, wait, elapsed, parts, group, opid } = span;
  const share = (name: string, value: number) =>
    `${name} ${formatDuration(value)} (${formatShare(elapsed > 0 ? value / elapsed : 0)})`;
  const sentence = html(
    'p',
    {},
    `${opName(data, group)} ${opid}: ${[share('run', run), share('queued', queued), share('wait', wait)].join(', ')}. ${siteName(data, group)}`,
  );
  if (parts.length === 0) {
    return [sentence, html('p', { class: 'about' }, 'Its operations were not kept.')];
  }
  const left = span.operations + 1 - parts.length;
  return [
    sentence,
    html(
      'div',
      { class: 'waterfall', role: 'table', 'aria-label': 'Operations of the request' },
      ...parts.map((part) => waterfallRow(part, elapsed, data)),
    ),
    ...(left > 0
      ? [html('p', { class: 'about' }, `${formatCountOf(left, 'shorter operation')} not shown.`)]
      : []),
  ];
}

function waterfallRow(
  [group, start, firstBefore, end, run]: SpanData['parts'][number],
  elapsed: number,
  data: ReportData,
): HTMLElement {
  const lane = html('span', { class: 'lane', role: 'cell' });
  const place = (name: string, from: number, to: number): void => {
    const bar = html('i', { class: name });
    bar.style.left = `${(from / elapsed) * 100}%`;
    bar.style.width = `${(Math.max(0, to - from) / elapsed) * 100}%`;
    lane.append(bar);
  };
  if (elapsed > 0) {
    place('wait', start, firstBefore ?? end);
    if (firstBefore !== null) {
      place('run', firstBefore, end);
    }
  }
  const site = siteName(data, group);
  const waited =
    firstBefore === null
      ? 'never ran'
      : `waited ${formatDuration(firstBefore - start)}, ran ${formatDuration(run)}`;
  return html(
    'div',
    {
      class: 'part',
      role: 'row',
      title: `${opName(data, group)} ${site}: begun after ${formatDuration(start)}, ${waited}`,
    },
    html('span', { class: 'part-name', role: 'cell' }, html('b', {}, opName(data, group)), ` ${site}`),
    lane,
    html('span', { class: 'part-run', role: 'cell' }, waited),
  );
}
