/** A log of real traced load, for questions about reading. */

import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { Child } from './process';
import type { Setting } from './question';

const FULL_MB = 1050;
const SHORT_MB = 20;
const SUBJECT = path.join(__dirname, '../subject');
const PACKAGE = path.join(__dirname, '../../..');

export interface TrafficLog {
  file: string;
  bytes: number;
}

let made: Promise<TrafficLog> | undefined;

/** One log for all rows and rounds of all questions: it takes longer to make than to read. */
export function trafficLog(setting: Setting): Promise<TrafficLog> {
  made ??= make(setting);
  return made;
}

async function make(setting: Setting): Promise<TrafficLog> {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'async-tracer-benchmark-'));
  process.once('exit', () => fs.rmSync(folder, { recursive: true, force: true }));
  const file = path.join(folder, 'log');
  const child = new Child({
    node: setting.node,
    args: [path.join(SUBJECT, 'traffic.js'), file, String(setting.short ? SHORT_MB : FULL_MB), '0'],
    cwd: PACKAGE,
  });
  const { bytes, lost } = await child.next<{ bytes: number; lost: number }>();
  await child.end();
  if (lost > 0) {
    throw new Error(`${lost} records of the log were lost while it was made`);
  }
  return { file, bytes };
}
