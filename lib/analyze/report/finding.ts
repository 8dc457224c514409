/** A fault worth a look, with what shows it. */
export interface Finding {
  code: FindingCode;
  severity: 'info' | 'warning' | 'error';
  /** A sentence. */
  message: string;
  /** The figures behind the sentence; its fields depend on `code`. */
  evidence: Record<string, unknown>;
}

/** What kinds of faults there are. Further ones may be added in a minor version. */
export type FindingCode =
  | 'records-lost'
  | 'loop-held'
  | 'loop-starved'
  | 'fan-out'
  | 'growth'
  | 'handle-open'
  | 'timer-running'
  | 'request-pending'
  | 'promise-pending';
