/**
 * What an id is that the op table does not know, where promises are not kept in it.
 *
 * Without promise destroys nothing would free a promise's entry, so promises are not kept: an id of the traced stretch
 * that nobody knows is a promise, unless it is the id of something that has ended. Of the last millions of ids that is
 * remembered (recent-ids.ts); for older ones, what runs is looked at.
 */
import asyncHooks = require('node:async_hooks');

import { types } from 'node:util';
import { Code } from '../encode/codes';
import { uncurryThis } from '../runtime/intrinsics';
import { untagOwn } from '../runtime/own-operations';
import { Mark, RecentIds } from './recent-ids';

/** Traced stretches that are remembered, for a program that toggles the tracer. */
const STRETCHES_MAX = 1024;
const FOR_EVER = Number.POSITIVE_INFINITY;

// Taken at load: the program may put others in their place.
const { createHook, executionAsyncResource } = asyncHooks;
const { isPromise } = types;
const slice: (list: number[], from: number) => number[] = uncurryThis(Array.prototype.slice);

export interface PromiseInference {
  /** The code of promises, Code.uncertain, Code.own or Code.unknown. */
  of(id: number): number;
  /** The same for the operation whose callback runs, without doubt. */
  ofRunning(id: number): number;
  /** `code` made certain, that of an init's trigger. */
  ofTrigger(code: number, id: number, type: string, trigger: number, execution: number): number;
  /** Whether a destroy that comes for an id which the table does not know is that of a promise. */
  isPromiseDestroy(id: number): boolean;
  /** Says what an id is no promise for. */
  mark(id: number, mark: Mark): void;
  /**
   * [0]: ids up to this one may be those of operations whose init could not be kept. May be raised to say so where no
   * call is possible any more.
   */
  readonly unsureTo: Float64Array;
  /** Tracing begins behind this id. `isSeen`: the hook is in force. */
  begin(newest: number, isSeen: boolean): void;
  /** Tracing ends with this id. */
  end(newest: number): void;
}

/** @param promise the code of promises @param recordsPromises whether promises are among the records */
export function createInference(promise: number, recordsPromises: boolean): PromiseInference {
  const recent = new RecentIds();
  const unsureTo = Float64Array.of(-1);
  /** [0]: what was last found to be a promise: its before, its after and what it starts ask one after the other. */
  const known = Float64Array.of(-1);
  /** Whether the destroys of promises have come, though this trace does without. */
  let tracked = false;
  /** Traced stretches as pairs of ids, the last one open. */
  let stretches: number[] = [];
  /** Says when the hook is in force, where it was enabled inside of a callback of some hook. */
  let startHook: asyncHooks.AsyncHook | undefined;

  function of(id: number): number {
    if (id === known[0]) {
      return promise;
    }
    const mark = recent.get(id);
    if (mark === Mark.own) {
      return Code.own;
    }
    if (mark === Mark.ended || !isTraced(id)) {
      return Code.unknown;
    }
    if (mark !== Mark.none || id <= unsureTo[0]) {
      return Code.uncertain;
    }
    known[0] = id;
    return promise;
  }

  /** Whether the id was given out while tracing. */
  function isTraced(id: number): boolean {
    for (let i = stretches.length - 2; i >= 0; i -= 2) {
      if (id > stretches[i]) {
        return id <= stretches[i + 1];
      }
    }
    return false;
  }

  function ofRunning(id: number): number {
    const inferred = of(id);
    // Without promises nothing is recorded of those either that were there before the trace. Node 24 leaves them out
    // itself, but for one: that whose rejection was the end of a callback (process.on('uncaughtException')).
    if (inferred === Code.uncertain || (inferred === Code.unknown && !recordsPromises)) {
      return isPromise(executionAsyncResource()) ? promise : Code.unknown;
    }
    return inferred;
  }

  /**
   * A program may name any id as the trigger; one that is not given out yet is no promise. Node names another one than
   * what runs for a promise that follows another promise, and, around calls into a socket or a watcher, for what is
   * made there: that lives, and the table knows it.
   */
  function ofTrigger(code: number, id: number, type: string, trigger: number, execution: number): number {
    if (trigger > id) {
      return Code.unknown;
    }
    if (code === Code.uncertain) {
      const isFollowed = execution === trigger ? isPromise(executionAsyncResource()) : type === 'PROMISE';
      return isFollowed ? promise : Code.unknown;
    }
    return code;
  }

  /** Promise destroys come where another hook has Node track promises, and this trace leaves them out. */
  function isPromiseDestroy(id: number): boolean {
    const inferred = of(id);
    if (inferred === Code.own) {
      untagOwn(id);
    } else if (inferred === promise) {
      tracked = true;
    }
    // In doubt, it is a promise's where such have come. Another's would be its second one, or that of an unseen init.
    return inferred === Code.uncertain ? tracked : inferred !== Code.unknown;
  }

  function begin(newest: number, isSeen: boolean): void {
    if (stretches.length === STRETCHES_MAX * 2) {
      // The oldest half goes at once, so that it is rarely done.
      stretches = slice(stretches, STRETCHES_MAX);
    }
    stretches[stretches.length] = newest;
    stretches[stretches.length] = FOR_EVER;
    if (!isSeen) {
      // This runs in a callback of some hook, and what begins in there is not seen.
      unsureTo[0] = FOR_EVER;
      startHook = createHook({
        init(id) {
          started(id - 1);
        },
      }).enable();
    }
  }

  function started(newest: number): void {
    if (startHook !== undefined) {
      unsureTo[0] = newest;
      startHook.disable();
      startHook = undefined;
    }
  }

  return {
    of,
    ofRunning,
    ofTrigger,
    isPromiseDestroy,
    mark(id, mark) {
      known[0] = -1;
      recent.set(id, mark);
    },
    unsureTo,
    begin,
    end(newest) {
      stretches[stretches.length - 1] = newest;
      started(newest);
    },
  };
}
