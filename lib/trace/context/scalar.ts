/** Numbers, strings, symbols and BigInts as JSON. */
import { quoteAscii } from '../payload/json';
import { createLiteral } from '../payload/literal';
import type { PayloadBuffer } from '../payload/payload-buffer';
import { uncurryThis } from '../runtime/intrinsics';
import type { Redaction } from './redaction';

/** Characters kept of a string. */
export const CONTEXT_STRING_MAX = 256;

const LARGE_BIGINT = createLiteral('"[BigInt]"');

/** Up to here digits are written one by one. */
const SMALL_INTEGER_MAX = 999_999_999;
const DIGITS_MAX = 9;
const BIGINT_MAX = 2n ** 64n;

const SPACE = 0x20;
const ZERO = 0x30;
const QUOTE = 0x22;

const { min } = Math;
const isFiniteNumber = Number.isFinite;
const toText = String as (value: symbol | bigint) => string;
const charCodeAt = uncurryThis(String.prototype.charCodeAt);
const slice = uncurryThis(String.prototype.slice);

/*
 * Each function writes one value and returns true, or returns false where the value would end after `limit`. The buffer
 * has room up to `limit`.
 */

export function putNumber(buffer: PayloadBuffer, value: number, limit: number): boolean {
  if (value < 0 || value > SMALL_INTEGER_MAX || (value | 0) !== value) {
    return putAscii(buffer, isFiniteNumber(value) ? `${value}` : `"${value}"`, limit);
  }
  if (buffer.length + DIGITS_MAX > limit) {
    return false;
  }
  putDigits(buffer, value);
  return true;
}

/** A whole number from 0; a larger one than SMALL_INTEGER_MAX is written as SMALL_INTEGER_MAX. Needs room for DIGITS_MAX. */
export function putDigits(buffer: PayloadBuffer, value: number): void {
  const { bytes } = buffer;
  let rest = min(value, SMALL_INTEGER_MAX);
  let at = buffer.length + 1;
  for (let bound = 10; bound <= rest; bound *= 10) {
    at++;
  }
  buffer.length = at;
  do {
    const quotient = (rest / 10) | 0;
    bytes[--at] = ZERO + rest - 10 * quotient;
    rest = quotient;
  } while (rest > 0);
}

/** Shortened to CONTEXT_STRING_MAX, and without secrets. */
export function putString(buffer: PayloadBuffer, text: string, limit: number, redaction: Redaction): boolean {
  const { length } = text;
  if (length <= CONTEXT_STRING_MAX && buffer.length + length + 2 <= limit) {
    const { bytes } = buffer;
    let at = buffer.length;
    bytes[at++] = QUOTE;
    let i = 0;
    for (; i < length; i++) {
      const code = charCodeAt(text, i);
      if (!isHarmless(code) || (code === SPACE && i > 4 && mayEndScheme(charCodeAt(text, i - 1)))) {
        break;
      }
      bytes[at++] = code;
    }
    if (i === length) {
      bytes[at++] = QUOTE;
      buffer.length = at;
      return true;
    }
  }
  let shown = length > CONTEXT_STRING_MAX ? slice(text, 0, CONTEXT_STRING_MAX) : text;
  shown = redaction.redactText(shown);
  if (length > CONTEXT_STRING_MAX) {
    shown += `... ${length - CONTEXT_STRING_MAX} more`;
  }
  return putAscii(buffer, quoteAscii(shown), limit);
}

/** `"Symbol(name)"` or `"12n"`. */
export function putSymbolOrBigInt(
  buffer: PayloadBuffer,
  value: symbol | bigint,
  limit: number,
  redaction: Redaction,
): boolean {
  if (typeof value === 'symbol') {
    return putString(buffer, toText(value), limit, redaction);
  }
  // To convert a large one takes time in the square of its length.
  if (value >= BIGINT_MAX || value <= -BIGINT_MAX) {
    if (buffer.length + LARGE_BIGINT.length > limit) {
      return false;
    }
    buffer.append(LARGE_BIGINT);
    return true;
  }
  return putString(buffer, `${toText(value)}n`, limit, redaction);
}

function putAscii(buffer: PayloadBuffer, text: string, limit: number): boolean {
  const { length } = text;
  if (buffer.length + length > limit) {
    return false;
  }
  const { bytes } = buffer;
  for (let i = 0; i < length; i++) {
    bytes[buffer.length + i] = charCodeAt(text, i);
  }
  buffer.length += length;
  return true;
}

/** Written unchanged, and no part of a pair of name and value. */
function isHarmless(code: number): boolean {
  return code >= 0x20 && code < 0x7f && code !== QUOTE && code !== 0x5c && code !== 0x3a && code !== 0x3d;
}

/** The last letters of "Bearer" and "Basic". */
function mayEndScheme(code: number): boolean {
  return (code | 0x20) === 0x72 || (code | 0x20) === 0x63;
}
