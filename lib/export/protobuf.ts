/**
 * Writes messages of protocol buffers: https://protobuf.dev/programming-guides/encoding
 *
 *     field = varint(number << 3 | wire type), then the value: varint, eight bytes, or length and bytes
 */
const VARINT = 0;
const FIXED64 = 1;
const BYTES = 2;
const FIRST_BYTES = 64 * 1024;
/** No value but text is longer. */
const VALUE_BYTES = 32;

export class ProtobufWriter {
  #bytes = Buffer.allocUnsafeSlow(FIRST_BYTES);
  length = 0;

  /** An unsigned whole number up to 2^53, or a bigint up to 2^64. */
  varint(field: number, value: number | bigint): void {
    this.#reserve(VALUE_BYTES);
    this.#tag(field, VARINT);
    this.#rawVarint(value);
  }

  /** A signed number, as int64: a negative one takes ten bytes. */
  int64(field: number, value: number): void {
    this.varint(field, value < 0 ? BigInt.asUintN(64, BigInt(value)) : value);
  }

  fixed64(field: number, value: number): void {
    this.#reserve(VALUE_BYTES);
    this.#tag(field, FIXED64);
    this.#bytes.writeUInt32LE(value % 2 ** 32, this.length);
    this.#bytes.writeUInt32LE(Math.floor(value / 2 ** 32), this.length + 4);
    this.length += 8;
  }

  /** The text must be well-formed. */
  text(field: number, text: string): void {
    const length = Buffer.byteLength(text);
    this.#reserve(length + VALUE_BYTES);
    this.#tag(field, BYTES);
    this.#rawVarint(length);
    this.length += this.#bytes.write(text, this.length);
  }

  /** A message that was written elsewhere. */
  message(field: number, bytes: Uint8Array): void {
    this.#reserve(bytes.length + VALUE_BYTES);
    this.#tag(field, BYTES);
    this.#rawVarint(bytes.length);
    this.#bytes.set(bytes, this.length);
    this.length += bytes.length;
  }

  /** Packed numbers. */
  packed(field: number, values: readonly number[]): void {
    const message = this.open(field);
    for (const value of values) {
      this.#reserve(VALUE_BYTES);
      this.#rawVarint(value);
    }
    this.close(message);
  }

  /** Begins a message inside this one; `close` with the result ends it. */
  open(field: number): number {
    this.#reserve(VALUE_BYTES);
    this.#tag(field, BYTES);
    // One byte for the length, which `close` makes longer where it must.
    return ++this.length;
  }

  close(start: number): void {
    const length = this.length - start;
    if (length < 0x80) {
      this.#bytes[start - 1] = length;
      return;
    }
    this.#reserve(VALUE_BYTES);
    const more = length < 0x4000 ? 1 : length < 0x200000 ? 2 : length < 0x10000000 ? 3 : 4;
    this.#bytes.copyWithin(start + more, start, this.length);
    const end = this.length + more;
    this.length = start - 1;
    this.#rawVarint(length);
    this.length = end;
  }

  /** What was written since the last call, as bytes of its own. */
  take(): Uint8Array {
    const bytes = Uint8Array.prototype.slice.call(this.#bytes, 0, this.length);
    this.length = 0;
    return bytes;
  }

  #rawVarint(value: number | bigint): void {
    const bytes = this.#bytes;
    if (typeof value === 'bigint') {
      let rest = value;
      for (; rest >= 0x80n; rest >>= 7n) {
        bytes[this.length++] = Number(rest & 0x7fn) | 0x80;
      }
      bytes[this.length++] = Number(rest);
      return;
    }
    let rest = value;
    // Shifts work on 32 bits.
    for (; rest > 0x7fffffff; rest = Math.floor(rest / 0x80)) {
      bytes[this.length++] = (rest % 0x80) | 0x80;
    }
    for (; rest >= 0x80; rest >>>= 7) {
      bytes[this.length++] = (rest & 0x7f) | 0x80;
    }
    bytes[this.length++] = rest;
  }

  #tag(field: number, type: number): void {
    this.#rawVarint((field << 3) | type);
  }

  #reserve(bytes: number): void {
    if (this.length + bytes > this.#bytes.length) {
      const larger = Buffer.allocUnsafeSlow((this.#bytes.length + bytes) * 2);
      larger.set(this.#bytes.subarray(0, this.length));
      this.#bytes = larger;
    }
  }
}
