/** The bytes that are being filled with records, until they are handed to the destination. */
import { OwnDataView, uncurryThis } from './intrinsics';

const copy = uncurryThis(Buffer.prototype.copy);

const allocate = Buffer.allocUnsafeSlow;

/** `pos` moves only when a record is whole, so that nothing can leave half a line. */
export class Chunk {
  bytes: Buffer;
  view: DataView;
  pos = 0;

  /**
   * @param capacity bytes of a chunk that nothing has widened
   * @param room what a record without payload may take, and the stores that run over
   * @throws RangeError where there is no memory for it
   */
  constructor(
    readonly capacity: number,
    readonly room: number,
  ) {
    this.bytes = allocate(capacity);
    this.view = viewOf(this.bytes);
  }

  /** The position from which on a record may not fit. */
  get end(): number {
    return this.bytes.length - this.room;
  }

  /** Makes room for a record with `extra` bytes of payload. */
  makeRoom(extra: number): void {
    const need = this.pos + extra + this.room;
    if (need > this.bytes.length) {
      this.resize(need);
    }
  }

  /** Begins anew, in bytes of this size; those so far are somebody else's. Throws only where it did nothing. */
  renew(size: number): void {
    const bytes = allocate(size);
    const view = viewOf(bytes);
    this.bytes = bytes;
    this.view = view;
    this.pos = 0;
  }

  /** Moves what is there to a chunk of this size. The names change last: before, anything may throw for lack of stack. */
  resize(size: number): void {
    const bytes = allocate(size);
    const view = viewOf(bytes);
    if (this.pos > 0) {
      copy(this.bytes, bytes, 0, 0, this.pos);
    }
    this.bytes = bytes;
    this.view = view;
  }
}

function viewOf(bytes: Buffer): DataView {
  return new OwnDataView(bytes.buffer, bytes.byteOffset, bytes.length);
}
