/** The tracer as a user calls it: by the package's name, in its compiled form. */

import fs from 'node:fs';
import type { asyncTracer as AsyncTracer } from '../../lib/trace';
import type { TracerOptions } from '../../lib/trace/options';
import type { Recording } from './recording';
import type { Way } from './variant';

function destination(log: string, way: Way): string | number | fs.WriteStream {
  if (way === 'file') {
    return log;
  }
  // The path of a pipe is opened here: the log's own reader holds the other end.
  if (way === 'pipe') {
    return fs.openSync(log, 'w');
  }
  return fs.createWriteStream(log);
}

/**
 * Longer than a measurement: a flush takes ids of its own, and here each one must belong to an event. Under load the log is
 * written by chunks.
 */
const FLUSH_INTERVAL_MS = 600_000;

export function tracer(log: string, options: TracerOptions, way: Way = 'file'): Recording {
  // Here, so that the other variants run without it.
  const asyncTracer = require('async-tracer') as typeof AsyncTracer;
  const target = destination(log, way);
  const running = asyncTracer(target, { flushInterval: FLUSH_INTERVAL_MS, ...options });
  return {
    counts() {
      const { init, before, after, destroy } = running.stats().events;
      return { init, before, after, destroy };
    },
    // At most one chunk of 256 KiB waits, as it did at the mark before: to flush it would cost an fsync.
    drain: async () => {},
    async close() {
      running.disable();
      await running.close();
      if (typeof target === 'number') {
        fs.closeSync(target);
      } else if (target instanceof fs.WriteStream) {
        await new Promise<void>((resolve) => target.end(resolve));
      }
    },
  };
}
