/**
 * Traces full load for a long time and reports the memory. argv is the tracer's options as JSON, or nothing
 * for the bare program, the path of the log, the seconds, and how often the memory is read in that time.
 */

import { AsyncResource } from 'node:async_hooks';
import fs from 'node:fs';
import v8 from 'node:v8';
import vm from 'node:vm';
import type { asyncTracer as AsyncTracer } from '../../lib/trace';
import { report } from './report';

v8.setFlagsFromString('--expose-gc');
const collect = vm.runInNewContext('gc') as () => void;

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Every kind of end: by hand, by the loop, by the garbage collection. Some operations outlive many others. */
async function work(kept: AsyncResource[]): Promise<void> {
  const reads: Promise<unknown>[] = [];
  for (let i = 0; i < 200; i++) {
    await null;
    process.nextTick(() => {});
    setTimeout(() => {}, i % 4);
    const resource = new AsyncResource(`SOAK${i % 20}`, { requireManualDestroy: i % 2 === 0 });
    resource.runInAsyncScope(() => {});
    if (i % 2 === 0) {
      kept.push(resource);
    }
    if (i % 20 === 0) {
      reads.push(fs.promises.stat('.'));
    }
  }
  await Promise.all(reads);
  for (const resource of kept.splice(0, Math.max(0, kept.length - 10_000))) {
    resource.emitDestroy();
  }
  await turn();
}

interface Sample {
  seconds: number;
  /** Heap and typed arrays in use after a collection, MB. */
  usedMB: number;
  residentMB: number;
}

async function sample(seconds: number): Promise<Sample> {
  for (let i = 0; i < 4; i++) {
    collect();
    await turn();
  }
  const { heapUsed, arrayBuffers, rss } = process.memoryUsage();
  return { seconds, usedMB: (heapUsed + arrayBuffers) / 1e6, residentMB: rss / 1e6 };
}

/** MB a minute, by least squares. */
function slope(samples: Sample[], key: 'usedMB' | 'residentMB'): number {
  const mean = (of: (sample: Sample) => number): number =>
    samples.reduce((sum, one) => sum + of(one), 0) / samples.length;
  const [x, y] = [mean(({ seconds }) => seconds), mean((one) => one[key])];
  const over = mean((one) => (one.seconds - x) * (one[key] - y));
  return (60 * over) / mean(({ seconds }) => (seconds - x) ** 2);
}

async function run(options: string, log: string, seconds: number, count: number): Promise<void> {
  // Here, so that the bare program runs without it.
  const asyncTracer = require('async-tracer') as typeof AsyncTracer;
  const tracer = options === '' ? undefined : asyncTracer(log, { ...JSON.parse(options), append: true });
  const kept: AsyncResource[] = [];
  const samples: Sample[] = [];
  const start = performance.now();
  for (let i = 1; i <= count; i++) {
    const until = start + (i * seconds * 1000) / count;
    while (performance.now() < until) {
      await work(kept);
      // As log rotation by copytruncate does: a log of minutes at full load would fill the disk.
      if (tracer !== undefined && fs.statSync(log).size > 64e6) {
        fs.truncateSync(log);
      }
    }
    samples.push(await sample((performance.now() - start) / 1000));
  }
  const stats = tracer?.stats();
  await tracer?.close();
  // Code gets hot and tables find their size in the first quarter.
  const steady = samples.slice(Math.floor(count / 4));
  report({
    firstMB: steady[0].usedMB,
    lastMB: steady[steady.length - 1].usedMB,
    usedSlope: slope(steady, 'usedMB'),
    residentMB: steady[steady.length - 1].residentMB,
    residentSlope: slope(steady, 'residentMB'),
    events: stats === undefined ? 0 : Object.values(stats.events).reduce((sum, one) => sum + one, 0) / 1e6,
    lost: stats?.lost ?? 0,
    live: stats?.live ?? 0,
  });
}

const [, , options, log, seconds, count] = process.argv;
void run(options, log, Number(seconds), Number(count));
