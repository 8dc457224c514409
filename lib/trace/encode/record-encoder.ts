/**
 * Records as bytes, from events of the buffer.
 *
 * A record is made of templates that were prepared when its op was first seen, and of numbers:
 * ```
 *  {"opid": | 7 | ,"op":"TCPSERVER","phase":"before","area":"net","time": | 17644860 00123 .456 | }\n
 *  OPEN       id   tail of (op, phase)                                       clock.text           CLOSE
 * ```
 * Measured on a prototype, ns a record: strings joined in batches 190-260, bytes one by one 160-390, 8 bytes a store 25.
 */
import { type Clock, putTime } from '../clock/clock';
import type { PayloadBuffer } from '../payload/payload-buffer';
import { putWords } from '../payload/text-as-doubles';
import { copyInto, uncurryThis } from '../runtime/intrinsics';
import { Chunk } from './chunk';
import { PhaseIndex } from './codes';
import { putNumber } from './digits';
import { type EventBuffer, MISSING } from './event-buffer';
import { CLOSE, CONTEXT, OPEN, PARENT_EXEC, PARENT_TIME, ROW, STACK, type Templates, TIME } from './template';

const BARE_OPEN = Buffer.from('{"opid":').readDoubleLE();
const TIME_KEY = Buffer.from(',"time":').readDoubleLE();
const BARE_CLOSE = Buffer.from('}\n').readInt16LE();

const subarray = uncurryThis(Buffer.prototype.subarray);

export interface RecordEncoderOptions {
  chunk: Chunk;
  clock: Clock;
  events: EventBuffer;
  payloads: PayloadBuffer;
  templates: Templates;
  /** Whether records have neither prefix nor suffix. */
  isBare: boolean;
  /** Whether records may carry a payload. */
  carries: boolean;
  /** Bytes that a record without payload takes at most, and the stores that run over. */
  room: number;
}

/** A record that is encoded on its own, from text. */
export interface TextRecord {
  phase: number;
  id: number;
  /** What stands between the id and the time. */
  fields: Uint8Array;
  payloadStart: number;
  payloadLength: number;
}

export interface RecordEncoder {
  /**
   * Encodes events from index `from` on, until the chunk holds `enough` bytes or a payload would go beyond `last`.
   * Returns the index of the first event that is left.
   */
  encodeRun(from: number, end: number, enough: number, last: number): number;
  /** Encodes an event whose payload finds no room in the chunk. */
  encodeWide(index: number): void;
  /** Encodes a record from text, at the time that the clock read last. */
  encodeText(record: TextRecord): void;
}

export function createRecordEncoder(options: RecordEncoderOptions): RecordEncoder {
  const { chunk, clock, templates, payloads, isBare, carries, room } = options;
  const { view: to } = chunk;
  const { text: time, fraction } = clock;
  const { rows, ids, parents, parentRows, executions, payloadStarts, payloadLengths } = options.events;

  /** A function of its own, so that the loop keeps all it needs in local variables and sets `pos` once. */
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
    return i;
  }

  /** Writes the parent of an init, and its execution id where that differs. */
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

  /** Encodes the record without its payload first, and then joins both in a chunk of their own. */
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

  function encodeText({ phase, id, fields, payloadStart, payloadLength }: TextRecord): void {
    const place = chunk.placeFor(payloadLength + fields.length);
    const { bytes, view } = place;
    const p = putNumber(view, templates.put(view, place.pos, OPEN), id);
    copyInto(bytes, fields, p);
    const next = putTime(view, templates.put(view, p + fields.length, TIME), time, fraction);
    const close = payloadLength === 0 ? next : putPayload(view, next, phase, payloadStart, payloadLength);
    place.pos = templates.put(view, close, CLOSE);
    chunk.add(place);
  }

  function putPayload(to: DataView, p: number, row: number, start: number, length: number): number {
    const next = templates.put(to, p, (row & (ROW - 1)) === PhaseIndex.init ? STACK : CONTEXT);
    return payloads.copyTo(to, next, start, start + length);
  }

  return { encodeRun, encodeWide, encodeText };
}
