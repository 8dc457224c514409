/**
 * Operations without a code of their own, since a program invents types without end, or long ones (ops.ts). Their
 * records are made from the type, which is kept as long as the operation lives.
 */
import * as asyncHooks from 'node:async_hooks';
import { Code, PhaseIndex } from '../encode/codes';
import type { Encoder } from '../encode/encoder';
import { OwnMap } from '../runtime/intrinsics';
import type { Ops } from './op-registry';

export interface Rare {
  /** The record of an init that has a rare op (`code` is Code.rare), or a parent of one. */
  init(id: number, type: string, code: number, trigger: number, execution: number, parentCode: number): void;
  /** The record of a `before`, `after` or `destroy` of a rare op. */
  event(phase: PhaseIndex, id: number): void;
  /** Lets the type of a destroyed operation go. */
  forget(id: number): void;
}

// Taken at load: the program may put others in their place.
const { executionAsyncResource } = asyncHooks;
const { stringify } = JSON;

function opField(key: string, op: string | undefined): string {
  return op === undefined ? '' : `,"${key}":${stringify(op)}`;
}

export function createRare(encoder: Encoder, ops: Ops, contexts: boolean): Rare {
  const types = new OwnMap<number, string>();

  function init(
    id: number,
    type: string,
    code: number,
    trigger: number,
    execution: number,
    parentCode: number,
  ): void {
    if (code === Code.rare) {
      types.set(id, type);
    }
    const name = ops.nameOf(type);
    if (!name.selected) {
      return;
    }
    const parentType = parentCode === Code.rare ? types.get(trigger) : ops.typeOf(parentCode);
    const parentop = parentType === undefined ? undefined : ops.nameOf(parentType).op;
    encoder.rare(
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
    encoder.rare(phase, id, `${opField('op', name.op)},"phase":"${word}","area":"${name.area}"`, resource);
  }

  return {
    init,
    event,
    forget(id) {
      types.delete(id);
    },
  };
}
