/** Counts the records of a log by phase without trust in who wrote it: byte by byte, with some lines parsed whole. */

import fs from 'node:fs';
import path from 'node:path';
import { type Counts, noCounts } from '../variants/recording';

export interface LogCount {
  counts: Counts;
  /** The sum of the log's own `lost` records. */
  lost: number;
  /** Lines that are no record. */
  malformed: number;
  bytes: number;
}

const CHUNK = 1 << 20;
const NEWLINE = 10;
const QUOTE = 34;
const PHASE = Buffer.from('"phase":"');
/** One line in so many goes through JSON.parse as well; all would take minutes. */
const PARSED = 1024;

/** The first letter of the phase, which differs for the four: i, b, a, d. */
const BY_LETTER = new Map<number, keyof Counts>([
  [105, 'init'],
  [98, 'before'],
  [97, 'after'],
  [100, 'destroy'],
]);

/** Where the phase's value begins in the line, or -1. */
function phaseIn(chunk: Buffer, start: number, end: number): number {
  for (let i = start + 1; i < end; i++) {
    if (chunk[i] !== QUOTE || chunk[i + 1] !== PHASE[1]) {
      continue;
    }
    let matched = 2;
    while (matched < PHASE.length && chunk[i + matched] === PHASE[matched]) {
      matched++;
    }
    if (matched === PHASE.length) {
      return i + matched;
    }
  }
  return -1;
}

function isRecord(text: string): boolean {
  try {
    return typeof JSON.parse(text).phase === 'string';
  } catch {
    return false;
  }
}

export class LogCounter {
  readonly found: LogCount = { counts: noCounts(), lost: 0, malformed: 0, bytes: 0 };
  private rest = Buffer.alloc(0);
  private lines = 0;

  /** The next bytes of the log, which may end anywhere. */
  push(bytes: Buffer): void {
    this.found.bytes += bytes.length;
    const chunk = this.rest.length === 0 ? bytes : Buffer.concat([this.rest, bytes]);
    let start = 0;
    for (;;) {
      const end = chunk.indexOf(NEWLINE, start);
      if (end === -1) {
        break;
      }
      this.line(chunk, start, end);
      start = end + 1;
    }
    this.rest = Buffer.from(chunk.subarray(start));
  }

  /** What remains without a newline is a torn line. */
  end(): LogCount {
    if (this.rest.length > 0) {
      this.found.malformed++;
    }
    return this.found;
  }

  private line(chunk: Buffer, start: number, end: number): void {
    const value = phaseIn(chunk, start, end);
    const phase = value === -1 ? undefined : BY_LETTER.get(chunk[value]);
    this.lines++;
    if (phase === undefined) {
      this.countOther(chunk.toString('utf8', start, end));
    } else if (this.lines % PARSED === 0 && !isRecord(chunk.toString('utf8', start, end))) {
      this.found.malformed++;
    } else {
      this.found.counts[phase]++;
    }
  }

  private countOther(text: string): void {
    if (!isRecord(text)) {
      this.found.malformed++;
    } else {
      this.found.lost += JSON.parse(text).count ?? 0;
    }
  }
}

export function countLog(file: string): LogCount {
  const counter = new LogCounter();
  const fd = fs.openSync(file, 'r');
  try {
    for (;;) {
      const chunk = Buffer.allocUnsafe(CHUNK);
      const length = fs.readSync(fd, chunk, 0, CHUNK, null);
      if (length === 0) {
        return counter.end();
      }
      counter.push(chunk.subarray(0, length));
    }
  } finally {
    fs.closeSync(fd);
  }
}

const CATEGORY = Buffer.from('node.async_hooks","name":"');
const CALLBACK = Buffer.from('_CALLBACK"');
const BEGIN = 98;

/** Files of node's `--trace-event-file-pattern LOG.${rotation}`: pairs of "b" and "e", for the operation and for its callback. */
export function countTraceEvents(log: string): LogCount {
  const found: LogCount = { counts: noCounts(), lost: 0, malformed: 0, bytes: 0 };
  const folder = path.dirname(log);
  for (const name of fs.readdirSync(folder)) {
    if (!name.startsWith(`${path.basename(log)}.`)) {
      continue;
    }
    const text = fs.readFileSync(path.join(folder, name));
    found.bytes += text.length;
    for (let at = text.indexOf(CATEGORY); at !== -1; at = text.indexOf(CATEGORY, at + CATEGORY.length)) {
      const quote = text.indexOf(QUOTE, at + CATEGORY.length);
      const ofCallback = text.subarray(quote + 1 - CALLBACK.length, quote + 1).equals(CALLBACK);
      const begins = text[text.lastIndexOf('"ph":"', at) + 6] === BEGIN;
      if (ofCallback) {
        found.counts[begins ? 'before' : 'after']++;
      } else {
        found.counts[begins ? 'init' : 'destroy']++;
      }
    }
  }
  return found;
}
