/** Stacked areas over time, with an axis, a legend and a readout; zoomed by drag, wheel and keys. */
import { html, svg } from './dom';
import { formatDuration } from './format';
import type { TimeRange } from './range';

export interface Series {
  name: string;
  /** Class of its colour. */
  color: string;
  /** By bucket of the chart's width. */
  values: readonly number[];
}

export interface ChartOptions {
  label: string;
  series: readonly Series[];
  /** Milliseconds of a bucket. */
  width: number;
  range: TimeRange;
  /** The top of the vertical axis for what is visible; the sums of the columns are given. */
  top: (sums: readonly number[]) => number;
  /** A column of several buckets: its mean, or the highest of its levels. */
  combine: 'mean' | 'last';
  formatValue: (value: number) => string;
  /** The text for a moment: a value of each series. */
  describe: (values: readonly number[]) => string;
}

const HEIGHT = 180;
const LEFT = 52;
const BOTTOM = 24;
const TOP = 8;
const TICK_PX = 110;
const ZOOM = 1.4;

export function chart(options: ChartOptions): HTMLElement {
  const { label, series, range, describe } = options;
  const plot = svg('svg', { class: 'plot', role: 'img', 'aria-label': label, height: HEIGHT });
  const readout = html('div', { class: 'readout', 'aria-hidden': 'true' });
  const legend = html(
    'ul',
    { class: 'legend' },
    ...series.map(({ name, color }) => html('li', {}, html('i', { class: `swatch ${color}` }), name)),
  );
  const frame = html(
    'div',
    {
      class: 'chart',
      tabindex: 0,
      role: 'group',
      'aria-label': `${label}. Plus and minus zoom, arrows move, 0 shows all.`,
    },
    plot,
  );
  let selection: SVGRectElement | undefined;
  let dragFrom = 0;

  const plotWidth = (): number => Math.max(50, plot.clientWidth - LEFT);
  const timeAt = (x: number): number => range.from + ((x - LEFT) / plotWidth()) * range.span;
  const xOf = (event: MouseEvent): number =>
    Math.min(Math.max(LEFT, event.clientX - plot.getBoundingClientRect().left), LEFT + plotWidth());

  const draw = (): void => {
    plot.replaceChildren(...drawing(options, plot.clientWidth || 900));
    selection = undefined;
  };
  const showMoment = (time: number): void => {
    const bucket = Math.floor(time / options.width);
    readout.textContent = `${formatDuration(Math.max(0, time))}: ${describe(series.map(({ values }) => values[bucket] ?? 0))}`;
  };

  plot.addEventListener('pointerdown', (event) => {
    if (event.button !== 0) {
      return;
    }
    dragFrom = xOf(event);
    plot.setPointerCapture(event.pointerId);
    selection = svg('rect', {
      class: 'selection',
      y: TOP,
      height: HEIGHT - TOP - BOTTOM,
      x: dragFrom,
      width: 0,
    });
    plot.append(selection);
  });
  plot.addEventListener('pointermove', (event) => {
    const x = xOf(event);
    showMoment(timeAt(x));
    selection?.setAttribute('x', String(Math.min(x, dragFrom)));
    selection?.setAttribute('width', String(Math.abs(x - dragFrom)));
  });
  plot.addEventListener('pointerup', (event) => {
    if (selection === undefined) {
      return;
    }
    const x = xOf(event);
    const [from, to] = [timeAt(Math.min(x, dragFrom)), timeAt(Math.max(x, dragFrom))];
    selection.remove();
    selection = undefined;
    if (Math.abs(x - dragFrom) > 4) {
      range.set(from, to);
    }
  });
  plot.addEventListener('pointerleave', () => {
    readout.textContent = '';
  });
  plot.addEventListener('dblclick', () => range.reset());
  frame.addEventListener(
    'wheel',
    (event) => {
      // Without focus the wheel scrolls the page.
      if (document.activeElement === frame || event.ctrlKey) {
        event.preventDefault();
        range.zoom(event.deltaY > 0 ? ZOOM : 1 / ZOOM, timeAt(xOf(event)));
      }
    },
    { passive: false },
  );
  frame.addEventListener('keydown', (event) => {
    const actions: Record<string, () => void> = {
      '+': () => range.zoom(1 / ZOOM),
      '=': () => range.zoom(1 / ZOOM),
      '-': () => range.zoom(ZOOM),
      ArrowLeft: () => range.move(-0.2),
      ArrowRight: () => range.move(0.2),
      '0': () => range.reset(),
      Home: () => range.reset(),
    };
    const action = actions[event.key];
    if (action !== undefined && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      action();
    }
  });
  range.onChange(draw);
  new ResizeObserver(draw).observe(frame);
  return html('div', { class: 'chart-box' }, html('div', { class: 'chart-head' }, legend, readout), frame);
}

/** What the drawing shows in a pixel: the buckets under it. */
function columnsOf({ series, width, range, combine }: ChartOptions, pixels: number): number[][] {
  const last = Math.ceil(range.maxTo / width) - 1;
  return series.map(({ values }) =>
    Array.from({ length: pixels }, (_, x) => {
      const from = Math.floor((range.from + (x / pixels) * range.span) / width);
      const to = Math.max(from + 1, Math.floor((range.from + ((x + 1) / pixels) * range.span) / width));
      if (combine === 'last') {
        return values[Math.min(to - 1, values.length - 1)] ?? 0;
      }
      let sum = 0;
      for (let bucket = from; bucket < to; bucket++) {
        sum += values[bucket] ?? 0;
      }
      // The last bucket of the log is rarely full: its time ends with the log.
      const end = to > last ? range.maxTo : to * width;
      const time = end - from * width;
      return time > 0 ? Math.min(1, sum / time) : 0;
    }),
  );
}

function drawing(options: ChartOptions, total: number): SVGElement[] {
  const { series, range, formatValue } = options;
  const pixels = Math.max(50, Math.floor(total - LEFT));
  const height = HEIGHT - TOP - BOTTOM;
  const columns = columnsOf(options, pixels);
  const sums = Array.from({ length: pixels }, (_, x) => columns.reduce((sum, column) => sum + column[x], 0));
  const top = options.top(sums);
  const yOf = (value: number): number => TOP + height * (1 - Math.min(1, value / top));
  const elements: SVGElement[] = [svg('rect', { class: 'ground', x: LEFT, y: TOP, width: pixels, height })];
  for (const part of [0, 0.5, 1]) {
    const y = yOf(top * part);
    elements.push(
      svg('line', { class: 'grid', x1: LEFT, x2: LEFT + pixels, y1: y, y2: y }),
      svg('text', { class: 'tick', x: LEFT - 6, y: y + 4, 'text-anchor': 'end' }, formatValue(top * part)),
    );
  }
  const base = new Array<number>(pixels).fill(0);
  series.forEach(({ color }, i) => {
    let upper = '';
    let lower = '';
    for (let x = 0; x < pixels; x++) {
      const [y0, y1] = [yOf(base[x]), yOf(base[x] + columns[i][x])];
      upper += `${LEFT + x},${y1.toFixed(1)} ${LEFT + x + 1},${y1.toFixed(1)} `;
      lower = `${LEFT + x + 1},${y0.toFixed(1)} ${LEFT + x},${y0.toFixed(1)} ${lower}`;
      base[x] += columns[i][x];
    }
    elements.push(svg('polygon', { class: `area ${color}`, points: upper + lower }));
  });
  for (const time of ticksOf(range, pixels)) {
    const x = LEFT + ((time - range.from) / range.span) * pixels;
    const anchor = x > LEFT + pixels - 30 ? 'end' : x < LEFT + 20 ? 'start' : 'middle';
    elements.push(
      svg('line', { class: 'grid', x1: x, x2: x, y1: TOP + height, y2: TOP + height + 4 }),
      svg('text', { class: 'tick', x, y: HEIGHT - 6, 'text-anchor': anchor }, tickText(time, range)),
    );
  }
  return elements;
}

/** Round times with room for their texts. */
function ticksOf({ from, to, span }: TimeRange, pixels: number): number[] {
  const raw = span / Math.max(1, Math.floor(pixels / TICK_PX));
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((candidate) => candidate >= raw) ?? raw;
  const ticks: number[] = [];
  for (let time = Math.ceil(from / step) * step; time <= to; time += step) {
    ticks.push(time);
  }
  return ticks;
}

function tickText(time: number, { span, to }: TimeRange): string {
  const [unit, name] = to >= 120_000 ? [60_000, 'min'] : to >= 1000 ? [1000, 's'] : [1, 'ms'];
  const digits = Math.max(0, 1 - Math.floor(Math.log10(span / unit)));
  return `${Number((time / unit).toFixed(digits))} ${name}`;
}
