import { Visit } from '../analyze/model/visit-operations';
import type { ReadProgress } from '../analyze/read/options';
import type { LogSource } from '../analyze/read/source';
import type { LogReport } from '../analyze/report/log';
import { TracerError } from '../errors';
import { createChrome } from './chrome';
import { Chunks } from './chunks';
import { Cut, type CutOptions } from './cut';
import type { CreateExporter, ExportCounts } from './format';
import { createPerfetto } from './perfetto';
import { createPprof } from './pprof';
import { createSpeedscope } from './speedscope';

const CREATE = {
  chrome: createChrome,
  perfetto: createPerfetto,
  speedscope: createSpeedscope,
  pprof: createPprof,
} as const satisfies Record<string, CreateExporter>;

export type ExportFormat = keyof typeof CREATE;

export const EXPORT_FORMATS = Object.keys(CREATE) as ExportFormat[];

export interface ExportOptions extends CutOptions {
  onProgress?: ((progress: ReadProgress) => void) | undefined;
}

/** What was read and what was written; complete when all bytes were taken. */
export interface ExportReport extends ExportCounts {
  log: LogReport;
  /** Before compression, except of `pprof`, which is always compressed. */
  bytes: number;
}

/**
 * A log in the format of a viewer, as bytes. Reads as fast as the bytes are taken, and keeps live operations and one turn
 * of the event loop in memory. It can be taken once.
 *
 * @throws TracerError as `readLog` does, and ERR_ASYNC_TRACER_OPTION for a format that is not in `EXPORT_FORMATS`
 */
export class LogExport implements AsyncIterable<Uint8Array> {
  readonly #chunks = new Chunks();
  readonly #visit;
  readonly #exporter;

  constructor(source: LogSource, format: ExportFormat, options: ExportOptions = {}) {
    const create: CreateExporter | undefined = Object.hasOwn(CREATE, format) ? CREATE[format] : undefined;
    if (create === undefined) {
      throw new TracerError(
        'ERR_ASYNC_TRACER_OPTION',
        `format is ${JSON.stringify(format)}; expected one of ${EXPORT_FORMATS.join(', ')}`,
      );
    }
    const { onProgress, ...cut } = options;
    const created: { exporter?: ReturnType<CreateExporter> } = {};
    this.#visit = new Visit(source, { onProgress }, (operations) => {
      created.exporter = create(operations, new Cut(operations.groups, cut), this.#chunks);
      return created.exporter.visitor;
    });
    this.#exporter = created.exporter!;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    for await (const _ of this.#visit.chunks()) {
      yield* this.#chunks.take();
    }
    for (const _ of this.#exporter.finish()) {
      yield* this.#chunks.take();
    }
    yield* this.#chunks.take();
  }

  get report(): ExportReport {
    return { log: this.#visit.log, ...this.#exporter.counts(), bytes: this.#chunks.bytes };
  }
}
