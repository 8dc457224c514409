import { Decoder } from '../decode/decoder';
import type { ReadOptions } from '../read/options';
import { scan } from '../read/reader';
import type { LogSource } from '../read/source';
import type { LogReport } from '../report/log';
import { logReport } from './log-report';
import { Operations, type OperationsOptions } from './operations';
import type { OperationVisitor } from './visitor';

/**
 * Reads a whole log and calls a visitor for its operations: see `visitor.ts`.
 *
 * @param create makes the visitor. It may keep the `Operations` it is given, for its groups and runs
 * @throws TracerError as `readLog` does
 */
export async function visitOperations<Visitor extends OperationVisitor>(
  source: LogSource,
  reading: ReadOptions,
  create: (operations: Operations) => Visitor,
  options: OperationsOptions = {},
): Promise<{ visitor: Visitor; log: LogReport }> {
  const decoder = new Decoder();
  const operations = new Operations(decoder, options);
  const visitor = create(operations);
  operations.visitor = visitor;
  return { visitor, log: await visitModels(source, reading, decoder, [operations]) };
}

/**
 * Reads a whole log once for several models, as one with `splitByVia` and one without. Each calls its own visitor.
 *
 * @param decoder with which the models were made
 * @returns the log as the first model describes it
 * @throws TracerError as `readLog` does
 */
export async function visitModels(
  source: LogSource,
  reading: ReadOptions,
  decoder: Decoder,
  models: readonly Operations[],
): Promise<LogReport> {
  const counts = await scan(source, reading, decoder, () => {
    for (const model of models) {
      model.take();
    }
  });
  for (const model of models) {
    model.finish();
  }
  return logReport(counts, models[0].runs, models[0]);
}
