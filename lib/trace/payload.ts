import type { Scratch } from './scratch';

/** What a record carries beside its fixed fields: a JSON value. */
export interface Payload {
  /** Captures and appends; returns the bytes that were appended; 0: there is no value, write nothing. Never throws. */
  append(scratch: Scratch, subject: object | undefined): number;
}

export { createContextPayload } from './context';
export { createStackPayload } from './stack';
