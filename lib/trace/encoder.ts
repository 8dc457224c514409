/**
 * Records as bytes, written from inside the hook straight into the current chunk.
 *
 * A record is made of fragments that were prepared when its op was first seen, and of numbers:
 * ```
 *  {"opid": | 7 | ,"op":"TCPSERVER","phase":"before","area":"net","time": | 17644860 00123 .456 | }\n
 *  OPEN       id   tail of (op, phase)                                       clock.text           CLOSE
 * ```
 * Why so (benchmark: `ticks`; ns a record): strings joined in batches 190-260, bytes one by one 160-390, 8 bytes a
 * store 25. A fragment is an array of doubles that hold its bytes; the stores run up to 31 bytes past its end, and
 * the next store begins where the fragment really ends. No UTF-8 text forms a NaN, the only double whose bytes a
 * copy might change: that would take 0xFF, or 0xF0 and up followed by 0x7F, and neither occurs in UTF-8.
 *
 * `pos` moves only when a record is whole, so that nothing can leave half a line.
 */
import type { OperationPhase } from '../log/event';
import type { Clock } from './clock';
import { Code, PhaseIndex } from './codes';
import { DROPPED, KEPT, type Outcome } from './destination/destination';
import { OwnDataView, uncurryThis } from './intrinsics';
import type { Payload } from './payload';

const PHASES: readonly OperationPhase[] = ['init', 'before', 'after', 'destroy', 'resolve'];

/**
 * A row of fragments for each code: the five tails by phase (an init's ends with the key of the parent's id), then
 * what follows the parent's id: the parent's op, and the key of the time or of the execution id.
 */
const PARENT_TIME = 5;
const PARENT_EXEC = 6;
const ROW = 8;

/** The row of Code.own, which is never encoded, holds the fragments that are no op's. */
const OPEN = Code.own * ROW;
const CLOSE = OPEN + 1;
const TIME = OPEN + 2;
const STACK = OPEN + 3;
const CONTEXT = OPEN + 4;

/** A longer op gets no fragments: they would outgrow the slack. */
export const OP_LENGTH_MAX = 256;
/** Room behind the chunk size for one record without payload: open, close, three ids, two fragments, the time. */
const SLACK = 8 * 1024;

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
  /** Takes whole lines. The bytes are the encoder's again when the call returns, unless they were KEPT. */
  write: (lines: Buffer) => Outcome;
}

export interface Encoder {
  /** Prepares the fragments of one more op and returns its code. */
  prepare(op: string, area: string): number;
  /** The caller has read the clock. */
  init(code: number, id: number, parent: number, parentCode: number, execution: number): void;
  /** Any phase but init; `resource` is asked for where contexts are on. The caller has read the clock. */
  event(phase: PhaseIndex, code: number, id: number, resource?: object): void;
  /** A record of an operation without fragments, `fields` being what stands between its opid and its time. */
  rare(phase: PhaseIndex, id: number, fields: string, resource?: object): void;
  /** A record that is no operation's; `fields` is its inside up to the time. Reads the clock. */
  line(fields: string): void;
  /** Hands on what is in the chunk. */
  flush(): void;
  /** From here on hands on each record at once, and behind it a line of these fields. */
  writeThrough(trailer?: () => string): void;
  /** Says that a record is missing here. */
  lose(): void;
  /** [0] may be raised to say so where no call is possible any more. */
  readonly missed: Float64Array;
  /** Operation records made, by phase; those lost afterwards are among them. */
  readonly counts: Float64Array;
  /** Records lost. */
  readonly lost: number;
  /** Whether the chunk holds anything. */
  readonly pending: boolean;
}

/** Fragments are kept, and stored, in steps of four doubles. */
const QUAD_BYTES = 32;
const BARE_OPEN = Buffer.from('{"opid":').readDoubleLE();
const BARE_CLOSE = Buffer.from('}\n').readInt16LE();

const { stringify } = JSON;
const { ceil, floor, max } = Math;
const allocate = Buffer.allocUnsafeSlow;

/**
 * What lies between a full chunk and the system call needs stack. Near its end a write would be broken off half way,
 * so it is put off: `probe` takes 8 KiB at once (0.8 us, 1.5 ns a record), and throws where they are not there.
 */
const apply = uncurryThis(Function.prototype.apply) as (
  f: () => void,
  self: unknown,
  list: unknown[],
) => void;
const STACK_NEED = new Array(1024).fill(0);
function probe(): void {}

function isStackEnough(): boolean {
  try {
    apply(probe, undefined, STACK_NEED);
    return true;
  } catch {
    return false;
  }
}
const bufferFrom = Buffer.from;

/**
 * 0 to 9999 as four bytes, the first one lowest: with leading zeros, and with the digits in front. 0: not made yet;
 * made at load, they would be a third of its time.
 */
const padded = new Int32Array(10_000);
const leading = new Int32Array(10_000);

function makePadded(value: number): number {
  const tens = (value / 10) | 0;
  const hundreds = (value / 100) | 0;
  const thousands = (value / 1000) | 0;
  padded[value] =
    (48 + thousands) |
    ((48 + hundreds - thousands * 10) << 8) |
    ((48 + tens - hundreds * 10) << 16) |
    ((48 + value - tens * 10) << 24);
  return padded[value];
}

function makeLeading(value: number): number {
  leading[value] = makePadded(value) >>> (value < 100 ? (value < 10 ? 24 : 16) : value < 1000 ? 8 : 0);
  return leading[value];
}

export function createEncoder(options: EncoderOptions): Encoder {
  const { clock, chunkSize, stack, context, write } = options;
  const { text: time, fraction } = clock;
  const open = `{${options.prefix}${options.prefix && ','}`;
  const close = `${options.suffix && ','}${options.suffix}}\n`;
  const isBare = options.prefix === '' && options.suffix === '';
  const counts = new Float64Array(PHASES.length);
  const missed = new Float64Array(1);

  /** words[starts[f]...] hold the lengths[f] bytes of fragment f. */
  let words = new Float64Array(1024);
  let starts = new Int32Array(64 * ROW);
  let lengths = new Int32Array(64 * ROW);
  let wordsUsed = 0;
  let codes = Code.firstOp;

  const capacity = chunkSize + SLACK + open.length * 4 + close.length * 4;
  let chunk: Buffer;
  let view: DataView;
  let pos = 0;
  /** Where the chunk is full; 0 where it must go at the next record. */
  let limit = chunkSize;
  let full = chunkSize;
  let flushing = false;
  let trailer: (() => string) | undefined;

  let lost = 0;
  /** Lost records that no `lost` record tells of yet, and those that the one in this chunk tells of. */
  let untold = 0;
  let told = 0;
  /** The sum of `counts` when this chunk began. */
  let countedBefore = 0;

  useChunk(capacity);
  fragment(OPEN, `${open}"opid":`);
  fragment(CLOSE, close);
  fragment(TIME, ',"time":');
  fragment(STACK, ',"stack":');
  fragment(CONTEXT, ',"ctx":');
  prepareRow(Code.unknown, '', '');

  /** Moves what is in the chunk to one of this size. The names change last: before, anything may throw for lack of stack. */
  function useChunk(size: number): void {
    const next = allocate(size);
    const nextView = new OwnDataView(next.buffer, next.byteOffset, size);
    if (pos > 0) {
      chunk.copy(next, 0, 0, pos);
    }
    chunk = next;
    view = nextView;
  }

  function fragment(index: number, text: string): void {
    const bytes = bufferFrom(text, 'utf8');
    const need = ceil(bytes.length / QUAD_BYTES) * (QUAD_BYTES / 8);
    while (wordsUsed + need > words.length) {
      const wider = new Float64Array(words.length * 2);
      wider.set(words);
      words = wider;
    }
    new Uint8Array(words.buffer, wordsUsed * 8, need * 8).set(bytes);
    starts[index] = wordsUsed;
    lengths[index] = bytes.length;
    wordsUsed += need;
  }

  function prepareRow(code: number, op: string, area: string): void {
    const row = code * ROW;
    if (row >= starts.length) {
      const [oldStarts, oldLengths] = [starts, lengths];
      starts = new Int32Array(row * 2);
      lengths = new Int32Array(row * 2);
      starts.set(oldStarts);
      lengths.set(oldLengths);
    }
    const opField = code === Code.unknown ? '' : `,"op":${stringify(op)}`;
    const areaField = code === Code.unknown ? '' : `,"area":"${area}"`;
    for (let phase = 0; phase < PHASES.length; phase++) {
      const key = phase === PhaseIndex.init ? '"parentopid"' : '"time"';
      fragment(row + phase, `${opField},"phase":"${PHASES[phase]}"${areaField},${key}:`);
    }
    const parentField = code === Code.unknown ? '' : `,"parentop":${stringify(op)}`;
    fragment(row + PARENT_TIME, `${parentField},"time":`);
    fragment(row + PARENT_EXEC, `${parentField},"execopid":`);
  }

  function prepare(op: string, area: string): number {
    prepareRow(codes, op, area);
    return codes++;
  }

  /** Four stores a turn: one a turn takes half as long again on Node 20 (benchmark: `parts`). */
  function put(p: number, index: number): number {
    const from = words;
    const to = view;
    const end = p + lengths[index];
    let word = starts[index];
    let at = p;
    do {
      to.setFloat64(at, from[word], true);
      to.setFloat64(at + 8, from[word + 1], true);
      to.setFloat64(at + 16, from[word + 2], true);
      to.setFloat64(at + 24, from[word + 3], true);
      at += 32;
      word += 4;
    } while (at < end);
    return end;
  }

  /** Without prefix and suffix the ends of a line are one store each. */
  function putOpen(p: number): number {
    if (isBare) {
      view.setFloat64(p, BARE_OPEN, true);
      return p + 8;
    }
    return put(p, OPEN);
  }

  function putClose(p: number): number {
    if (isBare) {
      view.setInt16(p, BARE_CLOSE, true);
      return p + 2;
    }
    return put(p, CLOSE);
  }

  function putNumber(p: number, value: number): number {
    if (value < 10_000) {
      if (value < 0) {
        view.setUint8(p, 45);
        return putNumber(p + 1, -value);
      }
      view.setInt32(p, leading[value] || makeLeading(value), true);
      return p + (value < 100 ? (value < 10 ? 1 : 2) : value < 1000 ? 3 : 4);
    }
    if (value < 100_000_000) {
      const high = (value / 10_000) | 0;
      view.setInt32(p, leading[high] || makeLeading(high), true);
      const next = p + (high < 100 ? (high < 10 ? 1 : 2) : high < 1000 ? 3 : 4);
      const low = value - high * 10_000;
      view.setInt32(next, padded[low] || makePadded(low), true);
      return next + 4;
    }
    return putLarge(p, value);
  }

  function putLarge(p: number, value: number): number {
    const high = floor(value / 100_000_000);
    const low = value - high * 100_000_000;
    const next = putNumber(p, high);
    const middle = (low / 10_000) | 0;
    const last = low - middle * 10_000;
    view.setInt32(next, padded[middle] || makePadded(middle), true);
    view.setInt32(next + 4, padded[last] || makePadded(last), true);
    return next + 8;
  }

  /** Stores run over: the time's three overlap, and what follows begins where its text ends. */
  function putTime(p: number): number {
    view.setFloat64(p, time[0], true);
    view.setFloat64(p + 8, time[1], true);
    view.setInt32(p + 13, fraction[0], true);
    return p + 17;
  }

  function putPayload(p: number, key: number, payload: Payload): number {
    return payload.write(chunk, put(p, key));
  }

  function finish(p: number, phase: number): void {
    pos = putClose(p);
    counts[phase]++;
    if (pos >= limit) {
      flush();
    }
  }

  function init(code: number, id: number, parent: number, parentCode: number, execution: number): void {
    const extra = stack === undefined ? 0 : stack.measure(undefined);
    if (extra !== 0) {
      makeRoom(extra);
    }
    let p = putNumber(putOpen(pos), id);
    p = putNumber(put(p, code * ROW), parent);
    if (execution === parent) {
      p = put(p, parentCode * ROW + PARENT_TIME);
    } else {
      p = put(putNumber(put(p, parentCode * ROW + PARENT_EXEC), execution), TIME);
    }
    p = putTime(p);
    finish(extra === 0 ? p : putPayload(p, STACK, stack as Payload), PhaseIndex.init);
  }

  function event(phase: number, code: number, id: number, resource?: object): void {
    const extra = resource === undefined ? 0 : (context as Payload).measure(resource);
    if (extra !== 0) {
      makeRoom(extra);
    }
    let p = putNumber(putOpen(pos), id);
    p = putTime(put(p, code * ROW + phase));
    finish(extra === 0 ? p : putPayload(p, CONTEXT, context as Payload), phase);
  }

  function rare(phase: number, id: number, fields: string, resource?: object): void {
    const payload = phase === PhaseIndex.init ? stack : resource === undefined ? undefined : context;
    const extra = payload === undefined ? 0 : payload.measure(resource);
    const text = bufferFrom(fields, 'utf8');
    makeRoom(extra + text.length);
    let p = putNumber(putOpen(pos), id);
    text.copy(chunk, p);
    p = putTime(put(p + text.length, TIME));
    finish(
      extra === 0 ? p : putPayload(p, phase === PhaseIndex.init ? STACK : CONTEXT, payload as Payload),
      phase,
    );
  }

  function line(fields: string): void {
    clock.tick();
    const text = bufferFrom(open + fields, 'utf8');
    makeRoom(text.length);
    text.copy(chunk, pos);
    pos = putClose(putTime(put(pos + text.length, TIME)));
  }

  /** Makes room for a record with `extra` bytes of payload. */
  function makeRoom(extra: number): void {
    const need = extra + capacity - chunkSize;
    if (pos + need > chunk.length) {
      flush();
      if (pos + need > chunk.length) {
        useChunk(max(chunk.length, pos + need));
      }
    }
  }

  function flush(): void {
    // A stream's write may run code that asks for a flush: what is in the chunk is being handed on already.
    if (pos === 0 || flushing || !isStackEnough()) {
      return;
    }
    flushing = true;
    if (trailer !== undefined) {
      line(trailer());
    }
    const counted = counts[0] + counts[1] + counts[2] + counts[3] + counts[4];
    const handed = pos;
    const outcome = hand(chunk.subarray(0, handed));
    flushing = false;
    // A stream's write may run callbacks of the program, too: their records stand behind what was handed on.
    const rest = pos > handed ? bufferFrom(chunk.subarray(handed, pos)) : undefined;
    pos = 0;
    limit = full;
    if (outcome === DROPPED) {
      lost += counted - countedBefore;
      untold += told + counted - countedBefore;
    }
    told = 0;
    lost += missed[0];
    untold += missed[0];
    missed[0] = 0;
    countedBefore = counted;
    if (outcome === KEPT || chunk.length > capacity) {
      useChunk(capacity + (rest === undefined ? 0 : rest.length));
    }
    if (untold > 0) {
      told = untold;
      untold = 0;
      line(`"phase":"lost","count":${told}`);
    }
    if (rest !== undefined) {
      makeRoom(rest.length);
      rest.copy(chunk, pos);
      pos += rest.length;
    }
  }

  function hand(lines: Buffer): Outcome {
    try {
      return write(lines);
    } catch {
      return DROPPED;
    }
  }

  function writeThrough(withTrailer?: () => string): void {
    trailer = withTrailer;
    full = 0;
    limit = 0;
  }

  function lose(): void {
    lost++;
    untold++;
    limit = 0;
    // A flush that was put off may be why there was no room.
    if (pos >= chunkSize) {
      flush();
    }
  }

  function count(phase: number): void {
    counts[phase]++;
  }

  const records = options.send
    ? { init, event, rare, line }
    : { init: () => count(PhaseIndex.init), event: count, rare: count, line() {} };

  return {
    ...records,
    prepare,
    flush,
    writeThrough,
    lose,
    counts,
    missed,
    get lost() {
      return lost + missed[0];
    },
    get pending() {
      return pos > 0;
    },
  };
}
