/**
 * How the destroys of promises are decided, and every destroy but those of promises at the price of these alone.
 *
 * | promises | promiseDestroy | `destroy` stands in                                     |
 * |----------|----------------|---------------------------------------------------------|
 * | true     | true           | the one hook: Node tracks the collection of promises    |
 * | true     | false          | a hook of its own, armed as below                       |
 * | false    | any            | the one hook with `trackPromises: false`, where Node knows it; else a hook of its own |
 *
 * Node tracks the garbage collection of promises while any hook has a `destroy`, except when that hook is enabled from
 * inside an init callback: then the new count of destroy hooks is not yet in force where Node decides
 * (lib/internal/async_hooks.js, getHookArrays and updatePromiseHookMode). So these destroys come from a hook of their
 * own, which is enabled in the init of an operation made for it. This is undocumented. Where it fails, promise destroys
 * arrive and are ignored (promise-inference.ts), and only the cost is higher.
 */
import asyncHooks = require('node:async_hooks');

import { canSkipPromises } from '../runtime/features';
import { newestAsyncId } from '../runtime/own-operations';

// Taken at load: the program may put another one in its place.
const { createHook } = asyncHooks;

export interface DestroyHook {
  enable(): void;
  disable(): void;
}

export interface PromiseTracking {
  /** Promises are kept in the operation table until their destroy comes. */
  keepsPromises: boolean;
  /** Node leaves promises out of the hook by itself. */
  skipsPromises: boolean;
}

export function decidePromiseTracking(options: {
  promises: boolean;
  promiseDestroy: boolean;
}): PromiseTracking {
  return {
    keepsPromises: options.promises && options.promiseDestroy,
    skipsPromises: !options.promises && canSkipPromises,
  };
}

export function createDestroyHook(destroy: (id: number) => void): DestroyHook {
  const hook = createHook({ destroy });
  return {
    enable() {
      const armingHook = createHook({
        init() {
          hook.enable();
        },
      });
      armingHook.enable();
      newestAsyncId();
      armingHook.disable();
      // Inside a callback of some hook, the arming hook is not in force yet, and neither is the count of destroy hooks:
      // Node decides the same.
      hook.enable();
    },
    disable() {
      hook.disable();
    },
  };
}
