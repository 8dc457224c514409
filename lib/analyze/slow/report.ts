import type { Distribution } from '../report/distribution';
import type { Finding } from '../report/finding';
import type { LogReport } from '../report/log';
import type { Callback, OpGroup } from '../report/operation';

/** One operation that waited. */
export interface SlowWait extends OpGroup {
  opid: number;
  run: number;
  /** Of the init. */
  time: number;
  duration: number;
}

/** The answer of `analyzeSlow`. */
export interface SlowReport {
  report: 'slow';
  log: LogReport;
  threshold: number;
  /** The longest callbacks of all, and by op and call site those over the threshold. */
  callbacks: Callback[];
  held: (OpGroup & { count: number; total: number; max: number })[];
  /** The longest waits from init to first before, of all, and by op and call site with their spread. */
  waits: SlowWait[];
  waiting: (OpGroup & { wait: Distribution })[];
  findings: Finding[];
}
