import { Decoder } from '../decode/decoder';
import type { ReadOptions } from '../read/options';
import { Scanner, scan } from '../read/reader';
import type { LogSource } from '../read/source';
import type { LogReport } from '../report/log';
import { type CodeOptions, codeOf } from './code-option';
import { logReport } from './log-report';
import { Operations, type OperationsOptions } from './operations';
import type { OperationVisitor } from './visitor';

/**
 * A reading of a log that calls a visitor for its operations: see `visitor.ts`.
 *
 * @param create makes the visitor. It may keep the `Operations` it is given, for its groups and runs
 */
export class Visit<Visitor extends OperationVisitor> {
  readonly operations: Operations;
  readonly visitor: Visitor;
  readonly #scanner: Scanner;

  constructor(
    source: LogSource,
    reading: ReadOptions & CodeOptions,
    create: (operations: Operations) => Visitor,
    options: Omit<OperationsOptions, 'code'> = {},
  ) {
    const decoder = new Decoder();
    this.operations = new Operations(decoder, { ...options, code: codeOf(reading) });
    this.visitor = create(this.operations);
    this.operations.visitor = this.visitor;
    this.#scanner = new Scanner(source, reading, decoder, () => this.operations.take());
  }

  /**
   * Reads the log. Yields after each chunk of it, so that what the visitor wrote can be passed on before more is read.
   *
   * @throws TracerError as `readLog` does
   */
  async *chunks(): AsyncGenerator<void> {
    yield* this.#scanner.run();
    this.operations.finish();
  }

  /** Complete when `chunks` has ended. */
  get log(): LogReport {
    return logReport(this.#scanner.counts, this.operations.runs, this.operations);
  }
}

/**
 * Reads a whole log and calls a visitor for its operations: see `Visit`.
 *
 * @throws TracerError as `readLog` does
 */
export async function visitOperations<Visitor extends OperationVisitor>(
  source: LogSource,
  reading: ReadOptions & CodeOptions,
  create: (operations: Operations) => Visitor,
  options: Omit<OperationsOptions, 'code'> = {},
): Promise<{ visitor: Visitor; log: LogReport }> {
  const visit = new Visit(source, reading, create, options);
  for await (const _ of visit.chunks()) {
  }
  return { visitor: visit.visitor, log: visit.log };
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
