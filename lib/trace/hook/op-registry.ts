/**
 * The ops that a tracer has met: type -> code, and what was decided once about each code. The operation table keeps the
 * code of an operation, and the encoder has templates for each code.
 */
import { areaOf, opOf } from '../../log/area';
import { Code } from '../encode/codes';
import { OP_LENGTH_MAX } from '../encode/template';
import { OwnMap } from '../runtime/intrinsics';

/**
 * Ops with templates at most; each takes about 600 bytes. A program that invents types without end has the others encoded
 * one by one, from the type, which is kept as long as the operation lives (unregistered-ops.ts).
 */
const CODES_MAX = 4096;

/** Whether the operations of an op are recorded; asked once a type. */
export type Selection = (op: string, area: string) => boolean;

/** Prepares the templates of one more op and returns its code. */
export type Prepare = (op: string, area: string) => number;

export interface OpRegistry {
  /** The code of a type as async_hooks names it; Code.unregistered where it has none of its own. */
  codeOf(type: string): number;
  /** 1 where the code's operations are recorded. */
  readonly selected: Uint8Array;
  readonly promise: number;
  readonly tick: number;
  /** The type of a code that `codeOf` gave. */
  typeOf(code: number): string | undefined;
  /** Whether a type with this op is registered. */
  hasOp(op: string): boolean;
  /** From here on nothing is selected. */
  selectNothing(): void;
  /** The op of an unregistered type, and whether it is recorded. */
  nameOf(type: string): { op: string; area: string; selected: boolean };
}

export function createOpRegistry(
  prepare: Prepare,
  providers: Record<string, unknown>,
  select: Selection,
  selectUnknown: boolean,
): OpRegistry {
  const codes = new OwnMap<string, number>();
  const selected = new Uint8Array(CODES_MAX);
  const types: string[] = [];
  let full = false;
  let isOver = false;
  let lastType = '';
  let lastCode = 0;

  selected[Code.unknown] = selectUnknown ? 1 : 0;
  selected[Code.own] = 0;
  selected[Code.unregistered] = 1;

  function nameOf(type: string): { op: string; area: string; selected: boolean } {
    const op = opOf(type, isProvider(type));
    const area = areaOf(op);
    return { op, area, selected: !isOver && select(op, area) };
  }

  function isProvider(type: string): boolean {
    return typeof providers[type] === 'number';
  }

  function register(type: string): number {
    if (full || type.length > OP_LENGTH_MAX) {
      return Code.unregistered;
    }
    const name = nameOf(type);
    const code = prepare(name.op, name.area);
    full = code === CODES_MAX - 1;
    selected[code] = name.selected ? 1 : 0;
    codes.set(type, code);
    types[code] = type;
    return code;
  }

  function codeOf(type: string): number {
    if (type === lastType) {
      return lastCode;
    }
    const code = codes.get(type) ?? register(type);
    lastType = type;
    lastCode = code;
    return code;
  }

  return {
    codeOf,
    selected,
    promise: register('PROMISE'),
    tick: register('TickObject'),
    typeOf: (code) => types[code],
    hasOp(op) {
      for (let code = Code.firstOp + 2; code < types.length; code++) {
        if (types[code] !== undefined && nameOf(types[code]).op === op) {
          return true;
        }
      }
      return false;
    },
    selectNothing() {
      isOver = true;
      for (let code = 0; code < CODES_MAX; code++) {
        selected[code] = 0;
      }
    },
    nameOf,
  };
}
