/**
 * The async_hooks callbacks: what is known of an operation, whether it is recorded, and when.
 *
 * A callback that throws ends the process, and no handler of the program is asked (lib/internal/async_hooks.js,
 * fatalError). So each catches what can still go wrong, a stack that is nearly used up above all, and counts the
 * record as lost; where even that call finds no stack, by a store that needs none.
 */
import * as asyncHooks from 'node:async_hooks';
import { types } from 'node:util';
import { TracerError } from '../errors';
import { Code, PhaseIndex } from './codes';
import type { Encoder } from './encoder';
import { OwnMap, uncurryThis } from './intrinsics';
import { createOps, type Selection } from './ops';
import { OpTable } from './optable';
import { claim, newestId, own, ownIds, release } from './own';
import { Mark, RecentIds } from './recent';

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

/**
 * What the last event was, as far as it tells that the time of the next one is the same. That holds of two ticks alone:
 * - Node calls one tick after the other. The second was put into the queue before the first one's `after`, or its init
 *   would stand between.
 * - Node calls for destroys in batches, later. A tick is put into the batch before its `after` comes, so where nothing
 *   stands between its destroy and another one, both are of one batch.
 *
 * Not of promises, whose turn may come without an event: WebAssembly.compile() settles one 50 ms after the last.
 */
const OTHER = 0;
const TICK_AFTER = 1;
const DESTROY = 2;

/** Destroys that are given the time of one. */
const DESTROYS_SHARED_MAX = 16;

/** A promise, or something that has ended: its id alone does not tell. No code of an op is that high. */
const DOUBTFUL = 0xffff;
const FOR_EVER = Number.POSITIVE_INFINITY;
/** Traced stretches that are remembered, for a program that toggles the tracer. */
const STRETCHES_MAX = 1024;

// Taken at load: the program may put others in their place, and a property of the module is dearer at each event.
const { asyncWrapProviders, createHook, executionAsyncId, executionAsyncResource } =
  asyncHooks as typeof asyncHooks & { asyncWrapProviders: Record<string, number> };
const { stringify } = JSON;
const { isPromise } = types;
const slice: (list: number[], from: number) => number[] = uncurryThis(Array.prototype.slice);

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
  const ops = createOps(encoder, asyncWrapProviders, options.select, options.selectUnknown);
  const { selected } = ops;
  const PROMISE = ops.promise;
  const TICK = ops.tick;
  /** Types of the operations that have no code of their own. */
  const rareTypes = new OwnMap<number, string>();

  /**
   * Without promise destroys nothing would free a promise's entry, so promises are not kept: an id of the traced
   * stretch that nobody knows is a promise, unless it is the id of something that has ended. Of the last millions of
   * ids that is remembered; for older ones, what runs is looked at.
   */
  const keepPromises = options.promises && options.promiseDestroy;
  const skipPromises = !options.promises && canSkipPromises;
  const recent = keepPromises ? undefined : new RecentIds();
  /** Ids up to this one may be those of operations whose init could not be kept. */
  let unsureTo = -1;
  /** Whether the destroys of promises have come, though this trace does without. */
  let tracked = false;
  /** Traced stretches as pairs of ids, the last one open. */
  let stretches: number[] = [];

  let last = OTHER;
  let destroysShared = 0;
  let owned = 0;

  if (!options.promises) {
    selected[PROMISE] = 0;
  }

  /** What an id is that the table does not know, where promises are not kept in it. */
  function infer(id: number): number {
    const mark = (recent as RecentIds).get(id);
    if (mark === Mark.own) {
      return Code.own;
    }
    if (mark === Mark.ended || !isTraced(id)) {
      return Code.unknown;
    }
    return mark === Mark.none && id > unsureTo ? PROMISE : DOUBTFUL;
  }

  /** Whether the id was given out while this hook was enabled. */
  function isTraced(id: number): boolean {
    for (let i = stretches.length - 2; i >= 0; i -= 2) {
      if (id > stretches[i]) {
        return id <= stretches[i + 1];
      }
    }
    return false;
  }

  function lookup(id: number): number {
    const code = table.get(id);
    return keepPromises || code !== Code.unknown ? code : infer(id);
  }

  /** The same for the operation whose callback runs. */
  function running(id: number): number {
    const code = table.get(id);
    return keepPromises || code !== Code.unknown ? code : look(id);
  }

  function look(id: number): number {
    const inferred = infer(id);
    // Without promises nothing is recorded of those either that were there before the trace. Node 24 leaves them out
    // itself, but for one: that whose rejection was the end of a callback (process.on('uncaughtException')).
    if (inferred === DOUBTFUL || (inferred === Code.unknown && !options.promises)) {
      return isPromise(executionAsyncResource()) ? PROMISE : Code.unknown;
    }
    return inferred;
  }

  /**
   * The code of an init's trigger. A program may name any id; one that is not given out yet is no promise. Node names
   * another one than what runs for a promise that follows another promise, and, around calls into a socket or a
   * watcher, for what is made there: that lives, and the table knows it.
   */
  function parentOf(code: number, id: number, type: string, trigger: number, execution: number): number {
    if (trigger > id) {
      return Code.unknown;
    }
    if (code === DOUBTFUL) {
      const isFollowed = execution === trigger ? isPromise(executionAsyncResource()) : type === 'PROMISE';
      return isFollowed ? PROMISE : Code.unknown;
    }
    return code;
  }

  function mine(id: number, type: string): void {
    last = OTHER;
    claim(id);
    if (recent !== undefined && type === 'PROMISE') {
      recent.set(id, Mark.own);
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
      if (!keepPromises && (parentCode === PROMISE || parentCode === DOUBTFUL)) {
        parentCode = parentOf(parentCode, id, type, trigger, execution);
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
      if (id > unsureTo) {
        unsureTo = id;
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
      record(PhaseIndex.after, code, id, false);
      last = code === TICK ? TICK_AFTER : OTHER;
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
      const isShared = last === DESTROY && code === TICK && destroysShared < DESTROYS_SHARED_MAX;
      last = OTHER;
      if (code === Code.own) {
        owned--;
        release(id);
        return;
      }
      if (recent !== undefined) {
        if (code !== Code.unknown) {
          recent.set(id, Mark.ended);
        } else if (isPromiseDestroy(id)) {
          return;
        }
      }
      if (selected[code] !== 0) {
        if (code === Code.rare) {
          rareEvent(PhaseIndex.destroy, id);
        } else {
          destroysShared = isShared ? destroysShared + 1 : 0;
          encodeEvent(PhaseIndex.destroy, code, id, isShared);
          last = DESTROY;
        }
      }
      if (code === Code.rare) {
        rareTypes.delete(id);
      }
    } catch {
      last = OTHER;
      if (id > unsureTo) {
        unsureTo = id;
      }
      try {
        encoder.lose(PhaseIndex.destroy);
      } catch {
        missed[0]++;
        counts[PhaseIndex.destroy]++;
      }
    }
  }

  /**
   * Whether a destroy that comes for an id which the table does not know is that of a promise: it comes where another
   * hook has Node track promises, and this trace leaves it out.
   */
  function isPromiseDestroy(id: number): boolean {
    const inferred = infer(id);
    if (inferred === Code.own) {
      release(id);
    } else if (inferred === PROMISE) {
      tracked = true;
    }
    // In doubt, it is a promise's where such have come. Another's would be its second one, or that of an unseen init.
    return inferred === DOUBTFUL ? tracked : inferred !== Code.unknown;
  }

  function promiseResolve(id: number): void {
    try {
      let code = lookup(id);
      last = OTHER;
      if (code === DOUBTFUL) {
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
      rareEvent(phase, id);
    } else if (contexts) {
      encodeEvent(phase, code, id, isShared, executionAsyncResource());
    } else {
      encodeEvent(phase, code, id, isShared);
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
  /**
   * V8 looks for the whole frame of a function before it enters it. That of `init` is large once it is optimized, and what
   * is thrown for want of it comes out of the hook: in the midst of Node's constructor of a timer, which then counts as
   * one that will fire, and the process never ends (seen on Node 26 in most runs that overflow the stack on purpose).
   */
  function enterInit(id: number, type: string, trigger: number): void {
    try {
      init(id, type, trigger);
    } catch {
      missed[0]++;
      counts[PhaseIndex.init]++;
    }
  }

  const hook = createHook({
    init: enterInit,
    before,
    after,
    ...(destroyApart ? {} : { destroy }),
    ...(options.resolve ? { promiseResolve } : {}),
    ...(skipPromises ? { trackPromises: false } : {}),
  });
  /** Says when the hook is in force, where it was enabled inside of a callback of some hook. */
  let startHook: asyncHooks.AsyncHook | undefined;
  let enabled = false;

  function enable(): void {
    if (enabled) {
      return;
    }
    enabled = true;
    for (const id of ownIds()) {
      if (lookup(id) !== Code.own) {
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
      const newest = newestId();
      remember(newest);
      if (table.get(newest) !== Code.own) {
        // Its init has not come here: this runs in a callback of some hook, and what begins in there is not seen.
        unsureTo = FOR_EVER;
        startHook = createHook({
          init(id) {
            started(id - 1);
          },
        }).enable();
      }
    }
  }

  function remember(newest: number): void {
    if (stretches.length === STRETCHES_MAX * 2) {
      // The oldest half goes at once, so that it is rarely done.
      stretches = slice(stretches, STRETCHES_MAX);
    }
    stretches[stretches.length] = newest;
    stretches[stretches.length] = FOR_EVER;
  }

  function started(newest: number): void {
    if (startHook !== undefined) {
      unsureTo = newest;
      startHook.disable();
      startHook = undefined;
    }
  }

  function disable(): void {
    if (!enabled) {
      return;
    }
    enabled = false;
    if (!keepPromises) {
      const newest = newestId();
      stretches[stretches.length - 1] = newest;
      started(newest);
    }
    hook.disable();
    destroyHook.disable();
    last = OTHER;
  }

  return {
    enable,
    disable,
    get live() {
      return table.size - owned;
    },
  };
}
