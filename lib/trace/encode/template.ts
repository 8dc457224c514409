/**
 * The parts of a record that are known before the event, as bytes that are ready to be stored: a row of templates for
 * each op, made when the op is first seen. How bytes are stored: payload/text-as-doubles.ts.
 */
import type { OperationPhase } from '../../log/event';
import { putWords, STEP } from '../payload/text-as-doubles';
import { copyInto, utf8 } from '../runtime/intrinsics';
import { Code, PhaseIndex } from './codes';

export const PHASES: readonly OperationPhase[] = ['init', 'before', 'after', 'destroy', 'resolve'];

/**
 * The templates of a code: the five tails by phase (an init's ends with the key of the parent's id), then what follows
 * the parent's id: the parent's op, and the key of the time or of the execution id.
 */
export const ROW = 8;
export const PARENT_TIME = 5;
export const PARENT_EXEC = 6;

/** The row of Code.own, which is never encoded, holds the templates that belong to no op. */
export const OPEN = Code.own * ROW;
export const CLOSE = OPEN + 1;
export const TIME = OPEN + 2;
export const STACK = OPEN + 3;
export const CONTEXT = OPEN + 4;

/** A longer op gets no templates, because they would outgrow the slack of a chunk. */
export const OP_LENGTH_MAX = 256;

const { stringify } = JSON;
const { ceil } = Math;

/** words[starts[f]...] hold the lengths[f] bytes of template f. The arrays are replaced when an op is prepared. */
export class Templates {
  words = new Float64Array(1024);
  starts = new Int32Array(64 * ROW);
  lengths = new Int32Array(64 * ROW);

  #wordsUsed = 0;
  #codes = Code.firstOp as number;

  /** @param open the beginning of each record @param close the end of each record */
  constructor(open: string, close: string) {
    this.#add(OPEN, `${open}"opid":`);
    this.#add(CLOSE, close);
    this.#add(TIME, ',"time":');
    this.#add(STACK, ',"stack":');
    this.#add(CONTEXT, ',"ctx":');
    this.#addRow(Code.unknown, '', '');
  }

  /** Makes the templates of one more op and returns its code. */
  prepare(op: string, area: string): number {
    this.#addRow(this.#codes, `,"op":${stringify(op)}`, `,"area":"${area}"`, `,"parentop":${stringify(op)}`);
    return this.#codes++;
  }

  put(to: DataView, p: number, index: number): number {
    return putWords(to, p, this.words, this.starts[index], this.lengths[index]);
  }

  #addRow(code: number, op: string, area: string, parent = ''): void {
    const row = code * ROW;
    if (row >= this.starts.length) {
      // The properties are set last, since anything before may throw for lack of stack.
      const starts = new Int32Array(row * 2);
      const lengths = new Int32Array(row * 2);
      copyInto(starts, this.starts);
      copyInto(lengths, this.lengths);
      this.starts = starts;
      this.lengths = lengths;
    }
    for (let phase = 0; phase < PHASES.length; phase++) {
      const key = phase === PhaseIndex.init ? '"parentopid"' : '"time"';
      this.#add(row + phase, `${op},"phase":"${PHASES[phase]}"${area},${key}:`);
    }
    this.#add(row + PARENT_TIME, `${parent},"time":`);
    this.#add(row + PARENT_EXEC, `${parent},"execopid":`);
  }

  #add(index: number, text: string): void {
    const bytes = utf8(text);
    const need = ceil(bytes.length / STEP) * (STEP / 8);
    while (this.#wordsUsed + need > this.words.length) {
      const wider = new Float64Array(this.words.length * 2);
      copyInto(wider, this.words);
      this.words = wider;
    }
    copyInto(new Uint8Array(this.words.buffer, this.#wordsUsed * 8, need * 8), bytes);
    this.starts[index] = this.#wordsUsed;
    this.lengths[index] = bytes.length;
    this.#wordsUsed += need;
  }
}
