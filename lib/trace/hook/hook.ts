/** The async hook of a trace: which of Node's hooks it takes, and when they are enabled. */
import asyncHooks = require('node:async_hooks');

import type { Encoder } from '../encode/encoder';
import { newestAsyncId } from '../runtime/own-operations';
import { createCallbacks } from './callbacks';
import { createOpRegistry, type Selection } from './op-registry';
import { createDestroyHook, decidePromiseTracking } from './promise-destroys';
import type * as PromiseInference from './promise-inference';

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
  /** Records nothing any more, whatever Node still calls: after a script was terminated, `disable` may not take effect. */
  abandon(): void;
  /** Whether an operation with this op was seen. */
  hasMet(op: string): boolean;
  /** Operations whose init was seen and whose destroy was not; promises only where their destroys are tracked. */
  readonly live: number;
}

// Taken at load: the program may put others in their place.
const { asyncWrapProviders, createHook } = asyncHooks as typeof asyncHooks & {
  asyncWrapProviders: Record<string, number>;
};

export function createTraceHook(options: HookOptions): Hook {
  const { encoder, contexts, promises } = options;
  const prepare = (op: string, area: string): number => encoder.prepare(op, area);
  const ops = createOpRegistry(prepare, asyncWrapProviders, options.select, options.selectUnknown);
  if (!promises) {
    ops.selected[ops.promise] = 0;
  }
  const { keepsPromises, skipsPromises } = decidePromiseTracking(options);
  // Loaded on demand: most traces keep promises.
  const inference = keepsPromises
    ? undefined
    : (require('./promise-inference') as typeof PromiseInference).createInference(ops.promise, promises);
  const callbacks = createCallbacks({ encoder, ops, contexts, keepsPromises, inference });
  const { init, before, after, destroy, promiseResolve } = callbacks;
  const destroyHook = keepsPromises || skipsPromises ? undefined : createDestroyHook(destroy);
  const hook = createHook({
    init,
    before,
    after,
    ...(destroyHook === undefined ? { destroy } : {}),
    ...(options.resolve ? { promiseResolve } : {}),
    ...(skipsPromises ? { trackPromises: false } : {}),
  });
  let enabled = false;

  function enable(): void {
    if (enabled) {
      return;
    }
    enabled = true;
    callbacks.begin();
    hook.enable();
    destroyHook?.enable();
    if (inference !== undefined) {
      const newest = newestAsyncId();
      inference.begin(newest, callbacks.isOwn(newest));
    }
  }

  function disable(): void {
    if (!enabled) {
      return;
    }
    enabled = false;
    inference?.end(newestAsyncId());
    hook.disable();
    destroyHook?.disable();
    callbacks.end();
  }

  return {
    enable,
    disable,
    abandon: ops.selectNothing,
    hasMet: ops.hasOp,
    get live() {
      return callbacks.live;
    },
  };
}
