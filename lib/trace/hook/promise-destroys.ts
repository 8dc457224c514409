/**
 * Every destroy but those of promises, at the price of these alone.
 *
 * Node tracks the garbage collection of promises while any hook has a `destroy`, except when that hook is enabled from
 * inside an init callback: then the new count of destroy hooks is not yet in force where Node decides
 * (lib/internal/async_hooks.js, getHookArrays and updatePromiseHookMode). So these destroys come from a hook of their
 * own, enabled in the init of an operation made for it. Undocumented: where it fails, promise destroys arrive and are
 * left out (inference.ts), and only the cost is higher.
 */
import * as asyncHooks from 'node:async_hooks';
import { newestAsyncId } from '../runtime/own-operations';

// Taken at load: the program may put another one in its place.
const { createHook } = asyncHooks;

export interface Destroys {
  enable(): void;
  disable(): void;
}

export function createDestroyHook(destroy: (id: number) => void): Destroys {
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
      // Where this runs in a callback of some hook, the arming one is not in force yet, and neither is the count of
      // destroy hooks: the same decision.
      hook.enable();
    },
    disable() {
      hook.disable();
    },
  };
}
