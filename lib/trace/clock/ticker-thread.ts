/** What runs in the thread that ticker.ts starts: stores the milliseconds since the anchor until it is asked to stop. */
import { workerData } from 'node:worker_threads';
import type { TickerData } from './ticker';

const { milliseconds, stop, anchorNs, tickMs } = workerData as TickerData;

while (Atomics.load(stop, 0) === 0) {
  const elapsedMs = Math.floor((Number(process.hrtime.bigint()) - anchorNs) / 1e6);
  milliseconds[0] = Math.max(1, elapsedMs);
  Atomics.wait(stop, 0, 0, tickMs);
}
