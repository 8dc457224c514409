/** The report: a log as one page that a browser shows. */
import type { LogSource } from '../analyze';
import { type CollectOptions, collectReport } from './collect';
import type { ReportData } from './data';
import { renderPage } from './html';

export type { CollectOptions } from './collect';
export type { ReportData } from './data';
export { checkWritable, writeWhole } from './write';

/**
 * Makes the page of a log.
 *
 * @throws TracerError as `readLog` does
 */
export async function makeReport(
  source: LogSource,
  options: CollectOptions,
): Promise<{ html: string; data: ReportData }> {
  const data = await collectReport(source, options);
  return { html: renderPage(data), data };
}
