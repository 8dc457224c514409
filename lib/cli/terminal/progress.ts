/** A progress bar on standard error while a long log is read, where standard error is a terminal. */
import { SingleBar } from 'cli-progress';
import type { ReadProgress } from '../../analyze';
import { formatDuration } from '../../analyze/report/duration';
import { formatBytes, formatCount } from './numbers';

/** No bar for a log that is read in less time. */
const SHOW_AFTER_MS = 500;
const REDRAW_MS = 100;
const BAR_WIDEST = 24;
const BAR_NARROWEST = 8;
/** The width of `reading ` and of the longest text: `100 % of 99.9 GB  9,999,999 records/s  119 min left`. */
const BESIDE_BAR = 62;

export type OnProgress = ((progress: ReadProgress) => void) | undefined;

export interface Progress {
  onProgress: OnProgress;
  /** Clears the bar from the screen. */
  stop(): void;
}

/** The text beside the bar. */
export function describeProgress({ bytes, totalBytes, records }: ReadProgress, elapsedMs: number): string {
  const rate = `${formatCount(Math.round((records / elapsedMs) * 1000))} records/s`;
  if (totalBytes === undefined || bytes === 0) {
    return `${formatBytes(bytes)}  ${formatCount(records)} records  ${rate}`;
  }
  const left = (elapsedMs / bytes) * Math.max(totalBytes - bytes, 0);
  return `${Math.floor((bytes / totalBytes) * 100)} % of ${formatBytes(totalBytes)}  ${rate}  ${formatDuration(Math.ceil(left / 1000) * 1000)} left`;
}

export function startProgress(output: NodeJS.WriteStream): Progress {
  if (output.isTTY !== true) {
    return { onProgress: undefined, stop() {} };
  }
  const began = performance.now();
  let drawn = 0;
  let bar: SingleBar | undefined;
  return {
    onProgress(progress) {
      const now = performance.now();
      if (now - began < SHOW_AFTER_MS || now - drawn < REDRAW_MS) {
        return;
      }
      drawn = now;
      const { bytes, totalBytes } = progress;
      const [value, text] = [
        totalBytes === undefined ? 0 : Math.min(bytes, totalBytes),
        { text: describeProgress(progress, now - began) },
      ];
      if (bar === undefined) {
        bar = new SingleBar({
          stream: output,
          format: totalBytes === undefined ? 'reading {text}' : 'reading {bar} {text}',
          barsize: Math.max(BAR_NARROWEST, Math.min(BAR_WIDEST, output.columns - BESIDE_BAR)),
          barCompleteChar: '█',
          barIncompleteChar: '░',
          clearOnComplete: true,
          // A hidden cursor would stay hidden after a signal.
          hideCursor: false,
          gracefulExit: false,
          linewrap: true,
        });
        bar.start(totalBytes ?? 1, value, text);
      } else {
        bar.update(value, text);
      }
    },
    stop() {
      bar?.stop();
    },
  };
}

/** Shows the bar while `work` reads. */
export async function withProgress<T>(work: (onProgress: OnProgress) => Promise<T>): Promise<T> {
  const progress = startProgress(process.stderr);
  try {
    return await work(progress.onProgress);
  } finally {
    progress.stop();
  }
}
