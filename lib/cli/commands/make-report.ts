/** The shared part of report, view and run --report: the page of some logs, made with a progress bar. */
import { resolve } from 'node:path';
import { checkWritable, makeReport, type ReportData, writeWhole } from '../../report';
import { refuseOverwrite } from '../arguments/output-path';
import { formatBytes } from '../terminal/numbers';
import { printMessage } from '../terminal/output';
import { withProgress } from '../terminal/progress';
import { refuseNoLog } from './answer';

/** Where the report goes unless a name is given. */
export const DEFAULT_REPORT = 'async-tracer-report.html';

export interface MadeReport {
  html: string;
  data: ReportData;
  /** What making it took. */
  seconds: number;
}

/**
 * @param isNamed whether the person named the logs
 * @throws TracerError ERR_ASYNC_TRACER_INPUT where a log cannot be read, or holds no record
 */
export async function reportOf(
  sources: readonly string[],
  isNamed: boolean,
  heldMs?: number,
): Promise<MadeReport> {
  const began = performance.now();
  const names = sources.map((source) => (source === '-' ? 'standard input' : source));
  const made = await withProgress((onProgress) =>
    makeReport([...sources], { onProgress, heldMs, names, folder: process.cwd() }),
  );
  refuseNoLog(sources, isNamed, made.data.log);
  return { ...made, seconds: Math.round(performance.now() - began) / 1000 };
}

/** Writes the report of the logs of `run`. */
export async function writeReport(logs: readonly string[], output: string): Promise<void> {
  const path = resolve(output);
  checkWritable(path);
  refuseOverwrite(path, logs);
  const { html } = await reportOf(logs, true);
  writeWhole(path, html);
  printMessage(`the report is ${output} (${formatBytes(Buffer.byteLength(html))})`);
}
