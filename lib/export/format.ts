import type { Operations } from '../analyze/model/operations';
import type { OperationVisitor } from '../analyze/model/visitor';
import type { Chunks } from './chunks';
import type { Cut } from './cut';

/** What was exported. */
export interface ExportCounts {
  /** Operations that are in the file. */
  operations: number;
  /** Callbacks that are in the file. */
  callbacks: number;
  /** Arrows from the callback that started an operation to its first callback; 0 in formats without arrows. */
  flows: number;
  /** Callbacks that are not in the file: they began, and their end is missing though the log goes on. */
  leftOut: number;
  /** Callbacks that had not ended when the log did. They end with it. */
  unended: number;
  /** Events, samples or packets that were written. */
  events: number;
}

/** One export: follows the log, writes into `Chunks`. */
export interface Exporter {
  readonly visitor: OperationVisitor;
  /** The rest of the file, once the log was read. Yields where what was written may be passed on. */
  finish(): Generator<void>;
  counts(): ExportCounts;
}

export type CreateExporter = (operations: Operations, cut: Cut, chunks: Chunks) => Exporter;
