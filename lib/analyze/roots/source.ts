import type { RecordCursor } from '../decode/cursor';
import type { Run } from '../model/run';
import { NO_ROOT } from './root-table';

/** How the runs of a source follow from what reaches the program. */
export type SourceKind =
  /** A handle, or a timer that fires again: each run that starts something begins a root. */
  | 'event'
  /** The parser of a server's connection, with several runs for one request: see `HttpParser` below. */
  | 'http'
  /** An operation whose init is not in the log: runs with no other between them are one. */
  | 'unknown';

/**
 * An operation whose runs begin roots.
 *
 * What Node 20 to 26 record of a connection: the parser, HTTPINCOMINGMESSAGE, runs several times for each read from the
 * socket, and no other operation runs in between. This is a burst of runs:
 *
 *     headers  the request begins; the program's handler is called
 *     body     for each part of it
 *     end      the request is complete
 *     read     always last: the bytes of this read are used up
 *
 * A body may come in bursts of its own, which no field of their records tells from a new request. The stacks of what they
 * start do. Without stacks, a request is over once its response has finished: then Node sets the timer that closes an idle
 * connection. Where there is no such timer, it is over after a burst of three runs.
 */
export class Source {
  /** The root that its last run belongs to. */
  root = -1;
  /** How many roots it has begun. */
  requests = 0;
  /** How many of its callbacks are open. */
  running = 0;
  /** Start of its current run and of the first one of the burst, and for how long any callback had run by then. */
  runFrom = 0;
  runBusy = 0;
  burstFrom = 0;
  burstBusy = 0;
  /** Whether the current run, and the burst, has started something. */
  hasWork = false;
  burstHasWork = false;
  /** Whether the response to its last request has finished. */
  finished = false;
  #burst = 0;
  #lastBurst = 0;

  /**
   * @param group -1 where the init is not in the log
   * @param base the root that the operation itself belongs to
   */
  constructor(
    readonly kind: SourceKind,
    readonly group: number,
    readonly base: number,
  ) {}

  /** The root of what it does where no run has begun one. */
  get current(): number {
    return this.root < 0 ? this.base : this.root;
  }

  /** A run begins. */
  before(isNewBurst: boolean, time: number, busy: number): void {
    this.running++;
    this.hasWork = false;
    this.runFrom = time;
    this.runBusy = busy;
    if (isNewBurst) {
      this.burstHasWork = false;
      this.burstFrom = time;
      this.burstBusy = busy;
      this.#lastBurst = this.#burst;
      this.#burst = 0;
    }
    this.#burst++;
  }

  /** When the root that now begins began, and for how long any callback had run by then. */
  begin(): [time: number, busy: number] {
    return this.kind === 'event' || this.burstHasWork
      ? [this.runFrom, this.runBusy]
      : [this.burstFrom, this.burstBusy];
  }

  /**
   * Whether the current run, which has just started something for the first time, begins a root.
   *
   * @param showsEnd whether a timer after a response was seen in this log
   */
  begins(record: RecordCursor, showsEnd: boolean): boolean {
    switch (this.kind) {
      case 'event':
        return true;
      case 'unknown':
        return !this.burstHasWork;
      case 'http':
        break;
    }
    const stage = stageOf(record);
    if (stage === 'headers') {
      return true;
    }
    if (this.burstHasWork) {
      return false;
    }
    if (this.root <= NO_ROOT) {
      return true;
    }
    return showsEnd ? this.finished && stage !== 'body' : stage === undefined && this.#lastBurst > 2;
  }
}

const STAGES = [
  ['parserOnHeadersComplete', 'headers'],
  ['parserOnBody', 'body'],
  ['parserOnMessageComplete', 'end'],
] as const;

/** By the stack of something that a run of a parser started; undefined where it is not recorded or was cut. */
function stageOf(record: RecordCursor): 'headers' | 'body' | 'end' | undefined {
  if (record.stack < 0) {
    return undefined;
  }
  const { json } = record.stacks.at(record.stack);
  return STAGES.find(([name]) => json.includes(name))?.[1];
}

/**
 * Whether a Timeout closes an idle connection, by its stack; undefined where that is not recorded, or may be cut. The
 * header has the limit.
 */
export function closesIdleConnection(run: Run, record: RecordCursor): boolean | undefined {
  if (record.stack < 0) {
    return undefined;
  }
  const { json, length } = record.stacks.at(record.stack);
  return (
    json.includes('resOnFinish') || (run.start !== undefined && length < run.stackLimit ? false : undefined)
  );
}
