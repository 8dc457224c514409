/**
 * How far a run is, on standard error: a line for each measurement, with the median and the range of the rounds so far.
 * A terminal also gets a bar with the time left. The tables go to standard output.
 */
import { SingleBar } from 'cli-progress';
import { formatDuration } from '../../lib/analyze/report/duration';
import type { Answer, Series } from './result';
import { valuesOf } from './result';
import { spread } from './statistics';
import { figure } from './tables';

export interface Progress {
  /** @param rounds of each row of the question */
  begin(answer: Answer, rounds: number): void;
  /** Called before a measurement; without a series the events are counted. */
  measuring(series?: Series): void;
  /** Called after it. */
  measured(series?: Series): void;
  /** Called in place of a measurement of a row that has ended. */
  skipped(): void;
  /** Clears the bar. */
  stop(): void;
}

const TICK_MS = 1000;
const BAR_WIDTH = 20;

/** As `17.2 us CPU a request, 16.9-17.5 in 2 rounds`, by the first metric that the row has. */
export function describeSeries({ kind, unit, scale, metrics }: Answer, series: Series): string {
  const metric = metrics.find(({ key }) => valuesOf(series, key).length > 0);
  if (metric === undefined) {
    return series.unavailable ?? 'no figure';
  }
  const divisor = kind === 'cost' && scale === 'us' ? 1000 : 1;
  const values = valuesOf(series, metric.key).map((value) => value / divisor);
  const { median, min, max } = spread(values);
  const name =
    kind === 'cost' ? `${scale} ${metric.title} a ${unit}` : `${metric.unit} ${metric.title}`.trim();
  const range = values.length > 1 ? `, ${figure(min)}-${figure(max)} in ${values.length} rounds` : '';
  return `${figure(median)} ${name}${range}`;
}

/**
 * The time left, from the mean time of the measurements that are done; a dash before the first one.
 *
 * @param doneMs how long these took
 * @param currentMs how long the next one has taken so far
 */
export function timeLeft(done: number, all: number, doneMs: number, currentMs: number): string {
  if (done === 0) {
    return '-';
  }
  const leftMs = Math.max((doneMs / done) * (all - done) - currentMs, 0);
  return `${formatDuration(Math.ceil(leftMs / 1000) * 1000)} left`;
}

export function createProgress(output: NodeJS.WriteStream): Progress {
  let answer: Answer | undefined;
  let rounds = 0;
  let all = 0;
  let done = 0;
  let beganMs = 0;
  let lastMs = 0;
  let current = '';
  let bar: SingleBar | undefined;
  let timer: NodeJS.Timeout | undefined;

  const text = (): { text: string } => ({
    text: `${done}/${all} ${timeLeft(done, all, lastMs - beganMs, performance.now() - lastMs)}  ${current}`,
  });

  function hideBar(): void {
    clearInterval(timer);
    bar?.stop();
    bar = undefined;
  }

  function showBar(): void {
    if (output.isTTY !== true) {
      return;
    }
    bar = new SingleBar({
      stream: output,
      format: '{bar} {text}',
      barsize: BAR_WIDTH,
      barCompleteChar: '█',
      barIncompleteChar: '░',
      clearOnComplete: true,
      // A hidden cursor would stay hidden after a signal.
      hideCursor: false,
      gracefulExit: false,
    });
    bar.start(all, done, text());
    timer = setInterval(() => bar?.update(done, text()), TICK_MS).unref();
  }

  return {
    begin(next, ofEach) {
      [answer, rounds, done] = [next, ofEach, 0];
      beganMs = lastMs = performance.now();
      all = answer.series.length * rounds + (answer.kind === 'cost' ? 1 : 0);
      const rows = `${answer.series.length} row${answer.series.length === 1 ? '' : 's'}`;
      output.write(`${answer.question}: ${rows}, ${rounds} round${rounds === 1 ? '' : 's'}\n`);
    },
    measuring(series) {
      hideBar();
      current = series?.title ?? 'counting events';
      showBar();
    },
    measured(series) {
      hideBar();
      done++;
      lastMs = performance.now();
      if (answer === undefined) {
        return;
      }
      if (series === undefined) {
        output.write(`${answer.question}: ${figure(answer.eventsPerUnit)} events a ${answer.unit}\n`);
        return;
      }
      const round = series.rounds.length;
      const place = series.unavailable === undefined ? `round ${round} of ${rounds}, ` : '';
      output.write(`${answer.question}: ${place}${series.title}: ${describeSeries(answer, series)}\n`);
    },
    skipped() {
      done++;
    },
    stop: hideBar,
  };
}
