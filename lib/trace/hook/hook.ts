/**
 * The async_hooks callbacks: what is known of an operation, whether it is recorded, and when.
 *
 * A callback that throws ends the process, and no handler of the program is asked (lib/internal/async_hooks.js,
 * fatalError); where the stack is too short even for that, the error goes on into the midst of Node's own code. So each
 * catches what can still go wrong, a stack that is nearly used up above all, and counts the record as lost; where even
 * that call finds no stack, by a store that needs none. That is written out in each of them, since a function of its own
 * would be one more call.
 */
import * as asyncHooks from 'node:async_hooks';
import { Code, PhaseIndex } from '../encode/codes';
import type { Encoder } from '../encode/encoder';
import { canSkipPromises } from '../runtime/features';
import { newestAsyncId, own, ownIds, tagOwn, untagOwn } from '../runtime/own-operations';
import { createOps, type Selection } from './op-registry';
import { OperationTable } from './operation-table';
import type * as Destroys from './promise-destroys';
import type * as Inference from './promise-inference';
import { Mark } from './recent-ids';
import { createRare } from './unregistered-ops';

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
  /** Records nothing any more, whatever Node still calls: where a hook was broken off, `disable` is not in force. */
  abandon(): void;
  /** Operations whose init was seen and whose destroy was not; promises only where their destroys are tracked. */
  readonly live: number;
}

/**
 * What the last event was, as far as it tells that the time of the next one is the same. That holds of two ticks alone:
 * - Node calls one tick after the other. The second was put into the queue before the first one's `after`, or its init
 *   would stand between.
 * - Node calls for destroys in batches, later. A tick is put into the batch before its `after` comes, so where nothing
 *   stands between its destroy and another one, both are of one batch.
 *
 * A program that names an AsyncResource TickObject is on its own.
 *
 * Not of promises, whose turn may come without an event: WebAssembly.compile() settles one 50 ms after the last.
 */
const OTHER = 0;
const TICK_AFTER = 1;
const DESTROY = 2;

/** Destroys that are given the time of one. */
const DESTROYS_SHARED_MAX = 16;

// Taken at load: the program may put others in their place, and a property of the module is dearer at each event.
const { asyncWrapProviders, createHook, executionAsyncId, executionAsyncResource } =
  asyncHooks as typeof asyncHooks & { asyncWrapProviders: Record<string, number> };

// Loaded where promises are not kept alone.
const loadInference = (): typeof Inference => require('./promise-inference');
const loadDestroys = (): typeof Destroys => require('./promise-destroys');

export function createTraceHook(options: HookOptions): Hook {
  const { encoder, contexts } = options;
  const { missed, counts } = encoder;
  const { init: encodeInit, event: encodeEvent } = encoder;
  const table = new OperationTable();
  const ops = createOps(encoder, asyncWrapProviders, options.select, options.selectUnknown);
  const { selected } = ops;
  const PROMISE = ops.promise;
  const TICK = ops.tick;
  const rare = createRare(encoder, ops, contexts);

  const keepPromises = options.promises && options.promiseDestroy;
  const skipPromises = !options.promises && canSkipPromises;
  const inference = keepPromises ? undefined : loadInference().createInference(PROMISE, options.promises);
  const unsureTo = inference?.unsureTo;

  let last = OTHER;
  let destroysShared = 0;
  let owned = 0;
  /** The operation whose callback began last, and what the table says of it: its `after` and what it starts ask again. */
  let current = -1;
  let currentCode = 0;

  if (!options.promises) {
    selected[PROMISE] = 0;
  }

  function lookup(id: number): number {
    const code = id === current ? currentCode : table.get(id);
    return inference === undefined || code !== Code.unknown ? code : inference.of(id);
  }

  /** The same for the operation whose callback runs. */
  function running(id: number): number {
    if (id !== current) {
      currentCode = table.get(id);
      current = id;
    }
    const code = currentCode;
    return inference === undefined || code !== Code.unknown ? code : inference.ofRunning(id);
  }

  function mine(id: number, type: string): void {
    last = OTHER;
    tagOwn(id);
    if (inference !== undefined && type === 'PROMISE') {
      inference.mark(id, Mark.own);
    } else {
      table.set(id, Code.own);
      owned++;
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
      if (inference !== undefined && (parentCode === PROMISE || parentCode === Code.doubtful)) {
        parentCode = inference.ofTrigger(parentCode, id, type, trigger, execution);
      }
      last = OTHER;
      const code = ops.codeOf(type);
      if (code !== PROMISE || keepPromises) {
        table.set(id, code);
      }
      if (code < Code.firstOp || parentCode === Code.rare) {
        rare.init(id, type, code, trigger, execution, parentCode);
      } else if (selected[code] !== 0) {
        encodeInit(code, id, trigger, parentCode === Code.own ? Code.unknown : parentCode, execution);
      }
    } catch {
      last = OTHER;
      if (unsureTo !== undefined && id > unsureTo[0]) {
        unsureTo[0] = id;
      }
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
      const code = running(id);
      if (selected[code] === 0) {
        last = OTHER;
        return;
      }
      const isShared = last === TICK_AFTER && code === TICK;
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
      const code = running(id);
      if (selected[code] === 0) {
        last = OTHER;
        return;
      }
      // Before the call: what a stream's write makes meanwhile stands between this record and the next one.
      last = code === TICK ? TICK_AFTER : OTHER;
      record(PhaseIndex.after, code, id, false);
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
      const code = table.delete(id);
      if (id === current) {
        currentCode = Code.unknown;
      }
      const isShared = last === DESTROY && code === TICK && destroysShared < DESTROYS_SHARED_MAX;
      last = OTHER;
      if (code === Code.own) {
        owned--;
        untagOwn(id);
        inference?.mark(id, Mark.own);
        return;
      }
      if (inference !== undefined) {
        if (code !== Code.unknown) {
          inference.mark(id, Mark.ended);
        } else if (inference.isPromiseDestroy(id)) {
          return;
        }
      }
      if (selected[code] !== 0) {
        if (code === Code.rare) {
          rare.event(PhaseIndex.destroy, id);
        } else {
          destroysShared = isShared ? destroysShared + 1 : 0;
          last = DESTROY;
          encodeEvent(PhaseIndex.destroy, code, id, isShared);
        }
      }
      if (code === Code.rare) {
        rare.forget(id);
      }
    } catch {
      last = OTHER;
      if (unsureTo !== undefined && id > unsureTo[0]) {
        unsureTo[0] = id;
      }
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
      let code = lookup(id);
      last = OTHER;
      if (code === Code.doubtful) {
        code = PROMISE;
      }
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
      rare.event(phase, id);
    } else if (contexts) {
      encodeEvent(phase, code, id, isShared, executionAsyncResource());
    } else {
      encodeEvent(phase, code, id, isShared);
    }
  }

  /**
   * V8 looks for the whole frame of a function before it enters it. That of `init` is large once it is optimized, and what
   * is thrown for want of it comes out of the hook: in the midst of Node's constructor of a timer, which then counts as
   * one that will fire, and the process never ends (seen on Node 26 in most runs that overflow the stack on purpose).
   * It helps as long as V8 does not inline `init` here, which was not seen on Node 20: its frame would be this one's.
   */
  function enterInit(id: number, type: string, trigger: number): void {
    try {
      init(id, type, trigger);
    } catch {
      last = OTHER;
      if (unsureTo !== undefined && id > unsureTo[0]) {
        unsureTo[0] = id;
      }
      missed[0]++;
      counts[PhaseIndex.init]++;
    }
  }

  encoder.enteredBy(enterInit);
  const destroysApart = keepPromises || skipPromises ? undefined : loadDestroys().createDestroyHook(destroy);
  const hook = createHook({
    init: enterInit,
    before,
    after,
    ...(destroysApart === undefined ? { destroy } : {}),
    ...(options.resolve ? { promiseResolve } : {}),
    ...(skipPromises ? { trackPromises: false } : {}),
  });
  let enabled = false;

  function enable(): void {
    if (enabled) {
      return;
    }
    enabled = true;
    current = -1;
    for (const id of ownIds()) {
      if (lookup(id) !== Code.own) {
        table.set(id, Code.own);
        owned++;
      }
    }
    hook.enable();
    destroysApart?.enable();
    if (inference !== undefined) {
      const newest = newestAsyncId();
      inference.begin(newest, table.get(newest) === Code.own);
    }
  }

  function disable(): void {
    if (!enabled) {
      return;
    }
    enabled = false;
    inference?.end(newestAsyncId());
    hook.disable();
    destroysApart?.disable();
    last = OTHER;
  }

  return {
    enable,
    disable,
    abandon: ops.selectNothing,
    get live() {
      return table.size - owned;
    },
  };
}
