/**
 * A thread that stores the time once a millisecond, so that the traced thread reads it for the price of a load. The
 * error is about 1 ms (p99), a few where the thread has to wait for a core; idle it takes 2 to 4% of one.
 */
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { runAsOwn } from '../runtime/own-operations';

const TICK_MS = 1;

/** What the two threads share. */
export interface TickerData {
  /** [0]: milliseconds since the anchor; 0: not running. A double, since an integer would be full after 25 days. */
  milliseconds: Float64Array;
  /** [0]: 1 is the order to stop. */
  stop: Int32Array;
  anchorNs: number;
  /** Between two stores. */
  tickMs: number;
}

export interface Ticker {
  /** Milliseconds since the anchor; 0 until the thread runs, and when it has ended. */
  read(): number;
  stop(): void;
}

const { store, notify } = Atomics;

export function startTicker(anchorNs: number): Ticker {
  const milliseconds = new Float64Array(new SharedArrayBuffer(8));
  const stop = new Int32Array(new SharedArrayBuffer(4));
  const ended = (): void => {
    milliseconds[0] = 0;
  };
  const start = (): void => {
    const worker = new Worker(join(__dirname, 'ticker-thread.js'), {
      workerData: { milliseconds, stop, anchorNs, tickMs: TICK_MS } satisfies TickerData,
      // Nothing of the program's: neither its preloads (NODE_OPTIONS, -r) nor its environment.
      execArgv: [],
      env: {},
      // Piped to the program's otherwise, which makes Node open these: a pipe as standard output would not block then.
      stdout: true,
      stderr: true,
      resourceLimits: { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 2 },
    });
    worker.on('error', ended);
    worker.on('exit', ended);
    worker.unref();
  };
  try {
    runAsOwn(start);
  } catch {
    // Where no thread can be had (its limits, the process's, Node's --permission), times are read from the precise clock:
    // dearer, and never wrong.
  }
  return {
    // No Atomics: any value that was ever stored will do.
    read: () => milliseconds[0],
    stop() {
      store(stop, 0, 1);
      notify(stop, 0);
    },
  };
}
