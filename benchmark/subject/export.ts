/** Exports a log and reports the cost. argv is the format and the path. */

import fs from 'node:fs';
import { type ExportFormat, LogExport } from '../../lib/export';
import { report } from './report';

const [, , format, log] = process.argv;

async function write(): Promise<{ records: number; written: number }> {
  const all = new LogExport(log, format as ExportFormat);
  const fd = fs.openSync('/dev/null', 'w');
  for await (const chunk of all) {
    fs.writeSync(fd, chunk);
  }
  fs.closeSync(fd);
  return { records: all.report.log.records, written: all.report.bytes };
}

void write().then((figures) => {
  const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage();
  report({ ...figures, seconds: (userCPUTime + systemCPUTime) / 1e6, rssMb: maxRSS / 1024 });
});
