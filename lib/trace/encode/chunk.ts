/**
 * The bytes that are filled with records until the destination takes them.
 *
 * ```
 *  more   [ what the chunk had no room for, while it could not be handed off ]     seldom used
 *  bytes  [ being taken | records          |                   room ]
 *         0             start              pos              end
 * ```
 * `bytes` and `view` never change: where V8 knows the view, it omits half of a store's checks, 10 of an event's 180 ns
 * (benchmark: `ticks`, Node 20). `pos` moves only when a record is whole, so that an error never leaves half a line.
 */
import { copyInto, OwnDataView, uncurryThis } from '../runtime/intrinsics';

const allocate = Buffer.allocUnsafeSlow;
const subarray = uncurryThis(Buffer.prototype.subarray);
const { max } = Math;

export class Chunk {
  readonly bytes: Buffer;
  readonly view: DataView;
  pos = 0;
  /** The destination is taking the bytes before it: they must not change. */
  start = 0;
  /** The position from which on a record may not fit. */
  readonly end: number;

  readonly #room: number;
  #more: Buffer | undefined;
  #moreLength = 0;

  /**
   * @param size bytes that records may begin in
   * @param room what a record without payload may take, and the stores that run over; there is twice as much behind the
   * end, for the record that begins at it, and for one behind it while these are being taken
   * @throws RangeError where there is no memory for it
   */
  constructor(size: number, room: number) {
    this.bytes = allocate(size + 2 * room);
    this.view = new OwnDataView(this.bytes.buffer, this.bytes.byteOffset, this.bytes.length);
    this.end = size;
    this.#room = room;
  }

  /** Bytes that wait to be handed off. */
  get length(): number {
    return this.pos - this.start + this.#moreLength;
  }

  /** Whether a record with so many bytes of payload fits. */
  hasRoom(payload: number): boolean {
    return this.pos + payload <= this.end;
  }

  /** Moves what waits to `more`, so that the chunk has all its room. */
  spill(): void {
    if (this.pos > this.start) {
      this.#addMore(subarray(this.bytes, this.start, this.pos));
      this.pos = this.start;
    }
  }

  /** The chunk to write a record with so many bytes of payload to: this one, or a new one, to be given to `add`. */
  placeFor(payload: number): Chunk {
    if (!this.hasRoom(payload)) {
      this.spill();
    }
    return this.hasRoom(payload) ? this : new Chunk(payload, this.#room);
  }

  /** Adds what was written at a place. */
  add(place: Chunk): void {
    if (place !== this) {
      this.#addMore(subarray(place.bytes, 0, place.pos));
    }
  }

  /** Everything that waits. The bytes do not change until `release`. */
  take(): Buffer {
    if (this.#moreLength > 0) {
      this.spill();
      return this.#takeMore() as Buffer;
    }
    // The call comes first: if there is no stack for it, nothing is taken.
    const lines = subarray(this.bytes, 0, this.pos);
    this.start = this.pos;
    return lines;
  }

  /** Ends `take`: the chunk is empty then. Returns what was added since, where there is any. */
  release(): Buffer | undefined {
    this.spill();
    this.start = 0;
    this.pos = 0;
    return this.#takeMore();
  }

  /** Adds whole lines. */
  append(lines: Buffer): void {
    const place = this.placeFor(lines.length);
    copyInto(place.bytes, lines, place.pos);
    place.pos += lines.length;
    this.add(place);
  }

  #addMore(lines: Buffer): void {
    const length = this.#moreLength + lines.length;
    if (this.#more === undefined || length > this.#more.length) {
      const wider = allocate(max(length, 2 * this.#moreLength));
      if (this.#more !== undefined) {
        copyInto(wider, subarray(this.#more, 0, this.#moreLength));
      }
      this.#more = wider;
    }
    copyInto(this.#more, lines, this.#moreLength);
    this.#moreLength = length;
  }

  #takeMore(): Buffer | undefined {
    const lines = this.#more === undefined ? undefined : subarray(this.#more, 0, this.#moreLength);
    this.#more = undefined;
    this.#moreLength = 0;
    return lines;
  }
}
