/** A log in memory that holds the records of one scope only. */
import { Writable } from 'node:stream';
import type { BeforeRecord, InitRecord, TraceRecord } from '../log/event';
import type { Scope } from './scope';

const OWN_FILES = [__filename, require.resolve('./scope'), require.resolve('./leaks')];

/** In place of an opid: the `start` record belongs to no operation. */
const NONE = 0;

export class MemoryLog {
  readonly #scope: Scope;
  readonly #promises: boolean;
  readonly #known = new Set<number>();
  readonly #ended = new Set<number>();
  /** The init of a FILEHANDLE: Node makes it outside of any callback, just before the callback of the request that opened it. */
  #orphan: InitRecord | undefined;
  readonly #lines: { opid: number; line: string }[] = [];
  /** The destination of the tracer, which writes whole lines. */
  readonly stream = new Writable({
    write: (lines: Buffer, _encoding, done) => {
      for (const line of lines.toString().split('\n')) {
        if (line !== '') {
          this.#take(JSON.parse(line) as TraceRecord, line);
        }
      }
      done();
    },
  });

  /** @param promises whether the log holds them; otherwise they only connect an operation to its cause */
  constructor(scope: Scope, promises: boolean) {
    this.#scope = scope;
    this.#promises = promises;
  }

  #take(record: TraceRecord, line: string): void {
    const orphan = this.#orphan;
    this.#orphan = undefined;
    if (orphan !== undefined && record.phase === 'before' && this.#known.has((record as BeforeRecord).opid)) {
      const { opid } = record as BeforeRecord;
      this.#take({ ...orphan, parentopid: opid }, '');
    }
    if (record.phase === 'start') {
      this.#lines.push({ opid: NONE, line });
    } else if (record.phase === 'init') {
      const init = record as InitRecord;
      if (init.parentopid === 0 && init.execopid === undefined) {
        this.#orphan = init;
      } else if (this.#scope.includes(record) && (this.#promises || record.op !== 'PROMISE')) {
        // The frames that called the function belong to this library. They would pass for the user's.
        const stack = record.stack?.filter((frame) => !OWN_FILES.some((file) => frame.includes(file)));
        this.#known.add(record.opid);
        this.#lines.push({ opid: record.opid, line: JSON.stringify({ ...record, stack }) });
      }
    } else if ('opid' in record && this.#known.has(record.opid as number)) {
      this.#lines.push({ opid: record.opid as number, line });
      if (record.phase === 'destroy') {
        this.#ended.add(record.opid as number);
      }
    }
  }

  /** The log as of now, without operations that are live and unref'd. */
  async *read(): AsyncGenerator<string> {
    const left = new Set([...this.#known].filter((id) => !this.#ended.has(id) && this.#scope.isUnref(id)));
    yield this.#lines
      .filter(({ opid }) => !left.has(opid))
      .map(({ line }) => `${line}\n`)
      .join('');
  }
}
