import type { PayloadBuffer } from './payload-buffer';

/** Any function. */
export type Call = (...args: never[]) => unknown;

/** What a record carries beside its fixed fields: a JSON value. */
export interface Payload {
  /**
   * Captures and appends; returns the bytes that were appended; 0: there is no value, write nothing. Never throws.
   *
   * @param code the op's: stacks of one op look alike
   * @param caller a function on the stack: it and what it called are left out of a stack
   */
  append(buffer: PayloadBuffer, subject: object | undefined, code?: number, caller?: Call): number;
}
