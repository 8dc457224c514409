/** What one function starts: itself, or through what it started. */
import { AsyncResource, createHook } from 'node:async_hooks';
import type { InitRecord } from '../log/event';

interface Refable {
  hasRef?: unknown;
}

/**
 * A function called within a scope has an execution id of its own, by which the operations that it starts are told
 * from all others that the process starts meanwhile: those of a test that runs beside it, or of the runner.
 */
export class Scope {
  readonly #root = new AsyncResource('ASYNCTRACERSCOPE', { requireManualDestroy: true });
  readonly #ids = new Set([this.#root.asyncId()]);
  /** Weak, since a resource that is held is never collected, and its destroy never comes. */
  readonly #resources = new Map<number, WeakRef<Refable>>();
  readonly #hook = createHook({
    init: (id, type, _trigger, resource) => {
      if (type !== 'PROMISE' && 'hasRef' in resource) {
        this.#resources.set(id, new WeakRef(resource));
      }
    },
    destroy: (id) => {
      this.#resources.delete(id);
    },
  });

  run<T>(work: () => T): T {
    this.#hook.enable();
    return this.#root.runInAsyncScope(work);
  }

  /** Whether an operation belongs to it; to be asked of each init in the order of the log. */
  includes({ opid, parentopid, execopid = parentopid }: InitRecord): boolean {
    if (!this.#ids.has(execopid) && !this.#ids.has(parentopid)) {
      return false;
    }
    this.#ids.add(opid);
    return true;
  }

  /** Whether the event loop does not wait for it, as for the idle sockets of an http.Agent. */
  isUnref(id: number): boolean {
    const resource = this.#resources.get(id)?.deref();
    return typeof resource?.hasRef === 'function' && resource.hasRef() === false;
  }

  close(): void {
    this.#hook.disable();
    this.#root.emitDestroy();
  }
}
