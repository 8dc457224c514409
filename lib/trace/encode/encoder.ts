/** What the hook needs of the encoder. */
import type { Clock } from '../clock/clock';
import type { Outcome } from '../destination/destination';
import type { Call, Payload } from '../payload/payload';
import type { PhaseIndex } from './codes';

export interface EncoderOptions {
  clock: Clock;
  /** The inside of `prefix` and `suffix` as JSON, without braces; empty for none. */
  prefix: string;
  suffix: string;
  /** Bytes at which a chunk is handed off. */
  chunkSize: number;
  stack: Payload | undefined;
  context: Payload | undefined;
  /** false: records are counted, and nothing else is done. */
  send: boolean;
  /** Takes whole lines. The encoder uses the bytes again when the call has returned. */
  write: (lines: Buffer) => Outcome;
}

export interface Encoder {
  /** Prepares the templates of one more op and returns its code. */
  prepare(op: string, area: string): number;
  /** Names the function that Node calls for an init: stacks leave out that function and all that it calls. */
  enteredBy(entry: Call): void;
  init(code: number, id: number, parent: number, parentCode: number, execution: number): void;
  /**
   * Any phase but init.
   *
   * @param isShared the event has the time of the event before it
   * @param resource given where contexts are on
   */
  event(phase: PhaseIndex, code: number, id: number, isShared: boolean, resource?: object): void;
  /** A record of an op without templates. `fields` is the text between its opid and its time. */
  unregistered(phase: PhaseIndex, id: number, fields: string, resource?: object): void;
  /** A record that belongs to no operation. `fields` is its text up to the time, without the brace. */
  line(fields: string): void;
  /** Encodes the events of the buffer, and hands off all that there is. */
  flush(): void;
  /** From here on each record is handed off at once, and behind it a line of these fields. */
  writeThrough(trailer?: () => string): void;
  /** Records that a record of this phase is missing here. */
  lose(phase: PhaseIndex): void;
  /** [0] may be raised, and the phase's count with it, to count a lost record where no call is possible any more. */
  readonly missed: Float64Array;
  /** Events by phase; those whose records are lost are among them. */
  readonly counts: Float64Array;
  /** Records lost. */
  readonly lost: number;
  /** Whether a chunk is being handed off. */
  readonly busy: boolean;
}
