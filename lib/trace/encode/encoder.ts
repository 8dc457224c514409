/**
 * Records as bytes. In the hook an event is only noted (notes.ts); when a batch is full, or at a flush, its records are
 * encoded one after the other straight into the chunk:
 * ```
 *   hook --> notes  --up to 512 at a time--> chunk --256 KiB at a time--> destination
 * ```
 * What a batch costs once (is there stack, is the chunk full) is shared by its notes. By their number, ns an event of
 * the ticks on Node 20: 1 271, 8 145, 32 125, 128 124, 512 123.
 *
 * A record is made of templates that were prepared when its op was first seen, and of numbers:
 * ```
 *  {"opid": | 7 | ,"op":"TCPSERVER","phase":"before","area":"net","time": | 17644860 00123 .456 | }\n
 *  OPEN       id   tail of (op, phase)                                       clock.text           CLOSE
 * ```
 * Why so (measured on a prototype; ns a record): strings joined in batches 190-260, bytes one by one 160-390, 8 bytes a
 * store 25.
 */

import { type Clock, EVENTS_MAX, putTime, SPARE } from '../clock/clock';
import type { Outcome } from '../destination/destination';
import type { Call, Payload } from '../payload/payload';
import { copyInto, uncurryThis, utf8 } from '../runtime/intrinsics';
import { Chunk } from './chunk';
import { Code, PhaseIndex } from './codes';
import { putNumber } from './digits';
import { EventBuffer, MISSING } from './event-buffer';
import { Handoff, isStackEnough, TO_ENCODE, TO_HAND } from './handoff';
import {
  CLOSE,
  CONTEXT,
  OPEN,
  PARENT_EXEC,
  PARENT_TIME,
  PHASES,
  putWords,
  ROW,
  STACK,
  Templates,
  TIME,
} from './template';

/** Events that are noted before they are encoded. */
const BATCH = 512;
/** What a record mostly takes beside prefix and suffix: a small chunk has small batches, down to 1. */
const RECORD_BYTES = 256;

/** Room behind the chunk size for one record without payload: open, close, three ids, two templates, the time. */
const SLACK = 8 * 1024;
/** Room for most payloads, so that the last record of a chunk seldom needs one of its own. */
const PAYLOAD_SLACK = 32 * 1024;
/** Bytes of payloads that make a batch, however few their notes are. */
const PAYLOADS_DUE = 32 * 1024;
/** What a record that is encoded on its own is broken off with where those before it cannot be encoded: it is lost. */
const NO_STACK = new Error('no stack left');

export interface EncoderOptions {
  clock: Clock;
  /** The inside of `prefix` and `suffix` as JSON, without braces; empty for none. */
  prefix: string;
  suffix: string;
  /** Bytes at which a chunk is handed on. */
  chunkSize: number;
  stack: Payload | undefined;
  context: Payload | undefined;
  /** false: records are counted, and that is all. */
  send: boolean;
  /** Takes whole lines. The bytes are the encoder's again when the call returns. */
  write: (lines: Buffer) => Outcome;
}

export interface Encoder {
  /** Prepares the templates of one more op and returns its code. */
  prepare(op: string, area: string): number;
  /** Says which function of ours Node calls for an init: it and what it calls are left out of stacks. */
  enteredBy(entry: Call): void;
  init(code: number, id: number, parent: number, parentCode: number, execution: number): void;
  /**
   * Any phase but init. `isShared`: at the time of the record before. `resource` is asked for where contexts are on.
   */
  event(phase: PhaseIndex, code: number, id: number, isShared: boolean, resource?: object): void;
  /** A record of an operation without templates, `fields` being what stands between its opid and its time. */
  rare(phase: PhaseIndex, id: number, fields: string, resource?: object): void;
  /** A record that is no operation's; `fields` is its inside up to the time. */
  line(fields: string): void;
  /** Encodes what is noted, and hands on all there is. */
  flush(): void;
  /** From here on hands on each record at once, and behind it a line of these fields. */
  writeThrough(trailer?: () => string): void;
  /** Says that a record of this phase is missing here. */
  lose(phase: PhaseIndex): void;
  /** [0] may be raised, and the phase's count with it, to say so where no call is possible any more. */
  readonly missed: Float64Array;
  /** Events by phase; those whose records are lost are among them. */
  readonly counts: Float64Array;
  /** Records lost. */
  readonly lost: number;
  /** Whether a chunk is being handed on. */
  readonly busy: boolean;
}

const BARE_OPEN = Buffer.from('{"opid":').readDoubleLE();
const TIME_KEY = Buffer.from(',"time":').readDoubleLE();
const BARE_CLOSE = Buffer.from('}\n').readInt16LE();

const { floor, max, min } = Math;
const subarray = uncurryThis(Buffer.prototype.subarray);

export function createEncoder(options: EncoderOptions): Encoder {
  const { clock, chunkSize, stack, context, write } = options;
  const { text: time, fraction } = clock;
  const open = `{${options.prefix}${options.prefix && ','}`;
  const close = `${options.suffix && ','}${options.suffix}}\n`;
  const isBare = options.prefix === '' && options.suffix === '';
  const counts = new Float64Array(PHASES.length);

  const templates = new Templates(open, close);
  const room = SLACK + open.length * 4 + close.length * 4;
  const carries = stack !== undefined || context !== undefined;
  const chunk = new Chunk(chunkSize + (carries ? PAYLOAD_SLACK : 0), room);
  const { view: to } = chunk;
  const handoff = new Handoff({ chunk, clock, templates, open, limit: chunkSize, write });
  const { missed } = handoff;

  const notes = new EventBuffer(EVENTS_MAX, carries ? 2 * PAYLOADS_DUE : 0);
  const { rows, ids, parents, parentRows, executions, payloads, payloadStarts, payloadLengths } = notes;
  let noted = 0;
  /** The first note that is not encoded: 0 but where a batch was broken off. */
  let first = 0;
  /** How many notes make a batch, and this batch: fewer where their payloads are many bytes. */
  let batch = max(1, min(BATCH, floor(chunkSize / (RECORD_BYTES + open.length + close.length))));
  let due = batch;
  /** How often all notes have been encoded. */
  let rounds = 0;
  let entry: Call | undefined;

  clock.tick();

  function init(code: number, id: number, parent: number, parentCode: number, execution: number): void {
    rows[noted] = code * ROW;
    ids[noted] = id;
    parents[noted] = parent;
    parentRows[noted] = parentCode * ROW;
    executions[noted] = execution;
    clock.capture(noted);
    if (carries) {
      carry(stack, undefined, code);
    }
    advance(PhaseIndex.init);
  }

  function event(phase: number, code: number, id: number, isShared: boolean, resource?: object): void {
    rows[noted] = code * ROW + phase;
    ids[noted] = id;
    if (isShared && noted > 0) {
      clock.share(noted);
    } else {
      clock.capture(noted);
    }
    if (carries) {
      carry(resource === undefined ? undefined : context, resource, code);
    }
    advance(phase);
  }

  function lose(phase: number): void {
    rows[noted] = MISSING;
    advance(phase);
  }

  /**
   * EventBuffer what the record carries. A record with a payload that was encoded at once, and those before it with it, cost
   * 0.4 us more: a probe of the stack, and the clock that could not be shared (HTTP on Node 20, benchmark: `contexts`).
   */
  function carry(payload: Payload | undefined, subject: object | undefined, code: number): void {
    payloadStarts[noted] = payloads.length;
    payloadLengths[noted] = payload === undefined ? 0 : payload.append(payloads, subject, code, entry);
    if (payloads.length >= PAYLOADS_DUE) {
      due = 0;
    }
  }

  /** Keeps the note that was made. Throws only where it did nothing. */
  function advance(phase: number): void {
    counts[phase]++;
    noted++;
    if (noted >= due) {
      try {
        encodeNotes(true);
      } catch {
        // No stack for as much as the call: the notes stay.
      }
      if (noted >= EVENTS_MAX) {
        // The last one gives way; not by a call, for which there may be no stack.
        noted = EVENTS_MAX - 1;
        missed[0]++;
      }
    }
  }

  /**
   * Encodes what is noted. `mayHand`: and hands on each chunk that it fills; where not, what finds no room in the chunk is
   * kept beside it, since what a stream's write runs must not come before the record that is being made.
   *
   * That write may note more, and encode all: then nothing is left here. What it notes is not handed on here, or a
   * stream whose write makes records would be written to without end.
   */
  function encodeNotes(mayHand: boolean): void {
    const end = noted;
    const round = rounds;
    if (first === end || !isStackEnough(TO_ENCODE)) {
      return;
    }
    // Where it was refused before, for lack of stack.
    let isRefused = mayHand && handoff.isDue && !handoff.hand();
    while (round === rounds && first < end) {
      const payload = carries ? payloadLengths[first] : 0;
      if (!chunk.hasRoom(payload)) {
        if (isRefused) {
          return;
        }
        chunk.spill();
      }
      if (rows[first] === MISSING) {
        first++;
        handoff.lose();
      } else if (chunk.hasRoom(payload)) {
        const enough = mayHand && !handoff.busy ? handoff.limit : chunk.end;
        first = encodeRun(first, end, enough, chunk.end);
      } else if (isStackEnough(TO_HAND)) {
        encodeWide(first);
        first++;
      } else {
        return;
      }
      isRefused = mayHand && handoff.isDue && !handoff.hand();
    }
    if (round === rounds && first === noted) {
      first = 0;
      noted = 0;
      rounds++;
      if (carries) {
        due = batch;
        payloads.clear();
      }
    }
  }

  /**
   * Encodes from this note on, until the chunk holds `enough` or a payload would go beyond `last`, and returns the first
   * that is left. A page of its own: what the loop needs stands in its variables, and `pos` is set once.
   */
  function encodeRun(from: number, end: number, enough: number, last: number): number {
    const { words, starts, lengths } = templates;
    let p = chunk.pos;
    let i = from;
    while (i < end) {
      const row = rows[i];
      if (row === MISSING) {
        break;
      }
      if (carries && p + payloadLengths[i] > last) {
        break;
      }
      clock.read(i);
      if (isBare) {
        to.setFloat64(p, BARE_OPEN, true);
        p += 8;
      } else {
        p = putWords(to, p, words, starts[OPEN], lengths[OPEN]);
      }
      p = putNumber(to, p, ids[i]);
      p = putWords(to, p, words, starts[row], lengths[row]);
      if ((row & (ROW - 1)) === PhaseIndex.init) {
        p = putOrigin(p, i);
      }
      p = putTime(to, p, time, fraction);
      if (carries && payloadLengths[i] > 0) {
        p = putPayload(to, p, row, payloadStarts[i], payloadLengths[i]);
      }
      if (isBare) {
        to.setInt16(p, BARE_CLOSE, true);
        p += 2;
      } else {
        p = putWords(to, p, words, starts[CLOSE], lengths[CLOSE]);
      }
      i++;
      if (p >= enough) {
        break;
      }
    }
    chunk.pos = p;
    handoff.records += i - from;
    return i;
  }

  /** The parent of an init, and its execution id where that is another one. */
  function putOrigin(p: number, i: number): number {
    const { words, starts, lengths } = templates;
    const parent = parents[i];
    const execution = executions[i];
    const op = parentRows[i] + (execution === parent ? PARENT_TIME : PARENT_EXEC);
    const next = putWords(to, putNumber(to, p, parent), words, starts[op], lengths[op]);
    if (execution === parent) {
      return next;
    }
    const end = putNumber(to, next, execution);
    to.setFloat64(end, TIME_KEY, true);
    return end + 8;
  }

  /** Encodes a note whose payload finds no room in the chunk: as a record without, which is then made anew. */
  function encodeWide(i: number): void {
    const length = payloadLengths[i];
    const place = new Chunk(room + length, room);
    const { pos } = chunk;
    payloadLengths[i] = 0;
    encodeRun(i, i + 1, 0, chunk.bytes.length);
    const head = chunk.pos - templates.lengths[CLOSE];
    copyInto(place.bytes, subarray(chunk.bytes, pos, head));
    chunk.pos = pos;
    const bare = head - pos;
    const p = length === 0 ? bare : putPayload(place.view, bare, rows[i], payloadStarts[i], length);
    place.pos = templates.put(place.view, p, CLOSE);
    chunk.add(place);
  }

  function putPayload(to: DataView, p: number, row: number, start: number, length: number): number {
    const next = templates.put(to, p, (row & (ROW - 1)) === PhaseIndex.init ? STACK : CONTEXT);
    return payloads.copyTo(to, next, start, start + length);
  }

  /** What has no templates is encoded at once, behind what is noted. */
  function rare(phase: number, id: number, fields: string, resource?: object): void {
    clock.capture(SPARE);
    if (first < noted) {
      encodeNotes(false);
      if (first < noted) {
        throw NO_STACK;
      }
    }
    const payload = phase === PhaseIndex.init ? stack : resource === undefined ? undefined : context;
    const start = payloads.length;
    const length = payload === undefined ? 0 : payload.append(payloads, resource, Code.rare, entry);
    const text = utf8(fields);
    // The time is made text only when those of the notes have been.
    clock.read(SPARE);
    const place = chunk.placeFor(length + text.length);
    const { bytes, view } = place;
    const p = putNumber(view, templates.put(view, place.pos, OPEN), id);
    copyInto(bytes, text, p);
    const next = putTime(view, templates.put(view, p + text.length, TIME), time, fraction);
    const close = length === 0 ? next : putPayload(view, next, phase, start, length);
    place.pos = templates.put(view, close, CLOSE);
    chunk.add(place);
    payloads.length = start;
    handoff.records++;
    counts[phase]++;
    if (handoff.isDue) {
      try {
        handoff.hand();
      } catch {
        // No stack for as much as the call: the next record hands it on.
      }
    }
  }

  function line(fields: string): void {
    encodeNotes(false);
    handoff.line(fields);
  }

  function flush(): void {
    encodeNotes(true);
    handoff.flush();
  }

  function writeThrough(trailer?: () => string): void {
    handoff.writeThrough(trailer);
    batch = 1;
    due = 1;
  }

  function count(phase: number): void {
    counts[phase]++;
  }

  const calls = options.send
    ? { init, event, rare, line, lose, flush }
    : { init: () => count(PhaseIndex.init), event: count, rare: count, line() {}, lose: count, flush() {} };

  return {
    ...calls,
    prepare: (op, area) => templates.prepare(op, area),
    enteredBy(call) {
      entry = call;
    },
    writeThrough,
    counts,
    missed,
    get busy() {
      return handoff.busy;
    },
    get lost() {
      return handoff.lost + missed[0];
    },
  };
}
