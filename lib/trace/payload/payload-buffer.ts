import { OwnDataView, uncurryThis } from '../runtime/intrinsics';
import { type Literal, putWords, STEP } from './text-as-doubles';

const copy = uncurryThis(Buffer.prototype.copy);

/**
 * JSON values, one behind the other, until their records are encoded.
 *
 * Invariant: bytes[0, length) is what was written. Behind it is room for one step, which may be overwritten at any time.
 * Why doubles keep UTF-8 as it is: text-as-doubles.ts.
 */
export class PayloadBuffer {
  bytes: Buffer;
  length = 0;
  #view: DataView;

  /** `size` bytes are kept for good. */
  constructor(readonly size: number) {
    this.bytes = Buffer.allocUnsafeSlow(size + STEP);
    this.#view = viewOf(this.bytes);
  }

  /** Begins anew; what long values needed is given back. */
  clear(): void {
    this.length = 0;
    if (this.bytes.length > this.size + STEP) {
      const bytes = Buffer.allocUnsafeSlow(this.size + STEP);
      this.#view = viewOf(bytes);
      this.bytes = bytes;
    }
  }

  /** Makes room for so many bytes more. */
  reserve(bytes: number): void {
    if (this.length + bytes + STEP > this.bytes.length) {
      this.#grow(this.length + bytes + STEP);
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

  /** Copies bytes[start, end) to `position` and returns the position behind them. Stores up to a step more. */
  copyTo(target: DataView, position: number, start: number, end: number): number {
    const view = this.#view;
    let to = position;
    for (let from = start; from < end; from += STEP, to += STEP) {
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
