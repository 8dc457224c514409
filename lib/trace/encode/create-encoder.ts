/**
 * From events to whole lines. In the hook an event is only stored (event-buffer.ts). When a batch is full, or at a flush,
 * the records of its events are encoded one after the other straight into the chunk:
 * ```
 *   hook --> event buffer  --up to 512 at a time--> chunk --256 KiB at a time--> destination
 * ```
 * The events of a batch share what it costs once: is there stack, is the chunk full. By their number, ns an event of the
 * ticks on Node 20: 1 271, 8 145, 32 125, 128 124, 512 123.
 */
import { EVENTS_MAX, SPARE } from '../clock/clock';
import type { Call, Payload } from '../payload/payload';
import { PayloadBuffer } from '../payload/payload-buffer';
import { utf8 } from '../runtime/intrinsics';
import { Chunk } from './chunk';
import { Code, PhaseIndex } from './codes';
import type { Encoder, EncoderOptions } from './encoder';
import { EventBuffer, MISSING } from './event-buffer';
import { Handoff, isStackEnough, TO_ENCODE, TO_HAND } from './handoff';
import { createRecordEncoder } from './record-encoder';
import { PHASES, ROW, Templates } from './template';

/** Events of a batch. */
const BATCH = 512;
/** Bytes that a record mostly takes beside prefix and suffix: a small chunk has small batches, down to 1. */
const RECORD_BYTES = 256;

/** Room behind the chunk size for one record without payload: open, close, three ids, two templates, the time. */
const SLACK = 8 * 1024;
/** Room for most payloads, so that the last record of a chunk seldom needs a chunk of its own. */
const PAYLOAD_SLACK = 32 * 1024;
/** Bytes of payloads that make a batch full, however few its events are. */
const PAYLOADS_DUE = 32 * 1024;
/** Thrown where a record must be encoded at once and those before it cannot be, for lack of stack: it is lost. */
const NO_STACK = new Error('no stack left');

const { floor, max, min } = Math;

export function createEncoder(options: EncoderOptions): Encoder {
  const { clock, chunkSize, stack, context, write } = options;
  const open = `{${options.prefix}${options.prefix && ','}`;
  const close = `${options.suffix && ','}${options.suffix}}\n`;
  const counts = new Float64Array(PHASES.length);

  const templates = new Templates(open, close);
  const room = SLACK + open.length * 4 + close.length * 4;
  const carries = stack !== undefined || context !== undefined;
  const chunk = new Chunk(chunkSize + (carries ? PAYLOAD_SLACK : 0), room);
  const handoff = new Handoff({ chunk, clock, templates, open, limit: chunkSize, write });
  const { missed } = handoff;

  const events = new EventBuffer(EVENTS_MAX);
  const payloads = new PayloadBuffer(carries ? 2 * PAYLOADS_DUE : 0);
  const { rows, ids, parents, parentRows, executions, payloadStarts, payloadLengths } = events;
  const isBare = options.prefix === '' && options.suffix === '';
  const records = createRecordEncoder({ chunk, clock, events, payloads, templates, isBare, carries, room });
  const { encodeRun } = records;
  let length = 0;
  /** The first event that is not encoded: 0 but where a batch was interrupted. */
  let first = 0;
  /** How many events make a batch, and this batch: fewer where their payloads are many bytes. */
  let batch = max(1, min(BATCH, floor(chunkSize / (RECORD_BYTES + open.length + close.length))));
  let due = batch;
  /** How often all events of the buffer have been encoded. */
  let rounds = 0;
  let entry: Call | undefined;

  clock.tick();

  function init(code: number, id: number, parent: number, parentCode: number, execution: number): void {
    rows[length] = code * ROW;
    ids[length] = id;
    parents[length] = parent;
    parentRows[length] = parentCode * ROW;
    executions[length] = execution;
    clock.capture(length);
    if (carries) {
      carry(stack, undefined, code);
    }
    advance(PhaseIndex.init);
  }

  function event(phase: number, code: number, id: number, isShared: boolean, resource?: object): void {
    rows[length] = code * ROW + phase;
    ids[length] = id;
    if (isShared && length > 0) {
      clock.share(length);
    } else {
      clock.capture(length);
    }
    if (carries) {
      carry(resource === undefined ? undefined : context, resource, code);
    }
    advance(phase);
  }

  function lose(phase: number): void {
    rows[length] = MISSING;
    advance(phase);
  }

  /**
   * Stores the payload of the event. When a record with a payload was encoded at once, and those before it too, it cost
   * 0.4 us more: a probe of the stack, and the clock that could not be shared (HTTP on Node 20, benchmark: `contexts`).
   */
  function carry(payload: Payload | undefined, subject: object | undefined, code: number): void {
    payloadStarts[length] = payloads.length;
    payloadLengths[length] = payload === undefined ? 0 : payload.append(payloads, subject, code, entry);
    if (payloads.length >= PAYLOADS_DUE) {
      due = 0;
    }
  }

  /** Adds the event that was stored. Throws only where it did nothing. */
  function advance(phase: number): void {
    counts[phase]++;
    length++;
    if (length >= due) {
      try {
        encodeEvents(true);
      } catch {
        // There is no stack for the call: the events stay.
      }
      if (length >= EVENTS_MAX) {
        // The last event is dropped. Not by a call, for which there may be no stack.
        length = EVENTS_MAX - 1;
        missed[0]++;
      }
    }
  }

  /**
   * Encodes the events of the buffer.
   *
   * @param mayHand hands off each chunk that is filled. Without it, what finds no room in the chunk is kept beside the
   * chunk: what a stream's write runs must not come before the record that is being made.
   *
   * That write may store more events and encode them all: then nothing is left here. Those events are not handed off
   * here, or a stream whose write makes records would be written to without end.
   */
  function encodeEvents(mayHand: boolean): void {
    const end = length;
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
        const next = encodeRun(first, end, enough, chunk.end);
        handoff.records += next - first;
        first = next;
      } else if (isStackEnough(TO_HAND)) {
        records.encodeWide(first);
        handoff.records++;
        first++;
      } else {
        return;
      }
      isRefused = mayHand && handoff.isDue && !handoff.hand();
    }
    if (round === rounds && first === length) {
      first = 0;
      length = 0;
      rounds++;
      if (carries) {
        due = batch;
        payloads.clear();
      }
    }
  }

  /** Encodes at once, behind the events of the buffer. */
  function unregistered(phase: number, id: number, fields: string, resource?: object): void {
    clock.capture(SPARE);
    if (first < length) {
      encodeEvents(false);
      if (first < length) {
        throw NO_STACK;
      }
    }
    const payload = phase === PhaseIndex.init ? stack : resource === undefined ? undefined : context;
    const payloadStart = payloads.length;
    const payloadLength =
      payload === undefined ? 0 : payload.append(payloads, resource, Code.unregistered, entry);
    const text = utf8(fields);
    // The clock has one text: this time becomes text only when those of the events have been written.
    clock.read(SPARE);
    records.encodeText({ phase, id, fields: text, payloadStart, payloadLength });
    payloads.length = payloadStart;
    handoff.records++;
    counts[phase]++;
    if (handoff.isDue) {
      try {
        handoff.hand();
      } catch {
        // There is no stack for the call: the next record hands it off.
      }
    }
  }

  function line(fields: string): void {
    encodeEvents(false);
    handoff.line(fields);
  }

  function flush(): void {
    encodeEvents(true);
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
    ? { init, event, unregistered, line, lose, flush }
    : {
        init: () => count(PhaseIndex.init),
        event: count,
        unregistered: count,
        line() {},
        lose: count,
        flush() {},
      };

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
