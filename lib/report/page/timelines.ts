/** The event loop and the operations alive, over the time of one run. */
import type { ReportData, TimelineData } from '../data';
import { chart, type Series } from './chart';
import { html, section } from './dom';
import { formatCount, formatDuration, formatShare } from './format';
import { TimeRange } from './range';

/** Further areas are drawn as one. */
const MAX_AREAS = 7;
/** Buckets that fill the screen at the least. */
const NARROWEST_BUCKETS = 8;

export function timelinesSection(data: ReportData): HTMLElement {
  const { timelines } = data;
  if (timelines.length === 0) {
    return section('Event loop', '', html('p', {}, 'No callback was recorded.'));
  }
  const charts = html('div', { class: 'charts' });
  const choice = html(
    'select',
    {
      'aria-label': 'Run',
      change: () => charts.replaceChildren(...runCharts(timelines[choice.selectedIndex], data)),
    },
    ...timelines.map(({ name, from, to }) => html('option', {}, `${name}, ${formatDuration(to - from)}`)),
  );
  charts.replaceChildren(...runCharts(timelines[0], data));
  const left = data.log.runCount - timelines.length;
  return section(
    'Event loop',
    'Drag over a chart to zoom in, double-click to see all. With the focus on a chart: the wheel, + and − zoom, ← and → move, 0 shows all.',
    timelines.length > 1
      ? html(
          'p',
          {},
          html('label', {}, 'Run ', choice),
          left > 0 ? ` ${formatCount(left)} shorter runs are not shown` : '',
        )
      : null,
    charts,
  );
}

function runCharts(timeline: TimelineData, { loop }: ReportData): HTMLElement[] {
  const { from, to, width, liveWidth } = timeline;
  const elapsed = Math.max(to - from, width);
  const range = new TimeRange(0, elapsed, Math.min(elapsed, width * NARROWEST_BUCKETS));
  const summary = html('p', { class: 'summary', id: 'visible', role: 'status' });
  const summarize = (): void => {
    const held = sumOf(timeline.held, timeline.width, range);
    const busy = sumOf(timeline.busy, timeline.width, range);
    const share = (ms: number) => `${formatShare(ms / range.span)} (${formatDuration(ms)})`;
    summary.textContent = `${formatDuration(range.from)} to ${formatDuration(range.to)}: held ${share(held)}, busy ${share(busy)}, idle ${share(Math.max(0, range.span - held - busy))}`;
  };
  range.onChange(summarize);
  summarize();
  const button = (text: string, label: string, click: () => void) =>
    html('button', { type: 'button', 'aria-label': label, click }, text);
  const loopSeries: Series[] = [
    {
      name: `held (callbacks of ${formatDuration(loop.threshold)} or more)`,
      color: 'held',
      values: timeline.held,
    },
    { name: 'busy (other callbacks)', color: 'busy', values: timeline.busy },
  ];
  const loopChart = chart({
    label: 'Share of time in callbacks',
    series: loopSeries,
    width,
    range,
    top: () => 1,
    combine: 'mean',
    formatValue: (value) => `${Math.round(value * 100)} %`,
    describe: ([held, busy]) =>
      `held ${formatShare(Math.min(1, held / width))}, busy ${formatShare(Math.min(1, busy / width))}`,
  });
  const boxes = [
    html(
      'div',
      { class: 'panel' },
      html(
        'div',
        { class: 'zoom' },
        summary,
        button('+', 'Zoom in', () => range.zoom(0.5)),
        button('−', 'Zoom out', () => range.zoom(2)),
        button('All', 'Show all', () => range.reset()),
      ),
      loopChart,
    ),
  ];
  if (timeline.live.length > 0) {
    const series = liveSeries(timeline);
    boxes.push(
      html(
        'div',
        { class: 'panel' },
        html('h3', {}, 'Operations alive, by area'),
        chart({
          label: 'Operations alive, by area',
          series,
          width: liveWidth,
          range,
          top: (sums) => roundUp(Math.max(2, ...sums)),
          combine: 'last',
          formatValue: (value) => formatCount(Math.round(value)),
          describe: (values) =>
            series
              .map(({ name }, i) => ({ name, value: values[i] }))
              .filter(({ value }) => value > 0)
              .map(({ name, value }) => `${name} ${formatCount(value)}`)
              .join(', ') || 'none',
        }),
      ),
    );
  }
  return boxes;
}

function liveSeries({ live }: TimelineData): Series[] {
  const few = live.length <= MAX_AREAS + 1;
  const shown = few ? live : live.slice(0, MAX_AREAS);
  const series = shown.map(({ area, counts }, i) => ({ name: area, color: `area-${i}`, values: counts }));
  if (few) {
    return series;
  }
  const rest = live.slice(MAX_AREAS);
  const values = rest[0].counts.map((_, bucket) =>
    rest.reduce((sum, { counts }) => sum + (counts[bucket] ?? 0), 0),
  );
  return [...series, { name: `${rest.length} others`, color: `area-${MAX_AREAS}`, values }];
}

/** The sum of the buckets in a range; of those at its ends the part that is inside. */
function sumOf(values: readonly number[], width: number, { from, to }: TimeRange): number {
  let sum = 0;
  for (
    let bucket = Math.floor(from / width);
    bucket < Math.min(values.length, Math.ceil(to / width));
    bucket++
  ) {
    const inside = Math.min(to, (bucket + 1) * width) - Math.max(from, bucket * width);
    sum +=
      inside >= width || to - from >= width * values.length - width
        ? values[bucket]
        : values[bucket] * (inside / width);
  }
  return sum;
}

/** The next number of 1, 2 or 5 and zeros. */
function roundUp(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value));
  return ([1, 2, 4, 5, 8, 10].find((factor) => factor * power >= value) ?? 10) * power;
}
