/**
 * A thread that stores the time once a millisecond, so that the traced thread reads it for the price of a load. The
 * error is about 1 ms (p99), a few where the thread has to wait for a core; idle it takes 2% of one.
 */
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { asOwn } from './own';

/** Where in the shared array: milliseconds since the anchor (0: not running), and the order to stop. */
export const MILLISECONDS = 0;
export const STOP = 1;
export const TICK_MS = 1;

export interface TickerData {
  ticker: Int32Array;
  anchorNs: number;
}

export interface Ticker {
  /** Milliseconds since the anchor; 0 until the thread runs, and when it has ended. */
  read(): number;
  stop(): void;
}

const { store, notify } = Atomics;

export function startTicker(anchorNs: number): Ticker {
  const ticker = new Int32Array(new SharedArrayBuffer(8));
  asOwn(() => {
    const worker = new Worker(join(__dirname, 'ticker-thread.js'), {
      workerData: { ticker, anchorNs } satisfies TickerData,
      // Nothing of the program's: neither its preloads (NODE_OPTIONS, -r) nor its environment.
      execArgv: [],
      env: {},
      resourceLimits: { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 2 },
    });
    const ended = (): void => {
      store(ticker, MILLISECONDS, 0);
    };
    // Where no thread can be had (its limits, the process's), times are precise: dearer, and never wrong.
    worker.on('error', ended);
    worker.on('exit', ended);
    worker.unref();
  });
  return {
    // No Atomics.load: V8 does not inline it before Node 22 (12 ns), and any value that was ever stored will do.
    read: () => ticker[MILLISECONDS],
    stop() {
      store(ticker, STOP, 1);
      notify(ticker, STOP);
    },
  };
}
