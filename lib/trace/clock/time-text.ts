/** The text of a time, digit by digit. */

const { floor } = Math;

const bytes = new Uint8Array(16);
const asDoubles = new Float64Array(bytes.buffer);
/** Digits of the milliseconds since the epoch, from 2001 to 2286. */
const DIGITS = 13;

/** ".000" to ".999" as words of four bytes, the first byte lowest. */
export const micros = new Int32Array(1000);
for (let i = 0; i < 1000; i++) {
  micros[i] =
    46 | ((48 + ((i / 100) | 0)) << 8) | ((48 + (((i / 10) | 0) % 10)) << 16) | ((48 + (i % 10)) << 24);
}

/** Stores the milliseconds since the epoch into the two doubles of a clock's `text`. */
export function putMilliseconds(text: Float64Array, epochMs: number): void {
  // Digit by digit: the program may have replaced the methods of strings and arrays.
  for (let i = DIGITS - 1, left = epochMs; i >= 0; i--) {
    const rest = floor(left / 10);
    bytes[i] = 48 + left - 10 * rest;
    left = rest;
  }
  text[0] = asDoubles[0];
  text[1] = asDoubles[1];
}
