/** Logs in the formats of viewers. */

export type { CutOptions } from './cut';
export { EPOCH_MS } from './cut';
export {
  EXPORT_FORMATS,
  type ExportFormat,
  type ExportOptions,
  type ExportReport,
  LogExport,
} from './export';
