/** Hooks that write nothing: the floor that every tracer stands on, and the independent count. */

import { createHook, type HookCallbacks } from 'node:async_hooks';
import fs from 'node:fs';
import { noCounts, type Recording } from './recording';

function empty(): void {}

function enabled(callbacks: HookCallbacks): Recording {
  const hook = createHook(callbacks).enable();
  return {
    counts: () => undefined,
    drain: async () => {},
    close: async () => {
      hook.disable();
    },
  };
}

/** What the runtime itself takes for calling four callbacks. */
export function emptyHook(): Recording {
  return enabled({ init: empty, before: empty, after: empty, destroy: empty });
}

/** Without `destroy` Node does not follow promises to their garbage collection. */
export function emptyHookWithoutDestroy(): Recording {
  return enabled({ init: empty, before: empty, after: empty });
}

/** Counts and does nothing else. Run once beside every question; not a row of the tables. */
export function countingHook(): Recording {
  const counts = noCounts();
  const hook = createHook({
    init() {
      counts.init++;
    },
    before() {
      counts.before++;
    },
    after() {
      counts.after++;
    },
    destroy() {
      counts.destroy++;
    },
  }).enable();
  return {
    counts: () => ({ ...counts }),
    drain: async () => {},
    close: async () => {
      hook.disable();
    },
  };
}

/** About what a record takes. */
const EVENT_BYTES = 100;
const WRITE_BYTES = 256 * 1024;

/** Writes as many bytes as a log has, always the same ones: what the system alone takes for the log. */
export function writingHook(log: string): Recording {
  const fd = fs.openSync(log, 'w');
  const bytes = Buffer.alloc(WRITE_BYTES, 'x');
  let due = 0;
  function event(): void {
    due += EVENT_BYTES;
    if (due >= WRITE_BYTES) {
      due = 0;
      fs.writeSync(fd, bytes, 0, WRITE_BYTES);
    }
  }
  const hook = createHook({ init: event, before: event, after: event, destroy: event }).enable();
  return {
    counts: () => undefined,
    drain: async () => {},
    close: async () => {
      hook.disable();
      fs.closeSync(fd);
    },
  };
}
