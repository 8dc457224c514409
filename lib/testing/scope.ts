/** The operations that one function starts, directly or indirectly. */
import { AsyncResource, createHook } from 'node:async_hooks';
import type { InitRecord } from '../log/event';

interface Refable {
  hasRef?: unknown;
}

/**
 * A function that is called within a scope has its own execution id. That id separates the operations that it starts from
 * all others that the process starts meanwhile, as those of the test runner or of another test.
 */
export class Scope {
  readonly #root = new AsyncResource('ASYNCTRACERSCOPE', { requireManualDestroy: true });
  readonly #ids = new Set([this.#root.asyncId()]);
  /** Weak references: a resource that is referenced is never collected, and its destroy never comes. */
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

  /** Whether the operation belongs to the scope. To be called for each init in the order of the log. */
  includes({ opid, parentopid, execopid = parentopid }: InitRecord): boolean {
    if (!this.#ids.has(execopid) && !this.#ids.has(parentopid)) {
      return false;
    }
    this.#ids.add(opid);
    return true;
  }

  /** Whether the operation keeps no process alive, as an idle socket of an http.Agent. */
  isUnref(id: number): boolean {
    const resource = this.#resources.get(id)?.deref();
    return typeof resource?.hasRef === 'function' && resource.hasRef() === false;
  }

  close(): void {
    this.#hook.disable();
    this.#root.emitDestroy();
  }
}
