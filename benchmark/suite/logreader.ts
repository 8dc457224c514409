/** Finds out what a variant's log holds, wherever it goes. */

import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import type { Variant } from '../variants/variant';
import { countLog, countTraceEvents, type LogCount, LogCounter } from './logcount';
import { Child } from './process';
import { type Setting, Unavailable } from './question';

const SINK = path.join(__dirname, '../subject/sink.js');

export interface LogReader {
  /** Called when the program has ended. Undefined where the variant writes nothing. */
  count(): Promise<LogCount | undefined>;
  /** Called in any case. */
  stop(): void;
}

/** A named pipe is a pipe of the kernel; what node gives a child as a "pipe" is a socket. */
function pipeReader(log: string, setting: Setting): LogReader {
  if (spawnSync('mkfifo', [log]).status !== 0) {
    throw new Unavailable('no named pipes here');
  }
  const sink = new Child({
    node: process.execPath,
    args: [SINK, log],
    core: setting.pins?.other,
    cwd: path.dirname(log),
  });
  return {
    count: () => sink.next<LogCount>(),
    stop: () => sink.kill(),
  };
}

export function logReader(variant: Variant, log: string, setting: Setting): LogReader {
  if (variant.way === 'pipe') {
    return pipeReader(log, setting);
  }
  return {
    async count() {
      if (variant.log === undefined || variant.log === 'bytes') {
        return undefined;
      }
      if (variant.log === 'trace events') {
        return countTraceEvents(log);
      }
      // Who writes nothing may not even make the file.
      return fs.existsSync(log) ? countLog(log) : new LogCounter().end();
    },
    stop() {},
  };
}
