/** Deeper values than this are left to JSON.parse. */
const MAX_DEPTH = 64;

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const BACKSLASH = 0x5c;

/**
 * Whether `bytes[start, end)` is one JSON value with no white space around it. Makes no objects, so a context that no
 * answer needs costs only a walk over its bytes. False for some valid values (white space inside, great depth), never
 * true for an invalid one.
 */
export function isJson(bytes: Uint8Array, start: number, end: number): boolean {
  return value(bytes, start, 0) === end;
}

/** The end of the value at `at`, or -1. A newline is valid nowhere, so the walk stays inside its line. */
function value(bytes: Uint8Array, at: number, depth: number): number {
  switch (bytes[at]) {
    case QUOTE:
      return string(bytes, at);
    case 0x7b: // {
      return depth > MAX_DEPTH ? -1 : members(bytes, at + 1, depth);
    case 0x5b: // [
      return depth > MAX_DEPTH ? -1 : elements(bytes, at + 1, depth);
    case 0x74: // t
      return word(bytes, at, 'true');
    case 0x66: // f
      return word(bytes, at, 'false');
    case 0x6e: // n
      return word(bytes, at, 'null');
    default:
      return number(bytes, at);
  }
}

function members(bytes: Uint8Array, start: number, depth: number): number {
  let at = start;
  if (bytes[at] === 0x7d) {
    return at + 1;
  }
  for (;;) {
    if (bytes[at] !== QUOTE) {
      return -1;
    }
    at = string(bytes, at);
    if (at < 0 || bytes[at] !== COLON) {
      return -1;
    }
    at = value(bytes, at + 1, depth + 1);
    if (at < 0) {
      return -1;
    }
    if (bytes[at] === 0x7d) {
      return at + 1;
    }
    if (bytes[at] !== COMMA) {
      return -1;
    }
    at++;
  }
}

function elements(bytes: Uint8Array, start: number, depth: number): number {
  let at = start;
  if (bytes[at] === 0x5d) {
    return at + 1;
  }
  for (;;) {
    at = value(bytes, at, depth + 1);
    if (at < 0) {
      return -1;
    }
    if (bytes[at] === 0x5d) {
      return at + 1;
    }
    if (bytes[at] !== COMMA) {
      return -1;
    }
    at++;
  }
}

function string(bytes: Uint8Array, start: number): number {
  let at = start + 1;
  for (let byte = bytes[at]; byte !== QUOTE; byte = bytes[at]) {
    // Also false for undefined, where the bytes end.
    if (!(byte >= 0x20)) {
      return -1;
    }
    if (byte !== BACKSLASH) {
      at++;
      continue;
    }
    const escaped = bytes[at + 1];
    if (escaped === 0x75) {
      for (let i = 2; i < 6; i++) {
        if (!isHex(bytes[at + i])) {
          return -1;
        }
      }
      at += 6;
    } else if (isEscape(escaped)) {
      at += 2;
    } else {
      return -1;
    }
  }
  return at + 1;
}

function isEscape(byte: number): boolean {
  switch (byte) {
    case QUOTE:
    case BACKSLASH:
    case 0x2f: // /
    case 0x62: // b
    case 0x66: // f
    case 0x6e: // n
    case 0x72: // r
    case 0x74: // t
      return true;
    default:
      return false;
  }
}

function isHex(byte: number): boolean {
  return (byte >= 0x30 && byte <= 0x39) || (byte >= 0x41 && byte <= 0x46) || (byte >= 0x61 && byte <= 0x66);
}

function word(bytes: Uint8Array, start: number, text: string): number {
  for (let i = 0; i < text.length; i++) {
    if (bytes[start + i] !== text.charCodeAt(i)) {
      return -1;
    }
  }
  return start + text.length;
}

function number(bytes: Uint8Array, start: number): number {
  let at = bytes[start] === 0x2d ? start + 1 : start;
  const first = at;
  at = digits(bytes, at);
  if (at < 0 || (bytes[first] === 0x30 && at > first + 1)) {
    return -1;
  }
  if (bytes[at] === 0x2e) {
    at = digits(bytes, at + 1);
  }
  if (at > 0 && (bytes[at] | 0x20) === 0x65) {
    at++;
    if (bytes[at] === 0x2b || bytes[at] === 0x2d) {
      at++;
    }
    at = digits(bytes, at);
  }
  return at;
}

/** The end of one or more digits, or -1. */
function digits(bytes: Uint8Array, start: number): number {
  let at = start;
  while (bytes[at] >= 0x30 && bytes[at] <= 0x39) {
    at++;
  }
  return at > start ? at : -1;
}
