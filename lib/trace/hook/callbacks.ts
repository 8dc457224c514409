/**
 * The async_hooks callbacks: what is known of an operation, whether it is recorded, and when.
 *
 * No callback may throw: Node would end the process without asking any handler of the program (lib/internal/async_hooks.js,
 * fatalError), and where the stack is too short even for that, the error would go on into the midst of Node's own code. So
 * each callback has one guard, always the same:
 * ```
 *   try { the work } catch { stores; try { encoder.lose(phase) } catch { missed[0]++; counts[phase]++ } }
 * ```
 * What can still go wrong is above all a stack that is nearly used up. The stores reset what the next event relies on.
 * `encoder.lose` puts the loss where the record would stand. Where there is no stack even for that call, a bare store counts
 * it. The guard is written out in each callback, because a function around them would be one more call for each event, and
 * a function for its stores might find no stack.
 *
 * One file: the callbacks share their variables, and a second closure would cost a load at each event.
 */
import asyncHooks = require('node:async_hooks');

import { Code, PhaseIndex } from '../encode/codes';
import type { Encoder } from '../encode/encoder';
import { own, ownIds, tagOwn, untagOwn } from '../runtime/own-operations';
import type { OpRegistry } from './op-registry';
import { OperationTable } from './operation-table';
import type { PromiseInference } from './promise-inference';
import { Mark } from './recent-ids';
import { createUnregisteredOps } from './unregistered-ops';

export interface CallbackOptions {
  encoder: Encoder;
  ops: OpRegistry;
  /** Whether `before` and `after` carry the resource. */
  contexts: boolean;
  /** Whether promises are kept in the operation table. */
  keepsPromises: boolean;
  /** What an unknown id is, where promises are not kept. */
  inference: PromiseInference | undefined;
}

export interface Callbacks {
  init(id: number, type: string, trigger: number): void;
  before(id: number): void;
  after(id: number): void;
  destroy(id: number): void;
  promiseResolve(id: number): void;
  /** Takes up the own operations that were started while tracing was disabled. */
  begin(): void;
  end(): void;
  /** Whether the operation table knows the id as an own operation. */
  isOwn(id: number): boolean;
  /** Operations whose init was seen and whose destroy was not; promises only where their destroys are tracked. */
  readonly live: number;
}

/**
 * What the last event was, as far as it decides that the next event has the same time. That holds for two ticks alone:
 * - Node runs one tick after the other. The second was queued before the first one's `after`, or its init would stand
 *   between the two.
 * - Node emits destroys later, in batches. A tick joins the batch before its `after` comes, so where nothing stands
 *   between its destroy and another one, both are of one batch.
 *
 * The times of an AsyncResource that a program names TickObject may be wrong.
 *
 * It does not hold for promises, which may run without an event before: WebAssembly.compile() settles one 50 ms after the
 * last event.
 */
const OTHER = 0;
const TICK_AFTER = 1;
const DESTROY = 2;

/** Destroys in a row that share one reading of the clock. */
const DESTROYS_SHARED_MAX = 16;

// Taken at load: the program may put others in their place, and a property of the module costs more at each event.
const { executionAsyncId, executionAsyncResource } = asyncHooks;

export function createCallbacks(options: CallbackOptions): Callbacks {
  const { encoder, ops, contexts, keepsPromises: keepPromises, inference } = options;
  const { missed, counts } = encoder;
  const { init: encodeInit, event: encodeEvent } = encoder;
  const table = new OperationTable();
  const { selected } = ops;
  const PROMISE = ops.promise;
  const TICK = ops.tick;
  const unregistered = createUnregisteredOps(encoder.unregistered, ops, contexts);
  const unsureTo = inference?.unsureTo;

  let last = OTHER;
  let destroysShared = 0;
  let ownCount = 0;
  /** The operation whose callback began last, and its code: its `after` and what it starts ask for it again. */
  let current = -1;
  let currentCode = 0;

  function lookup(id: number): number {
    const code = id === current ? currentCode : table.get(id);
    return inference === undefined || code !== Code.unknown ? code : inference.of(id);
  }

  /** `lookup` for the operation whose callback runs. */
  function running(id: number): number {
    if (id !== current) {
      currentCode = table.get(id);
      current = id;
    }
    const code = currentCode;
    return inference === undefined || code !== Code.unknown ? code : inference.ofRunning(id);
  }

  function recordOwn(id: number, type: string): void {
    last = OTHER;
    tagOwn(id);
    if (inference !== undefined && type === 'PROMISE') {
      inference.mark(id, Mark.own);
    } else {
      table.set(id, Code.own);
      ownCount++;
    }
  }

  function init(id: number, type: string, trigger: number): void {
    try {
      if (own.depth !== 0) {
        recordOwn(id, type);
        return;
      }
      const execution = executionAsyncId();
      let parentCode = lookup(trigger);
      if ((execution === trigger ? parentCode : lookup(execution)) === Code.own) {
        recordOwn(id, type);
        return;
      }
      if (inference !== undefined && (parentCode === PROMISE || parentCode === Code.uncertain)) {
        parentCode = inference.ofTrigger(parentCode, id, type, trigger, execution);
      }
      last = OTHER;
      const code = ops.codeOf(type);
      if (code !== PROMISE || keepPromises) {
        table.set(id, code);
      }
      if (code < Code.firstOp || parentCode === Code.unregistered) {
        unregistered.init(id, type, code, trigger, execution, parentCode);
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
      // Set before the call: what a stream's write records meanwhile stands between this record and the next one.
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
        ownCount--;
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
        if (code === Code.unregistered) {
          unregistered.event(PhaseIndex.destroy, id);
        } else {
          destroysShared = isShared ? destroysShared + 1 : 0;
          last = DESTROY;
          encodeEvent(PhaseIndex.destroy, code, id, isShared);
        }
      }
      if (code === Code.unregistered) {
        unregistered.forget(id);
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
      if (code === Code.uncertain) {
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
    if (code === Code.unregistered) {
      unregistered.event(phase, id);
    } else if (contexts) {
      encodeEvent(phase, code, id, isShared, executionAsyncResource());
    } else {
      encodeEvent(phase, code, id, isShared);
    }
  }

  /**
   * The guard of `init` is not enough. Before V8 enters a function it checks that there is room for its whole frame. The
   * frame of `init` is large once it is optimized, and the error for want of room leaves the hook: in the midst of Node's
   * constructor of a timer, which then counts as one that will fire, and the process never ends (Node 26, most runs that
   * overflow the stack on purpose). This works as long as V8 does not inline `init` here; on Node 20 it did not.
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

  function begin(): void {
    current = -1;
    for (const id of ownIds()) {
      if (lookup(id) !== Code.own) {
        table.set(id, Code.own);
        ownCount++;
      }
    }
  }

  return {
    init: enterInit,
    before,
    after,
    destroy,
    promiseResolve,
    begin,
    end() {
      last = OTHER;
    },
    isOwn: (id) => table.get(id) === Code.own,
    get live() {
      return table.size - ownCount;
    },
  };
}
