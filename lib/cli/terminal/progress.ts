/** A bar on standard error while a long log is read, where that is a terminal. */
import { SingleBar } from 'cli-progress';
import type { ReadProgress } from '../../analyze';
import { formatDuration } from '../../analyze/report/duration';
import { formatBytes, formatCount } from './numbers';

/** Reading that is over before needs no bar. */
const PATIENCE_MS = 500;
const REDRAW_MS = 100;
const BAR_WIDEST = 24;
const BAR_NARROWEST = 8;
/** `reading ` and the longest text that there may be: `100 % of 99.9 GB  9,999,999 records/s  119 min left`. */
const BESIDE_BAR = 62;

export interface Progress {
  onProgress: ((progress: ReadProgress) => void) | undefined;
  /** Takes the bar from the screen. */
  stop(): void;
}

/** One line of the bar's text. */
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
      if (now - began < PATIENCE_MS || now - drawn < REDRAW_MS) {
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
          // A signal would leave the terminal without a cursor.
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
