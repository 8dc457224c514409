/** Numbers of fields and constants of Perfetto's messages, by the names that its .proto files give them or nearly so. */

export const TRACE = { packet: 1 };
export const PACKET = {
  clockSnapshot: 6,
  timestamp: 8,
  sequence: 10,
  event: 11,
  interned: 12,
  flags: 13,
  defaults: 59,
  descriptor: 60,
};
export const CLEARED = 1;
export const NEEDS_STATE = 2;
export const SNAPSHOT = { clock: 1, primary: 2 };
export const CLOCK = { id: 1, timestamp: 2, unit: 4 };
export const REALTIME = 1;
export const BOOTTIME = 6;
/** Clocks from this number on belong to a sequence. */
export const SEQUENCE_CLOCK = 64;
export const DEFAULTS = { clock: 58, event: 11 };
export const DESCRIPTOR = { uuid: 1, name: 2, process: 3, thread: 4, parent: 5 };
export const PROCESS = { pid: 1, name: 6 };
export const THREAD = { pid: 1, tid: 2, name: 5 };
export const EVENT = {
  category: 3,
  annotation: 4,
  type: 9,
  name: 10,
  track: 11,
  sourceLocation: 34,
  flow: 47,
  terminatingFlow: 48,
  callstack: 56,
};
export const BEGIN = 1;
export const END = 2;
export const INTERNED = {
  category: 1,
  name: 2,
  annotationName: 3,
  sourceLocation: 4,
  functionName: 5,
  frame: 6,
  callstack: 7,
  mapping: 19,
};
export const NAMED = { iid: 1, name: 2 };
export const SOURCE_LOCATION = { iid: 1, file: 2, function: 3, line: 4 };
export const FRAME = { iid: 1, functionName: 2, mapping: 3 };
export const CALLSTACK = { iid: 1, frame: 2 };
export const ANNOTATION = { name: 1, number: 3 };
/** Interned ids of annotation names. */
export const OPID = 1;
export const PARENTOPID = 2;
export const UNENDED_NAME = 3;
export const ANNOTATION_NAMES = ['opid', 'parentopid', 'unended'];
