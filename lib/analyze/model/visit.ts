import { Decoder } from '../decode/decoder';
import type { ReadOptions } from '../read/options';
import { scan } from '../read/reader';
import type { LogSource } from '../read/source';
import type { LogReport } from '../report/log';
import { type CodeOptions, codeOf } from './code-option';
import { logReport } from './log-report';
import { Operations, type OperationsOptions } from './operations';
import type { OperationVisitor } from './visitor';

/**
 * Reads a whole log and calls a visitor for its operations: see `visitor.ts`.
 *
 * @param create makes the visitor. It may keep the `Operations` it is given, for its groups and runs
 * @throws TracerError as `readLog` does, and ERR_ASYNC_TRACER_OPTION for a wrong `code`
 */
export async function visitOperations<Visitor extends OperationVisitor>(
  source: LogSource,
  reading: ReadOptions & CodeOptions,
  create: (operations: Operations) => Visitor,
  options: Omit<OperationsOptions, 'code'> = {},
): Promise<{ visitor: Visitor; log: LogReport }> {
  const decoder = new Decoder();
  const operations = new Operations(decoder, { ...options, code: codeOf(reading) });
  const visitor = create(operations);
  operations.visitor = visitor;
  const counts = await scan(source, reading, decoder, () => operations.take());
  operations.finish();
  return { visitor, log: logReport(counts, operations.runs, operations) };
}
