/**
 * A call after some time that keeps no process alive, and no timer of Node's.
 *
 * An unref'd timer does keep one alive, for ever, where the program has caught a stack overflow: inside of Node's own
 * constructor of a timer it leaves a timer counted that does not exist, and the process goes on until the last one of
 * any kind is gone (Node 20.20.2, any async hook and any unref'd interval).
 */
import { uncurryThis } from './intrinsics';
import { runAsOwnLasting, tagOwn } from './own-operations';

// Taken at load: the program may put others in their place.
const { notify, waitAsync } = Atomics;
const { defineProperty } = Object;
const then = uncurryThis(Promise.prototype.then);
const NO_SPECIES = { __proto__: null, value: undefined } as PropertyDescriptor;

/** Calls `ring` after so many milliseconds, from 1 on, as the tracer's own work. Returns what takes it back. */
export function setUnrefTimeout(ms: number, ring: () => void): () => void {
  const cell = new Int32Array(new SharedArrayBuffer(4));
  let isSet = true;
  const ids = runAsOwnLasting(() => {
    const elapsed = waitAsync(cell, 0, 0, ms).value as Promise<string>;
    // Or `then` would ask the program's Promise.prototype, which may be patched.
    defineProperty(elapsed, 'constructor', NO_SPECIES);
    void then(elapsed, () => {
      if (unset()) {
        ring();
      }
    });
  });

  function unset(): boolean {
    const wasSet = isSet;
    isSet = false;
    for (let i = 0; wasSet && i < ids.length; i++) {
      tagOwn(ids[i]);
    }
    return wasSet;
  }

  return () => {
    if (unset()) {
      notify(cell, 0);
    }
  };
}
