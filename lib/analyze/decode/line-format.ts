/** The form in which the write side writes a line: the texts between the values, and functions that match them. */
import { AFTER, BEFORE, DESTROY, INIT, PHASES, RESOLVE } from './record';

const bytesOf = (text: string) => new Uint8Array(Buffer.from(text));
export const OP = bytesOf(',"op":"');
export const PARENT_OP = bytesOf(',"parentop":"');
export const EXEC_OPID = bytesOf(',"execopid":');
export const TIME = bytesOf(',"time":');
export const NAMELESS = PHASES.slice(0, 5).map((phase) => bytesOf(`,"phase":"${phase}","time":`));
export const CTX = bytesOf(',"ctx":');
export const STACK = bytesOf(',"stack":');

export const NEWLINE = 10;
export const RETURN = 13;
export const QUOTE = 0x22;
export const COMMA = 0x2c;
export const DOT = 0x2e;
export const BACKSLASH = 0x5c;
export const BRACE = 0x7d;

/** The place behind `text` where it is in `bytes` at `at`, else -1. */
export function match(bytes: Uint8Array, at: number, text: Uint8Array): number {
  const length = text.length;
  for (let i = 0; i < length; i++) {
    if (bytes[at + i] !== text[i]) {
      return -1;
    }
  }
  return at + length;
}

/** Where the next line starts if there is only a newline at `at`, else -1. */
export function lineEnd(bytes: Uint8Array, at: number): number {
  if (bytes[at] === NEWLINE) {
    return at + 1;
  }
  return bytes[at] === RETURN && bytes[at + 1] === NEWLINE ? at + 2 : -1;
}

/** The phase whose name begins with `byte`: the phases of operations have different first letters. */
export function phaseAt(byte: number): number {
  switch (byte) {
    case 0x69:
      return INIT;
    case 0x62:
      return BEFORE;
    case 0x61:
      return AFTER;
    case 0x64:
      return DESTROY;
    case 0x72:
      return RESOLVE;
    default:
      return -1;
  }
}
