/**
 * Which operations are the tracer's own, so that they stay out of every trace of this thread.
 *
 * An operation is ours when it is made while `own.depth` is above 0, or in a callback of an operation that is ours
 * (its execution id says so: hook.ts). Hooks are never disabled for our own work: that would lose what the program
 * does meanwhile.
 */
import * as asyncHooks from 'node:async_hooks';
import { OwnMap, uncurryThis } from './intrinsics';

// Taken at load: the program may put others in their place.
const { AsyncResource } = asyncHooks;
const emitDestroy = uncurryThis(AsyncResource.prototype.emitDestroy);
const asyncId = uncurryThis(AsyncResource.prototype.asyncId);

/** A program may hold several copies of this package: they are of one kind to one another. */
const SHARED = Symbol.for('async-tracer.own.1');

interface Shared {
  own: { depth: number };
  /** Our operations that live, for a tracer that is enabled after they were made. */
  ids: Map<number, true>;
  /** Those of them that are sure to live, and are not given up for newer ones. */
  lasting: Map<number, true>;
}

function shared(): Shared {
  const holder = globalThis as { [SHARED]?: Shared };
  const mine: Shared = { own: { depth: 0 }, ids: new OwnMap(), lasting: new OwnMap() };
  const held = holder[SHARED];
  if (held === undefined) {
    try {
      Object.defineProperty(holder, SHARED, { value: mine });
    } catch {
      // A frozen global object: this copy is on its own.
    }
  }
  return held ?? mine;
}

const { own: ownState, ids, lasting } = shared();
export const own = ownState;

/**
 * Ids kept at most, some thousand calls of flush(). What is older has ended without a tracer that could see it, or is a
 * promise that the garbage collection will find.
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
 * Runs `work` as the tracer's own, for what is called from within a hook: operations it starts, and those that their
 * callbacks start, are not traced.
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
 * The same for what may run while no hook of ours is enabled, and so none sees what is started: all ids that were
 * given out meanwhile are ours.
 */
export function runAsOwnTagged<T>(work: () => T): T {
  const first = newestAsyncId();
  try {
    return runAsOwn(work);
  } finally {
    const last = newestAsyncId();
    // The two that were made to read the ids are among them: their destroys come later, when a hook may listen.
    for (let id = first; id <= last; id++) {
      tagOwn(id);
    }
  }
}

/** The same for what lasts until its ids, which it returns, are given to `claim`. */
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

/** The newest id there is: that of an operation which is made for it, and of which no more is heard. */
export function newestAsyncId(): number {
  return runAsOwn(() => asyncId(emitDestroy(new AsyncResource('ASYNCTRACER'))));
}
