/** Bytes that a record carries beside its fixed fields. Two steps, so that the encoder can make room first. */
export interface Payload {
  /** Captures; returns the exact length in bytes of the JSON value; 0: there is none, write nothing. Never throws. */
  measure(subject: object | undefined): number;
  /** Writes what measure() captured, at `position`, and returns the position behind it. `target` has room. */
  write(target: Buffer, position: number): number;
}

export { createContextPayload } from './context';
export { createStackPayload } from './stack';
