import { putWords } from '../encode/template';
import { OwnDataView, uncurryThis, utf8 } from '../runtime/intrinsics';

const copy = uncurryThis(Buffer.prototype.copy);

/** Text is stored in turns of four doubles, the widest store there is. */
const TURN = 32;

/** Text in UTF-8 that is written again and again: whole turns, the last one filled up. */
export interface Literal {
  readonly words: Float64Array;
  /** Bytes. */
  readonly length: number;
}

export function createLiteral(text: string): Literal {
  const bytes = utf8(text);
  const { length } = bytes;
  const words = new Float64Array(4 * (((length / TURN) | 0) + 1));
  const target = new Uint8Array(words.buffer);
  for (let i = 0; i < length; i++) {
    target[i] = bytes[i];
  }
  return { words, length };
}

/**
 * Where JSON values are written, one behind the other, until their records are encoded.
 *
 * Invariant: bytes[0, length) is what was written, and a turn has room behind it, which may be overwritten at any
 * time. Why doubles keep UTF-8 as it is: fragment.ts.
 */
export class PayloadBuffer {
  bytes: Buffer;
  length = 0;
  #view: DataView;

  /** `size` bytes are kept for good. */
  constructor(readonly size: number) {
    this.bytes = Buffer.allocUnsafeSlow(size + TURN);
    this.#view = viewOf(this.bytes);
  }

  /** Begins anew; what long values needed is given back. */
  clear(): void {
    this.length = 0;
    if (this.bytes.length > this.size + TURN) {
      const bytes = Buffer.allocUnsafeSlow(this.size + TURN);
      this.#view = viewOf(bytes);
      this.bytes = bytes;
    }
  }

  /** Makes room for so many bytes more. */
  reserve(bytes: number): void {
    if (this.length + bytes + TURN > this.bytes.length) {
      this.#grow(this.length + bytes + TURN);
    }
  }

  append(fragment: Literal): void {
    this.reserve(fragment.length);
    this.put(fragment);
  }

  /** `append` where there is room already. */
  put({ words, length }: Literal): void {
    this.length = putWords(this.#view, this.length, words, 0, length);
  }

  appendByte(byte: number): void {
    this.reserve(1);
    this.bytes[this.length++] = byte;
  }

  /** Writes bytes[start, end) at `position`, and up to a turn more behind them; returns the position behind them. */
  copyTo(target: DataView, position: number, start: number, end: number): number {
    const view = this.#view;
    let to = position;
    for (let from = start; from < end; from += TURN, to += TURN) {
      target.setFloat64(to, view.getFloat64(from, true), true);
      target.setFloat64(to + 8, view.getFloat64(from + 8, true), true);
      target.setFloat64(to + 16, view.getFloat64(from + 16, true), true);
      target.setFloat64(to + 24, view.getFloat64(from + 24, true), true);
    }
    return position + end - start;
  }

  #grow(needed: number): void {
    let size = this.bytes.length;
    while (size < needed) {
      size *= 2;
    }
    const grown = Buffer.allocUnsafeSlow(size);
    copy(this.bytes, grown, 0, 0, this.length);
    this.#view = viewOf(grown);
    this.bytes = grown;
  }
}

function viewOf(bytes: Buffer): DataView {
  return new OwnDataView(bytes.buffer, bytes.byteOffset, bytes.length);
}
