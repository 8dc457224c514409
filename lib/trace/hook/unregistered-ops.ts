/**
 * Operations whose op is not registered (op-registry.ts): a program may invent types without end, or long ones. Their
 * records are made from the type, which is kept as long as the operation lives.
 */
import asyncHooks = require('node:async_hooks');

import { Code, PhaseIndex } from '../encode/codes';
import { OwnMap } from '../runtime/intrinsics';
import type { OpRegistry } from './op-registry';

/** Encodes a record from its text: `Encoder.unregistered`. */
export type EncodeText = (phase: PhaseIndex, id: number, fields: string, resource?: object) => void;

export interface UnregisteredOps {
  /** Records an init whose op (`code` is Code.unregistered) or whose parent's op is unregistered. */
  init(id: number, type: string, code: number, trigger: number, execution: number, parentCode: number): void;
  /** Records a `before`, `after` or `destroy`. */
  event(phase: PhaseIndex, id: number): void;
  /** Forgets the type of a destroyed operation. */
  forget(id: number): void;
}

// Taken at load: the program may put others in their place.
const { executionAsyncResource } = asyncHooks;
const { stringify } = JSON;

function opField(key: string, op: string | undefined): string {
  return op === undefined ? '' : `,"${key}":${stringify(op)}`;
}

export function createUnregisteredOps(
  encode: EncodeText,
  ops: OpRegistry,
  contexts: boolean,
): UnregisteredOps {
  const types = new OwnMap<number, string>();

  function init(
    id: number,
    type: string,
    code: number,
    trigger: number,
    execution: number,
    parentCode: number,
  ): void {
    if (code === Code.unregistered) {
      types.set(id, type);
    }
    const name = ops.nameOf(type);
    if (!name.selected) {
      return;
    }
    const parentType = parentCode === Code.unregistered ? types.get(trigger) : ops.typeOf(parentCode);
    const parentop = parentType === undefined ? undefined : ops.nameOf(parentType).op;
    encode(
      PhaseIndex.init,
      id,
      `${opField('op', name.op)},"phase":"init","area":"${name.area}","parentopid":${trigger}` +
        `${opField('parentop', parentop)}${execution === trigger ? '' : `,"execopid":${execution}`}`,
    );
  }

  function event(phase: number, id: number): void {
    const name = ops.nameOf(types.get(id) as string);
    if (!name.selected) {
      return;
    }
    const word = phase === PhaseIndex.before ? 'before' : phase === PhaseIndex.after ? 'after' : 'destroy';
    const resource = contexts && phase !== PhaseIndex.destroy ? executionAsyncResource() : undefined;
    encode(phase, id, `${opField('op', name.op)},"phase":"${word}","area":"${name.area}"`, resource);
  }

  return {
    init,
    event,
    forget(id) {
      types.delete(id);
    },
  };
}
