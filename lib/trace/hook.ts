/**
 * The async_hooks callbacks: what is known of an operation, whether it is recorded, and when.
 *
 * A callback that throws ends the process, and no handler of the program is asked (lib/internal/async_hooks.js,
 * fatalError). So each catches what can still go wrong, a stack that is nearly used up above all, and counts the
 * record as lost; where even that call finds no stack, by a store that needs none.
 */
import { asyncWrapProviders, createHook, executionAsyncId, executionAsyncResource } from 'node:async_hooks';
import { TracerError } from '../errors';
import { Code, PhaseIndex } from './codes';
import type { Encoder } from './encoder';
import { OwnMap } from './intrinsics';
import { createOps, type Selection } from './ops';
import { OpTable } from './optable';
import { claim, newestId, own, ownIds, release } from './own';

export interface HookOptions {
  encoder: Encoder;
  promises: boolean;
  promiseDestroy: boolean;
  resolve: boolean;
  contexts: boolean;
  select: Selection;
  /** Whether an operation whose op is not known is recorded. */
  selectUnknown: boolean;
}

export interface Hook {
  enable(): void;
  disable(): void;
  /** Operations whose init was seen and whose destroy was not; promises only where their destroys are tracked. */
  readonly live: number;
}

/** What the last event was, as far as it tells that the time of the next one is the same. */
const OTHER = 0;
const QUEUE_AFTER = 1;

/** A destroyed operation that may still run, while promises are told by their ids alone: see `ended`. */
const ENDED = 0xffff;
/** How many of them are remembered. */
const ENDED_MAX = 4096;
/** Traced stretches that are remembered, for a program that toggles the tracer. */
const STRETCHES_MAX = 32;

const { stringify } = JSON;

/**
 * Whether createHook() knows `trackPromises`: it is checked where it is known (24.22, 26), and ignored elsewhere. A
 * test for the feature, since it was also brought to older lines.
 */
export const canSkipPromises = takesTrackPromises();

function takesTrackPromises(): boolean {
  try {
    createHook({ init() {}, trackPromises: 'no boolean' } as object);
    return false;
  } catch {
    return true;
  }
}

/** @throws TracerError ERR_ASYNC_TRACER_UNSUPPORTED where this process may not make async hooks */
export function requireHooks(): void {
  try {
    createHook({});
  } catch (error) {
    const flag = '--allow-async-hooks';
    const hint = process.allowedNodeEnvironmentFlags.has(flag) ? ` Start node with ${flag}.` : '';
    throw new TracerError(
      'ERR_ASYNC_TRACER_UNSUPPORTED',
      `This process cannot make async hooks: ${(error as Error).message}.${hint}`,
      { cause: error },
    );
  }
}

export function createTraceHook(options: HookOptions): Hook {
  const { encoder, contexts } = options;
  const { missed, counts } = encoder;
  const { init: encodeInit, event: encodeEvent } = encoder;
  const table = new OpTable();
  const ops = createOps(encoder, asyncWrapProviders as never, options.select, options.selectUnknown);
  const { selected, queued, native } = ops;
  const PROMISE = ops.promise;
  /** Types of the operations that have no code of their own. */
  const rareTypes = new OwnMap<number, string>();

  /**
   * Without promise destroys nothing would free a promise's entry, so promises are not kept: an id of the traced
   * stretch that nobody knows is a promise. What is destroyed but may run again (an AsyncResource) is remembered for
   * a while, or it would be taken for one.
   */
  const keepPromises = options.promises && options.promiseDestroy;
  const skipPromises = !options.promises && canSkipPromises;
  const ended = keepPromises ? undefined : new Float64Array(ENDED_MAX);
  let endedNext = 0;
  let endedCount = 0;
  /** Traced stretches as pairs of ids, the last one open. */
  let stretches: number[] = [];

  let last = OTHER;
  let owned = 0;

  if (!options.promises) {
    selected[PROMISE] = 0;
  }

  function infer(id: number): number {
    for (let i = stretches.length - 2; i >= 0; i -= 2) {
      if (id > stretches[i]) {
        return id <= stretches[i + 1] ? PROMISE : Code.unknown;
      }
    }
    return Code.unknown;
  }

  function lookup(id: number): number {
    const code = table.get(id);
    if (keepPromises || (code !== Code.unknown && code !== ENDED)) {
      return code;
    }
    return code === ENDED ? Code.unknown : infer(id);
  }

  function mine(id: number, type: string): void {
    last = OTHER;
    owned++;
    claim(id);
    if (ended !== undefined && type === 'PROMISE') {
      remember(id, Code.own);
    } else {
      table.set(id, Code.own);
    }
  }

  function init(id: number, type: string, trigger: number): void {
    try {
      if (own.depth !== 0) {
        mine(id, type);
        return;
      }
      const execution = executionAsyncId();
      let parentCode = lookup(trigger);
      if ((execution === trigger ? parentCode : lookup(execution)) === Code.own) {
        mine(id, type);
        return;
      }
      // A program may name any id as the trigger; one that is not given out yet is no promise.
      if (parentCode === PROMISE && trigger > id) {
        parentCode = Code.unknown;
      }
      last = OTHER;
      const code = ops.codeOf(type);
      if (code !== PROMISE || keepPromises) {
        table.set(id, code);
      }
      if (code < Code.firstOp || parentCode === Code.rare) {
        rareInit(id, type, code, trigger, execution, parentCode);
      } else if (selected[code] !== 0) {
        encodeInit(code, id, trigger, parentCode === Code.own ? Code.unknown : parentCode, execution);
      }
    } catch {
      last = OTHER;
      try {
        encoder.lose(PhaseIndex.init);
      } catch {
        missed[0]++;
        counts[PhaseIndex.init]++;
      }
    }
  }

  function before(id: number): void {
    try {
      const code = lookup(id);
      if (selected[code] === 0) {
        last = OTHER;
        return;
      }
      // What runs between two queued callbacks is Node alone (p50 0.1 us): the time of the first one's end will do.
      const isShared = last === QUEUE_AFTER && queued[code] !== 0;
      last = OTHER;
      record(PhaseIndex.before, code, id, isShared);
    } catch {
      last = OTHER;
      try {
        encoder.lose(PhaseIndex.before);
      } catch {
        missed[0]++;
        counts[PhaseIndex.before]++;
      }
    }
  }

  function after(id: number): void {
    try {
      const code = lookup(id);
      if (selected[code] === 0) {
        last = OTHER;
        return;
      }
      record(PhaseIndex.after, code, id, false);
      last = queued[code];
    } catch {
      last = OTHER;
      try {
        encoder.lose(PhaseIndex.after);
      } catch {
        missed[0]++;
        counts[PhaseIndex.after]++;
      }
    }
  }

  function destroy(id: number): void {
    try {
      let code = table.delete(id);
      last = OTHER;
      if (code < Code.firstOp || code === ENDED) {
        if (code === Code.own) {
          owned--;
          release(id);
          return;
        }
        if (code === ENDED) {
          endedCount--;
          code = Code.unknown;
        } else if (code === Code.unknown && ended !== undefined && infer(id) === PROMISE) {
          // Promise hooks are on because another hook wants them. This trace leaves promise destroys out.
          return;
        }
      }
      if (ended !== undefined && native[code] === 0) {
        remember(id, ENDED);
      }
      if (selected[code] !== 0) {
        if (code === Code.rare) {
          rareEvent(PhaseIndex.destroy, id);
        } else {
          encodeEvent(PhaseIndex.destroy, code, id, false);
        }
      }
      if (code === Code.rare) {
        rareTypes.delete(id);
      }
    } catch {
      last = OTHER;
      try {
        encoder.lose(PhaseIndex.destroy);
      } catch {
        missed[0]++;
        counts[PhaseIndex.destroy]++;
      }
    }
  }

  function promiseResolve(id: number): void {
    try {
      const code = lookup(id);
      last = OTHER;
      if (selected[code] !== 0) {
        encodeEvent(PhaseIndex.resolve, code, id, false);
      }
    } catch {
      last = OTHER;
      try {
        encoder.lose(PhaseIndex.resolve);
      } catch {
        missed[0]++;
        counts[PhaseIndex.resolve]++;
      }
    }
  }

  function record(phase: number, code: number, id: number, isShared: boolean): void {
    if (code === Code.rare) {
      rareEvent(phase, id);
    } else if (contexts) {
      encodeEvent(phase, code, id, isShared, executionAsyncResource());
    } else {
      encodeEvent(phase, code, id, isShared);
    }
  }

  /** Keeps the code of an id that nothing may ever free, until ENDED_MAX others have come. */
  function remember(id: number, code: number): void {
    const ring = ended as Float64Array;
    const oldest = ring[endedNext];
    const oldestCode = table.get(oldest);
    if (oldestCode === ENDED) {
      table.delete(oldest);
      endedCount--;
    } else if (oldestCode === Code.own) {
      table.delete(oldest);
      owned--;
    }
    ring[endedNext] = id;
    endedNext = (endedNext + 1) % ENDED_MAX;
    table.set(id, code);
    if (code === ENDED) {
      endedCount++;
    }
  }

  function opField(key: string, op: string | undefined): string {
    return op === undefined ? '' : `,"${key}":${stringify(op)}`;
  }

  function rareInit(
    id: number,
    type: string,
    code: number,
    trigger: number,
    execution: number,
    parentCode: number,
  ): void {
    if (code === Code.rare) {
      rareTypes.set(id, type);
    }
    const name = ops.nameOf(type);
    if (!name.selected) {
      return;
    }
    const parentType = parentCode === Code.rare ? rareTypes.get(trigger) : ops.typeOf(parentCode);
    const parentop = parentType === undefined ? undefined : ops.nameOf(parentType).op;
    encoder.rare(
      PhaseIndex.init,
      id,
      `${opField('op', name.op)},"phase":"init","area":"${name.area}","parentopid":${trigger}` +
        `${opField('parentop', parentop)}${execution === trigger ? '' : `,"execopid":${execution}`}`,
    );
  }

  function rareEvent(phase: number, id: number): void {
    const name = ops.nameOf(rareTypes.get(id) as string);
    if (!name.selected) {
      return;
    }
    const word = phase === PhaseIndex.before ? 'before' : phase === PhaseIndex.after ? 'after' : 'destroy';
    const resource = contexts && phase !== PhaseIndex.destroy ? executionAsyncResource() : undefined;
    encoder.rare(phase, id, `${opField('op', name.op)},"phase":"${word}","area":"${name.area}"`, resource);
  }

  /**
   * Node tracks the garbage collection of promises while any hook has a `destroy`, except when that hook is enabled
   * from inside an init callback: then the new count of destroy hooks is not yet in force where Node decides
   * (lib/internal/async_hooks.js, getHookArrays and updatePromiseHookMode). So the destroys of all else come from a
   * hook of their own, enabled in the init of an operation made for it. Undocumented: where it fails, promise
   * destroys arrive and are left out (see `destroy`), and only the cost is higher.
   */
  const destroyApart = !keepPromises && !skipPromises;
  const destroyHook = createHook(destroyApart ? { destroy } : {});
  const hook = createHook({
    init,
    before,
    after,
    ...(destroyApart ? {} : { destroy }),
    ...(options.resolve ? { promiseResolve } : {}),
    ...(skipPromises ? { trackPromises: false } : {}),
  });
  let enabled = false;

  function enable(): void {
    if (enabled) {
      return;
    }
    enabled = true;
    for (const id of ownIds()) {
      if (table.get(id) === Code.unknown) {
        table.set(id, Code.own);
        owned++;
      }
    }
    hook.enable();
    if (destroyApart) {
      const armingHook = createHook({
        init() {
          destroyHook.enable();
        },
      });
      armingHook.enable();
      newestId();
      armingHook.disable();
      // Where this runs in a callback of some hook, the arming one is not in force yet, and neither is the count of
      // destroy hooks: the same decision.
      destroyHook.enable();
    }
    if (!keepPromises) {
      stretches.push(newestId(), Number.POSITIVE_INFINITY);
      stretches = stretches.slice(-STRETCHES_MAX * 2);
    }
  }

  function disable(): void {
    if (!enabled) {
      return;
    }
    enabled = false;
    if (!keepPromises) {
      stretches[stretches.length - 1] = newestId();
    }
    hook.disable();
    destroyHook.disable();
    last = OTHER;
  }

  return {
    enable,
    disable,
    get live() {
      return table.size - owned - endedCount;
    },
  };
}
