/**
 * Records as bytes. In the hook an event is only noted, in columns; when a batch is full, or at a flush, its records
 * are encoded one after the other straight into the current chunk:
 * ```
 *   hook --> ids rows times parents ...  --512 at a time--> chunk --256 KiB at a time--> destination
 * ```
 * Encoding in the hook itself was dearer by a little: 1.57 times the empty hook against 1.53, HTTP on Node 20, one
 * interleaved run of three rounds on a loaded machine. That colder caches are why is a guess.
 *
 * A record is made of fragments that were prepared when its op was first seen, and of numbers:
 * ```
 *  {"opid": | 7 | ,"op":"TCPSERVER","phase":"before","area":"net","time": | 17644860 00123 .456 | }\n
 *  OPEN       id   tail of (op, phase)                                       clock.text           CLOSE
 * ```
 * Why so (measured on a prototype; ns a record): strings joined in batches 190-260, bytes one by one 160-390, 8 bytes a
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
/** The slot for the time of a record that is encoded on its own. */
const ALONE = SLOTS - 1;
/** What a record may take beside prefix and suffix: a batch is never more than a chunk, and 1 where that is small. */
const RECORD_BYTES = 256;
/** In the place of a row: a record is missing here. */
const MISSING = -1;

/** A longer op gets no fragments: they would outgrow the slack. */
export const OP_LENGTH_MAX = 256;
/** Room behind the chunk size for one record without payload: open, close, three ids, two fragments, the time. */
const SLACK = 8 * 1024;
/** Room for most payloads, so that the last record of a chunk need not widen it. */
const PAYLOAD_SLACK = 32 * 1024;
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
  /** Says that a record of this phase is missing here. */
  lose(phase: PhaseIndex): void;
  /** [0] may be raised, and the phase's count with it, to say so where no call is possible any more. */
  readonly missed: Float64Array;
  /** Events by phase; those whose records are lost are among them. */
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
const { ceil, floor, max, min } = Math;
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

/** Four stores a turn: with one a turn a record took 38 ns instead of 25 on Node 20, when it was tried. */
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

/**
 * The words are taken before the stores: V8 stores into a DataView without a call only where nothing branches between
 * the load of the method and its call. With the table looked up in the argument itself, that call was 3% of a loop's
 * CPU on Node 20, where all of encodeRun is 8%.
 */
function putNumber(to: DataView, p: number, value: number): number {
  if (value < 10_000) {
    if (value < 0) {
      to.setUint8(p, 45);
      return putLarge(to, p + 1, -value);
    }
    const word = leading[value] || makeLeading(value);
    to.setInt32(p, word, true);
    return p + (value < 100 ? (value < 10 ? 1 : 2) : value < 1000 ? 3 : 4);
  }
  if (value < 100_000_000) {
    const high = (value / 10_000) | 0;
    const low = value - high * 10_000;
    const highWord = leading[high] || makeLeading(high);
    const lowWord = padded[low] || makePadded(low);
    const next = p + (high < 100 ? (high < 10 ? 1 : 2) : high < 1000 ? 3 : 4);
    to.setInt32(p, highWord, true);
    to.setInt32(next, lowWord, true);
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
  const middleWord = padded[middle] || makePadded(middle);
  const lastWord = padded[last] || makePadded(last);
  to.setInt32(next, middleWord, true);
  to.setInt32(next + 4, lastWord, true);
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
 * Ids that are noted. As integers, which need no conversion before their digits are looked up; those that do not fit
 * stand beside them.
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

  /** What a record without payload may take, and the stores that run over. */
  const room = SLACK + open.length * 4 + close.length * 4;
  const capacity = chunkSize + room + (stack === undefined && context === undefined ? 0 : PAYLOAD_SLACK);
  let chunk: Buffer;
  let view: DataView;
  let pos = 0;
  /** Where the chunk is full; 0 where each record must go at once. */
  let limit = chunkSize;
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
  let due = max(1, min(BATCH, floor(chunkSize / (RECORD_BYTES + open.length + close.length))));
  /** How often all notes have been encoded. */
  let rounds = 0;

  let lost = 0;
  /** Lost records that no `lost` record tells of yet, and those that the one in this chunk tells of. */
  let untold = 0;
  let told = 0;
  /** Operation records in this chunk. */
  let records = 0;

  /** The time of the last record that was handed on. */
  const timeHanded = new Float64Array(time.length);
  const fractionHanded = new Int32Array(fraction.length);

  clock.tick();
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
      // As in useChunk: the names change last.
      const widerStarts = new Int32Array(row * 2);
      const widerLengths = new Int32Array(row * 2);
      widerStarts.set(starts);
      widerLengths.set(lengths);
      starts = widerStarts;
      lengths = widerLengths;
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
      try {
        encodeNotes(true);
      } catch {
        // No stack for as much as the call: the notes stay.
      }
      if (noted >= NOTES_MAX) {
        // The last one gives way; not by a call, for which there may be no stack.
        noted = NOTES_MAX - 1;
        missed[0]++;
      }
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
      try {
        encodeNotes(true);
      } catch {
        // No stack for as much as the call: the notes stay.
      }
      if (noted >= NOTES_MAX) {
        // The last one gives way; not by a call, for which there may be no stack.
        noted = NOTES_MAX - 1;
        missed[0]++;
      }
    }
  }

  /**
   * Encodes what is noted. `mayHand`: and hands on each chunk that it fills; where not, the chunk is widened, since what
   * a stream's write runs must not come before the record that is being made.
   *
   * That write may note more, and encode all: then nothing is left here. What it notes is not handed on here, or a
   * stream whose write makes records would be written to without end.
   */
  function encodeNotes(mayHand: boolean): void {
    const end = noted;
    const round = rounds;
    if (first === end || !isStackEnough()) {
      return;
    }
    if (mayHand && pos >= limit) {
      // It was refused before, for lack of stack.
      hand();
    }
    while (round === rounds && first < end) {
      if (pos > chunk.length - room) {
        if (mayHand && !flushing) {
          // It is refused still.
          return;
        }
        useChunk(chunk.length * 2);
      }
      if (rows[first] === MISSING) {
        first++;
        lost++;
        untold++;
        tell(time, fraction);
      } else {
        first = encodeRun(first, end, mayHand && !flushing ? limit : chunk.length - room);
      }
      if (mayHand && pos >= limit) {
        hand();
      }
    }
    if (round === rounds && first === noted) {
      first = 0;
      noted = 0;
      rounds++;
    }
  }

  /**
   * Encodes from this note on, until the chunk holds `enough`, and returns the first that is left. A page of its own:
   * what the loop needs stands in its variables, and `pos` is set once.
   */
  function encodeRun(from: number, end: number, enough: number): number {
    const to = view;
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
    clock.capture(ALONE);
    const length = payload.measure(undefined);
    beginAlone(length);
    const p = putOrigin(view, putHead(id, code * ROW), parent, parentCode * ROW, execution);
    finishAlone(PhaseIndex.init, p, length, STACK, payload);
  }

  function eventWithContext(phase: number, code: number, id: number, resource: object): void {
    const payload = context as Payload;
    clock.capture(ALONE);
    const length = payload.measure(resource);
    beginAlone(length);
    finishAlone(phase, putHead(id, code * ROW + phase), length, CONTEXT, payload);
  }

  function rare(phase: number, id: number, fields: string, resource?: object): void {
    const payload = phase === PhaseIndex.init ? stack : resource === undefined ? undefined : context;
    clock.capture(ALONE);
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

  /** The time is made text only when those of the notes have been. */
  function beginAlone(extra: number): void {
    if (first < noted) {
      encodeNotes(false);
      if (first < noted) {
        throw NO_STACK;
      }
    }
    clock.read(ALONE);
    makeRoom(extra);
  }

  function finishAlone(
    phase: number,
    p: number,
    length: number,
    key: number,
    payload: Payload | undefined,
  ): void {
    const next = putTime(view, p, time, fraction);
    pos = putFragment(length === 0 ? next : (payload as Payload).write(chunk, putFragment(next, key)), CLOSE);
    records++;
    counts[phase]++;
    if (pos >= limit) {
      try {
        hand();
      } catch {
        // No stack for as much as the call: the next record hands it on.
      }
    }
  }

  function line(fields: string): void {
    encodeNotes(false);
    clock.tick();
    putLine(fields, time, fraction);
  }

  function putLine(fields: string, atTime: Float64Array, atFraction: Int32Array): void {
    const text = bufferFrom(open + fields, 'utf8');
    makeRoom(text.length);
    text.copy(chunk, pos);
    const p = putFragment(pos + text.length, TIME);
    pos = putFragment(putTime(view, p, atTime, atFraction), CLOSE);
  }

  /** Makes room for a record with `extra` bytes of payload. */
  function makeRoom(extra: number): void {
    const need = pos + extra + room;
    if (need > chunk.length) {
      useChunk(need);
    }
  }

  function flush(): void {
    encodeNotes(true);
    tellMissed(time, fraction);
    hand();
  }

  /** Hands the chunk on. */
  function hand(): void {
    // A stream's write may run code that asks for a flush: what is in the chunk is being handed on already.
    if (pos === 0 || flushing || !isStackEnough()) {
      return;
    }
    flushing = true;
    putTrailer();
    const handed = pos;
    const recordsHanded = records;
    const toldHanded = told;
    timeHanded.set(time);
    fractionHanded.set(fraction);
    const outcome = attempt(handed);
    flushing = false;
    // A stream's write may run callbacks of the program, too: their records stand behind what was handed on.
    const rest = pos > handed ? bufferFrom(chunk.subarray(handed, pos)) : undefined;
    pos = 0;
    records -= recordsHanded;
    told -= toldHanded;
    if (outcome === DROPPED) {
      lost += recordsHanded;
      untold += toldHanded + recordsHanded;
    }
    if (outcome === KEPT || chunk.length > capacity) {
      useChunk(capacity + (rest === undefined ? 0 : rest.length));
    }
    tell(timeHanded, fractionHanded);
    tellMissed(timeHanded, fractionHanded);
    if (rest !== undefined) {
      makeRoom(rest.length);
      rest.copy(chunk, pos);
      pos += rest.length;
    }
  }

  /** Writes the `lost` record of what no record tells of yet, at the time of the record that stands, or stood, before it. */
  function tell(atTime: Float64Array, atFraction: Int32Array): void {
    if (untold > 0) {
      putLine(`"phase":"lost","count":${untold}`, atTime, atFraction);
      told += untold;
      untold = 0;
    }
  }

  function tellMissed(atTime: Float64Array, atFraction: Int32Array): void {
    if (missed[0] > 0) {
      lost += missed[0];
      untold += missed[0];
      missed[0] = 0;
      tell(atTime, atFraction);
    }
  }

  function putTrailer(): void {
    if (trailer === undefined) {
      return;
    }
    try {
      const fields = trailer();
      clock.tick();
      putLine(fields, time, fraction);
    } catch {
      // Another one follows the next record.
    }
  }

  function attempt(length: number): Outcome {
    try {
      return write(chunk.subarray(0, length));
    } catch {
      return DROPPED;
    }
  }

  function writeThrough(withTrailer?: () => string): void {
    trailer = withTrailer;
    limit = 0;
    due = 1;
  }

  function lose(phase: number): void {
    rows[noted] = MISSING;
    counts[phase]++;
    noted++;
    if (noted >= due) {
      try {
        encodeNotes(true);
      } catch {
        // No stack for as much as the call: the notes stay.
      }
      if (noted >= NOTES_MAX) {
        // The last one gives way; not by a call, for which there may be no stack.
        noted = NOTES_MAX - 1;
        missed[0]++;
      }
    }
  }

  function count(phase: number): void {
    counts[phase]++;
  }

  const calls = options.send
    ? { init, event, rare, line, lose, flush }
    : { init: () => count(PhaseIndex.init), event: count, rare: count, line() {}, lose: count, flush() {} };

  return {
    ...calls,
    prepare,
    writeThrough,
    counts,
    missed,
    get lost() {
      return lost + missed[0];
    },
    get pending() {
      return pos > 0 || first < noted;
    },
  };
}
