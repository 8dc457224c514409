/**
 * A timeout that does not keep the process alive, and is no timer of Node.
 *
 * An unref'd timer can keep a process alive for ever. Where the program catches a stack overflow that happened inside
 * Node's constructor of a timer, Node counts a timer that does not exist, and the process runs until the last timer of
 * any kind is gone (Node 20.20.2, any async hook and any unref'd interval).
 */
import { uncurryThis } from './intrinsics';
import { runAsOwnLasting, tagOwn } from './own-operations';

// Taken at load: the program may replace them later.
const { notify, waitAsync } = Atomics;
const { defineProperty } = Object;
const then = uncurryThis(Promise.prototype.then);
const NO_SPECIES = { __proto__: null, value: undefined } as PropertyDescriptor;

/** Calls `callback` after `ms` milliseconds, at least 1, as an own operation of the tracer. Returns a function that cancels it. */
export function setUnrefTimeout(ms: number, callback: () => void): () => void {
  const cell = new Int32Array(new SharedArrayBuffer(4));
  let isPending = true;
  const ids = runAsOwnLasting(() => {
    const elapsed = waitAsync(cell, 0, 0, ms).value as Promise<string>;
    // Without this `then` would read the program's Promise.prototype, which may be patched.
    defineProperty(elapsed, 'constructor', NO_SPECIES);
    void then(elapsed, () => {
      if (cancel()) {
        callback();
      }
    });
  });

  function cancel(): boolean {
    const wasPending = isPending;
    isPending = false;
    for (let i = 0; wasPending && i < ids.length; i++) {
      tagOwn(ids[i]);
    }
    return wasPending;
  }

  return () => {
    if (cancel()) {
      notify(cell, 0);
    }
  };
}
