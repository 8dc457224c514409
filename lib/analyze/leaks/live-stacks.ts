import type { Stack } from '../decode/stack-table';
import type { Run } from '../model/run';

/** Bytes of all stacks that are kept at a time. An operation whose stack would exceed it has none. */
export const MAX_LIVE_STACK_BYTES = 32 * 1024 * 1024;

/**
 * The stack of each live operation. Operations with the same stack share it, so most programs need few; the limit is for a
 * program with a new stack each time.
 */
export class LiveStacks {
  /** By run, then by row of its `live`. */
  readonly #stacks: (Stack | undefined)[][] = [];
  #bytes = 0;

  set(run: Run, row: number, stack: Stack): void {
    const kept = this.retain(stack);
    if (kept === undefined) {
      return;
    }
    this.#stacks[run.index] ??= [];
    this.#stacks[run.index][row] = kept;
  }

  get(run: Run, row: number): Stack | undefined {
    return this.#stacks[run.index]?.[row];
  }

  /** Removes the stack of an operation and gives it. */
  release(run: Run, row: number): Stack | undefined {
    const stacks = this.#stacks[run.index];
    const stack = stacks?.[row];
    if (stack === undefined) {
      return undefined;
    }
    stacks[row] = undefined;
    if (--stack.refCount === 0) {
      this.#bytes -= stack.json.length;
    }
    return stack;
  }

  /** Keeps a stack until `release`, or for the rest of the log; undefined where there is no room for it. */
  retain(stack: Stack | undefined): Stack | undefined {
    if (stack === undefined) {
      return undefined;
    }
    if (stack.refCount === 0) {
      if (this.#bytes + stack.json.length > MAX_LIVE_STACK_BYTES) {
        return undefined;
      }
      this.#bytes += stack.json.length;
    }
    stack.refCount++;
    return stack;
  }
}
