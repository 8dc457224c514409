/**
 * The tracer's own operations, which no trace of this thread records.
 *
 * An operation is the tracer's own if it is started while `own.depth` is above 0, or in a callback of an own operation
 * (hook/callbacks.ts looks at its execution id). Hooks are never disabled for the tracer's work: that would lose what the program
 * does in the meantime.
 */
import asyncHooks = require('node:async_hooks');

import { OwnMap, uncurryThis } from './intrinsics';

// Taken at load: the program may replace them later.
const { AsyncResource } = asyncHooks;
const emitDestroy = uncurryThis(AsyncResource.prototype.emitDestroy);
const asyncId = uncurryThis(AsyncResource.prototype.asyncId);

/** A program may have several copies of this package: none of them traces the operations of another. */
const SHARED = Symbol.for('async-tracer.own.1');

interface Shared {
  own: { depth: number };
  /** Own operations that are alive, for a tracer that is enabled after they were started. */
  ids: Map<number, true>;
  /** Own operations that are certainly alive. Newer ids do not push them out. */
  lasting: Map<number, true>;
}

function shared(): Shared {
  const holder = globalThis as { [SHARED]?: Shared };
  const created: Shared = { own: { depth: 0 }, ids: new OwnMap(), lasting: new OwnMap() };
  const existing = holder[SHARED];
  if (existing === undefined) {
    try {
      Object.defineProperty(holder, SHARED, { value: created });
    } catch {
      // The global object is frozen: this copy shares nothing.
    }
  }
  return existing ?? created;
}

const { own: ownState, ids, lasting } = shared();
export const own = ownState;

/**
 * Ids kept at most, enough for some thousand calls of flush(). An older operation has ended while no tracer could see it,
 * or is a promise that awaits garbage collection.
 */
const IDS_MAX = 16_384;

const keysOf = uncurryThis(OwnMap.prototype.keys);
const nextOf = uncurryThis(keysOf(ids).next);

export function tagOwn(id: number): void {
  lasting.delete(id);
  ids.set(id, true);
  if (ids.size > IDS_MAX) {
    ids.delete(nextOf(keysOf(ids)).value as number);
  }
}

export function untagOwn(id: number): void {
  ids.delete(id);
}

export function isOwn(id: number): boolean {
  return ids.get(id) === true || lasting.get(id) === true;
}

export function ownIds(): number[] {
  const list: number[] = [];
  function add(_: true, id: number): void {
    list[list.length] = id;
  }
  ids.forEach(add);
  lasting.forEach(add);
  return list;
}

/**
 * Runs `work` as the tracer's own: operations that it starts, and those that their callbacks start, are not traced.
 * Enough for what is called from within a hook.
 */
export function runAsOwn<T>(work: () => T): T {
  own.depth++;
  try {
    return work();
  } finally {
    own.depth--;
  }
}

/**
 * The same where no hook of a tracer may be enabled, so that none sees what is started: every id that is given out
 * meanwhile is tagged as the tracer's own.
 */
export function runAsOwnTagged<T>(work: () => T): T {
  const first = newestAsyncId();
  try {
    return runAsOwn(work);
  } finally {
    const last = newestAsyncId();
    // Among them are the two operations that were made to read the ids: their destroys come later, when a hook may be enabled.
    for (let id = first; id <= last; id++) {
      tagOwn(id);
    }
  }
}

/** The same for operations that last. Returns their ids: the caller gives each to `tagOwn` when it has ended. */
export function runAsOwnLasting(work: () => void): number[] {
  const first = newestAsyncId();
  runAsOwnTagged(work);
  const last = newestAsyncId();
  const kept: number[] = [];
  for (let id = first; id <= last; id++) {
    untagOwn(id);
    lasting.set(id, true);
    kept[kept.length] = id;
  }
  return kept;
}

/** The newest async id: that of an operation which is made to read it, and destroyed at once. */
export function newestAsyncId(): number {
  return runAsOwn(() => asyncId(emitDestroy(new AsyncResource('ASYNCTRACER'))));
}
