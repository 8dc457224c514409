/**
 * Records as bytes. In the hook an event is only noted, in columns; when a batch is full, or at a flush, its records
 * are encoded one after the other straight into the current chunk:
 * ```
 *   hook --> ids rows times parents ...  --512 at a time--> chunk --256 KiB at a time--> destination
 * ```
 * Encoded in the hook itself each record took 22 KB of machine code through a cache that the program had just used for
 * its own: three times what the same code takes in a loop (benchmark: `http`, against `parts`).
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
import { type Clock, SLOTS } from './clock';
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

/** Events that are noted before they are encoded: few enough to stay in the nearest caches with their chunk. */
const BATCH = 512;
/** Room for those that come while a batch cannot be encoded, for lack of stack. */
const NOTES_MAX = SLOTS - 1;
/** A chunk smaller than a batch's records is meant to go at once. */
const BATCH_CHUNK_MIN = 32 * 1024;
/** In the place of a row: a record is missing here. */
const MISSING = -1;

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
  init(code: number, id: number, parent: number, parentCode: number, execution: number): void;
  /**
   * Any phase but init. `isShared`: at the time of the record before. `resource` is asked for where contexts are on.
   */
  event(phase: PhaseIndex, code: number, id: number, isShared: boolean, resource?: object): void;
  /** A record of an operation without fragments, `fields` being what stands between its opid and its time. */
  rare(phase: PhaseIndex, id: number, fields: string, resource?: object): void;
  /** A record that is no operation's; `fields` is its inside up to the time. */
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

/** Four stores a turn: one a turn takes half as long again on Node 20 (benchmark: `parts`). */
function putWords(to: DataView, p: number, words: Float64Array, from: number, length: number): number {
  const end = p + length;
  let word = from;
  let at = p;
  do {
    to.setFloat64(at, words[word], true);
    to.setFloat64(at + 8, words[word + 1], true);
    to.setFloat64(at + 16, words[word + 2], true);
    to.setFloat64(at + 24, words[word + 3], true);
    at += 32;
    word += 4;
  } while (at < end);
  return end;
}

function putNumber(to: DataView, p: number, value: number): number {
  if (value < 10_000) {
    if (value < 0) {
      to.setUint8(p, 45);
      return putLarge(to, p + 1, -value);
    }
    to.setInt32(p, leading[value] || makeLeading(value), true);
    return p + (value < 100 ? (value < 10 ? 1 : 2) : value < 1000 ? 3 : 4);
  }
  if (value < 100_000_000) {
    const high = (value / 10_000) | 0;
    to.setInt32(p, leading[high] || makeLeading(high), true);
    const next = p + (high < 100 ? (high < 10 ? 1 : 2) : high < 1000 ? 3 : 4);
    const low = value - high * 10_000;
    to.setInt32(next, padded[low] || makePadded(low), true);
    return next + 4;
  }
  return putLarge(to, p, value);
}

/** Any whole number from 0, eight digits at a time. */
function putLarge(to: DataView, p: number, value: number): number {
  if (value < 100_000_000) {
    return putNumber(to, p, value);
  }
  const high = floor(value / 100_000_000);
  const low = value - high * 100_000_000;
  const next = putLarge(to, p, high);
  const middle = (low / 10_000) | 0;
  const last = low - middle * 10_000;
  to.setInt32(next, padded[middle] || makePadded(middle), true);
  to.setInt32(next + 4, padded[last] || makePadded(last), true);
  return next + 8;
}

/** Stores run over: the time's three overlap, and what follows begins where its text ends. */
function putTime(to: DataView, p: number, time: Float64Array, fraction: Int32Array): number {
  to.setFloat64(p, time[0], true);
  to.setFloat64(p + 8, time[1], true);
  to.setInt32(p + 13, fraction[0], true);
  return p + 17;
}

/**
 * Ids that are noted. As integers, since one that comes out of a Float64Array is encoded four times as slowly; those
 * that do not fit stand beside them.
 */
interface IdColumn {
  narrow: Int32Array;
  wide: Float64Array;
}

const IS_WIDE = -(2 ** 31);

function createIdColumn(length: number): IdColumn {
  return { narrow: new Int32Array(length), wide: new Float64Array(length) };
}

function setId({ narrow, wide }: IdColumn, i: number, id: number): void {
  if ((id | 0) === id) {
    narrow[i] = id;
  } else {
    narrow[i] = IS_WIDE;
    wide[i] = id;
  }
}

function getId({ narrow, wide }: IdColumn, i: number): number {
  const id = narrow[i];
  return id === IS_WIDE ? wide[i] : id;
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

  /** What is noted and not encoded yet: column by column, the last three for inits alone. */
  const rows = new Int32Array(NOTES_MAX);
  const ids = createIdColumn(NOTES_MAX);
  const parents = createIdColumn(NOTES_MAX);
  const parentRows = new Int32Array(NOTES_MAX);
  const executions = createIdColumn(NOTES_MAX);
  let noted = 0;
  /** The first note that is not encoded: 0 but where a batch was broken off. */
  let first = 0;
  /** How many notes make a batch. */
  let due = chunkSize < BATCH_CHUNK_MIN ? 1 : BATCH;
  let encoding = false;

  let lost = 0;
  /** Lost records that no `lost` record tells of yet, and those that the one in this chunk tells of. */
  let untold = 0;
  let told = 0;
  /** Operation records in this chunk. */
  let records = 0;

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

  function putFragment(p: number, index: number): number {
    return putWords(view, p, words, starts[index], lengths[index]);
  }

  function init(code: number, id: number, parent: number, parentCode: number, execution: number): void {
    if (stack !== undefined) {
      initWithStack(stack, code, id, parent, parentCode, execution);
      return;
    }
    const i = noted;
    rows[i] = code * ROW;
    setId(ids, i, id);
    setId(parents, i, parent);
    parentRows[i] = parentCode * ROW;
    setId(executions, i, execution);
    clock.capture(i);
    counts[PhaseIndex.init]++;
    noted = i + 1;
    if (noted >= due) {
      encodeDue();
    }
  }

  function event(phase: number, code: number, id: number, isShared: boolean, resource?: object): void {
    if (resource !== undefined) {
      eventWithContext(phase, code, id, resource);
      return;
    }
    const i = noted;
    rows[i] = code * ROW + phase;
    setId(ids, i, id);
    if (isShared && i > 0) {
      clock.share(i);
    } else {
      clock.capture(i);
    }
    counts[phase]++;
    noted = i + 1;
    if (noted >= due) {
      encodeDue();
    }
  }

  /** What has been noted is not lost where there is no stack for more; only the last note gives way when all are taken. */
  function encodeDue(): void {
    try {
      encodeBatch();
    } catch {
      // The call itself found no stack.
    }
    if (noted >= NOTES_MAX) {
      noted = NOTES_MAX - 1;
      missed[0]++;
    }
  }

  function encodeBatch(): void {
    if (encoding || !isStackEnough()) {
      return;
    }
    encoding = true;
    try {
      // Callbacks that a stream's write runs may note more meanwhile.
      while (first < noted) {
        if (rows[first] === MISSING) {
          first++;
          tellMissing();
        } else {
          first = encodeRun(first);
        }
        if (pos >= limit) {
          hand();
          if (pos > chunk.length - SLACK) {
            return;
          }
        }
      }
      first = 0;
      noted = 0;
    } finally {
      encoding = false;
    }
  }

  /**
   * Encodes from this note on, as many as the chunk takes, and returns the first that is left. A page of its own: what
   * the loop needs stands in its variables, and `pos` is set once.
   */
  function encodeRun(from: number): number {
    const to = view;
    const end = noted;
    const enough = limit;
    let p = pos;
    let i = from;
    while (i < end) {
      const row = rows[i];
      if (row === MISSING) {
        break;
      }
      clock.read(i);
      if (isBare) {
        to.setFloat64(p, BARE_OPEN, true);
        p += 8;
      } else {
        p = putWords(to, p, words, starts[OPEN], lengths[OPEN]);
      }
      p = putNumber(to, p, getId(ids, i));
      p = putWords(to, p, words, starts[row], lengths[row]);
      if ((row & (ROW - 1)) === PhaseIndex.init) {
        p = putOrigin(to, p, getId(parents, i), parentRows[i], getId(executions, i));
      }
      p = putTime(to, p, time, fraction);
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
    pos = p;
    records += i - from;
    return i;
  }

  function putOrigin(to: DataView, p: number, parent: number, parentRow: number, execution: number): number {
    const next = putNumber(to, p, parent);
    const row = execution === parent ? parentRow + PARENT_TIME : parentRow + PARENT_EXEC;
    const key = putWords(to, next, words, starts[row], lengths[row]);
    if (execution === parent) {
      return key;
    }
    return putWords(to, putNumber(to, key, execution), words, starts[TIME], lengths[TIME]);
  }

  /** What carries a payload is encoded at once, behind what is noted. */
  function initWithStack(
    payload: Payload,
    code: number,
    id: number,
    parent: number,
    parentCode: number,
    execution: number,
  ): void {
    clock.tick();
    const length = payload.measure(undefined);
    beginAlone(length);
    const p = putOrigin(view, putHead(id, code * ROW), parent, parentCode * ROW, execution);
    finishAlone(PhaseIndex.init, p, length, STACK, payload);
  }

  function eventWithContext(phase: number, code: number, id: number, resource: object): void {
    const payload = context as Payload;
    clock.tick();
    const length = payload.measure(resource);
    beginAlone(length);
    finishAlone(phase, putHead(id, code * ROW + phase), length, CONTEXT, payload);
  }

  function rare(phase: number, id: number, fields: string, resource?: object): void {
    const payload = phase === PhaseIndex.init ? stack : resource === undefined ? undefined : context;
    clock.tick();
    const length = payload === undefined ? 0 : payload.measure(resource);
    const text = bufferFrom(fields, 'utf8');
    beginAlone(length + text.length);
    const p = putNumber(view, putFragment(pos, OPEN), id);
    text.copy(chunk, p);
    const next = putFragment(p + text.length, TIME);
    finishAlone(phase, next, length, phase === PhaseIndex.init ? STACK : CONTEXT, payload);
  }

  function putHead(id: number, row: number): number {
    return putFragment(putNumber(view, putFragment(pos, OPEN), id), row);
  }

  /** Reading a batch's times makes another time text: it is read again for the record that follows. */
  function beginAlone(extra: number): void {
    if (noted > 0) {
      encodeBatch();
      clock.read(SLOTS - 1);
    }
    makeRoom(extra);
  }

  function finishAlone(
    phase: number,
    p: number,
    length: number,
    key: number,
    payload: Payload | undefined,
  ): void {
    counts[phase]++;
    const next = putTime(view, p, time, fraction);
    pos = putFragment(length === 0 ? next : (payload as Payload).write(chunk, putFragment(next, key)), CLOSE);
    records++;
    if (pos >= limit) {
      hand();
    }
  }

  function line(fields: string): void {
    const text = bufferFrom(open + fields, 'utf8');
    makeRoom(text.length);
    clock.tick();
    text.copy(chunk, pos);
    const p = putFragment(pos + text.length, TIME);
    pos = putFragment(putTime(view, p, time, fraction), CLOSE);
  }

  /** Makes room for a record with `extra` bytes of payload. */
  function makeRoom(extra: number): void {
    const need = extra + capacity - chunkSize;
    if (pos + need > chunk.length) {
      hand();
      if (pos + need > chunk.length) {
        useChunk(max(chunk.length, pos + need));
      }
    }
  }

  function flush(): void {
    encodeBatch();
    hand();
  }

  /** Hands the chunk on. */
  function hand(): void {
    // A stream's write may run code that asks for a flush: what is in the chunk is being handed on already.
    if (pos === 0 || flushing || !isStackEnough()) {
      return;
    }
    flushing = true;
    if (trailer !== undefined) {
      line(trailer());
    }
    const handed = pos;
    const recordsHanded = records;
    const outcome = attempt(chunk.subarray(0, handed));
    flushing = false;
    // A stream's write may run callbacks of the program, too: their records stand behind what was handed on.
    const rest = pos > handed ? bufferFrom(chunk.subarray(handed, pos)) : undefined;
    pos = 0;
    limit = full;
    records -= recordsHanded;
    if (outcome === DROPPED) {
      lost += recordsHanded;
      untold += told + recordsHanded;
    }
    told = 0;
    lost += missed[0];
    untold += missed[0];
    missed[0] = 0;
    if (outcome === KEPT || chunk.length > capacity) {
      useChunk(capacity + (rest === undefined ? 0 : rest.length));
    }
    tell();
    if (rest !== undefined) {
      makeRoom(rest.length);
      rest.copy(chunk, pos);
      pos += rest.length;
    }
  }

  /** Writes the `lost` record of what no record tells of yet. */
  function tell(): void {
    if (untold > 0) {
      told += untold;
      const count = untold;
      untold = 0;
      line(`"phase":"lost","count":${count}`);
    }
  }

  function tellMissing(): void {
    lost++;
    untold++;
    tell();
  }

  function attempt(lines: Buffer): Outcome {
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
    due = 1;
  }

  function lose(): void {
    rows[noted] = MISSING;
    noted++;
    if (noted >= due) {
      encodeDue();
    }
  }

  function count(phase: number): void {
    counts[phase]++;
  }

  const calls = options.send
    ? { init, event, rare, line }
    : { init: () => count(PhaseIndex.init), event: count, rare: count, line() {} };

  return {
    ...calls,
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
      return pos > 0 || noted > 0;
    },
  };
}
