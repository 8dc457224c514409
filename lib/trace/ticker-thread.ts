/** What runs in the thread that ticker.ts starts: stores the milliseconds since the anchor until it is told to stop. */
import { workerData } from 'node:worker_threads';
import { MILLISECONDS, STOP, TICK_MS, type TickerData } from './ticker';

const { ticker, anchorNs } = workerData as TickerData;

while (Atomics.load(ticker, STOP) === 0) {
  const elapsedMs = Math.floor((Number(process.hrtime.bigint()) - anchorNs) / 1e6);
  Atomics.store(ticker, MILLISECONDS, Math.max(1, elapsedMs));
  Atomics.wait(ticker, STOP, 0, TICK_MS);
}
