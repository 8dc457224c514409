/**
 * Tracks the tracer's own operations while no hook of a trace is enabled. The write of a stream takes many turns of the
 * event loop; what its callbacks start would be taken for the program's once tracing is enabled again.
 */
import asyncHooks = require('node:async_hooks');

import { isOwn, own, tagOwn } from './own-operations';

// Taken at load: the program may put others in their place.
const { createHook, executionAsyncId } = asyncHooks;

/** Whether nothing of a destination is in progress any more. */
type IsIdle = () => boolean;

let tracked: readonly IsIdle[] = [];

const hook = createHook({
  init(id) {
    try {
      if (own.depth > 0 || isOwn(executionAsyncId())) {
        tagOwn(id);
      } else {
        keep((isIdle) => !isIdle());
      }
    } catch {
      // No stack left. The error would end the process if it left the hook; instead one own operation may be taken for
      // the program's.
    }
  },
});

function keep(wanted: (isIdle: IsIdle) => boolean): void {
  // By index: a hook calls nothing that the program can have patched.
  const kept: IsIdle[] = [];
  for (let i = 0; i < tracked.length; i++) {
    if (wanted(tracked[i])) {
      kept[kept.length] = tracked[i];
    }
  }
  tracked = kept;
  if (tracked.length === 0) {
    hook.disable();
  }
}

/** Tracks until `isIdle` returns true, which is checked when the program starts an operation, or until `stopTracking`. */
export function trackOwnOperations(isIdle: IsIdle): void {
  if (!isIdle()) {
    keep((one) => one !== isIdle);
    tracked = [...tracked, isIdle];
    hook.enable();
  }
}

export function stopTracking(isIdle: IsIdle): void {
  if (tracked.length > 0) {
    keep((one) => one !== isIdle);
  }
}
