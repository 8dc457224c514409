/** How the write side spells a line: the texts between the values, and the few ways to walk over them. */
import { AFTER, BEFORE, DESTROY, INIT, isCustom, PHASES, RESOLVE } from './record';

export const bytesOf = (text: string) => new Uint8Array(Buffer.from(text));
export const OPID = '"opid":';
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

export function match(bytes: Uint8Array, at: number, text: Uint8Array): number {
  const length = text.length;
  for (let i = 0; i < length; i++) {
    if (bytes[at + i] !== text[i]) {
      return -1;
    }
  }
  return at + length;
}

/** Where the next line starts if only a newline stands at `at`, else -1. */
export function lineEnd(bytes: Uint8Array, at: number): number {
  if (bytes[at] === NEWLINE) {
    return at + 1;
  }
  return bytes[at] === RETURN && bytes[at + 1] === NEWLINE ? at + 2 : -1;
}

/** The phases of operations have different first letters. */
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

/**
 * What stands in a line before the first of our own fields and after the last one, brace included; undefined where the
 * line is not spelt as ours, or where one of the two is not valid by itself or holds a field of ours.
 */
export function customTexts(line: string): { head: string; tail: string } | undefined {
  const text = line.trim();
  let opid = text.indexOf(OPID);
  let head = text.slice(0, opid);
  while (opid > 1 && !(head.endsWith(',') && isCustom(`${head.slice(0, -1)}}`))) {
    opid = text.indexOf(OPID, opid + 1);
    head = text.slice(0, opid);
  }
  if (opid < 1) {
    return undefined;
  }
  const time = /"time":\d+\.\d{3}(?=[,}])/.exec(text.slice(opid));
  if (time === null) {
    return undefined;
  }
  const tail = text.slice(opid + time.index + time[0].length);
  if (tail !== '}' && !(tail.startsWith(',') && isCustom(`{${tail.slice(1)}`))) {
    return undefined;
  }
  return { head, tail };
}
