import { FORMAT_VERSION, OPERATION_PHASES } from '../../log/event';

/** Codes of `RecordCursor.phase`: first the phases of operations, in the order of `OPERATION_PHASES`. */
export const INIT = 0;
export const BEFORE = 1;
export const AFTER = 2;
export const DESTROY = 3;
export const RESOLVE = 4;
export const START = 5;
export const END = 6;
export const LOST = 7;

export const PHASES = [...OPERATION_PHASES, 'start', 'end', 'lost'] as const;
export const PHASE_CODES = new Map<unknown, number>(PHASES.map((phase, code) => [phase, code]));

const isNumber = (value: unknown) => Number.isFinite(value);

export const isId = (value: unknown): value is number => Number.isSafeInteger(value);

/** Whether a parsed line has the fields without which its phase means nothing. */
export function isRecord(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) {
    return false;
  }
  const { phase, time, opid, op, parentopid, format, pid, count } = value as Record<string, unknown>;
  // The start record of a later format may have any fields. It must reach the reader, which refuses it by name.
  if (phase === 'start' && isNumber(format) && (format as number) > FORMAT_VERSION) {
    return true;
  }
  if (!isNumber(time)) {
    return false;
  }
  switch (PHASE_CODES.get(phase)) {
    case undefined:
      return false;
    case INIT:
      return isId(opid) && isId(parentopid) && typeof op === 'string';
    case START:
      return isId(format) && format > 0 && isNumber(pid);
    case END:
      return true;
    case LOST:
      return isId(count) && count > 0;
    default:
      return isId(opid) && (op === undefined || typeof op === 'string');
  }
}
