import type { Run } from '../model/run';
import type { Stack } from '../stack/stack-table';

/** Stacks that are held at a time, all together; an operation that would exceed it goes without. */
export const MAX_HELD_BYTES = 32 * 1024 * 1024;

/**
 * The stack of each live operation: operations with the same stack share it, so a program has few of them, and one that
 * makes a new one each time is met by the bound.
 */
export class HeldStacks {
  /** By run, then by row of its `live`. */
  readonly #stacks: (Stack | undefined)[][] = [];
  #bytes = 0;

  hold(run: Run, row: number, stack: Stack): void {
    const kept = this.keep(stack);
    if (kept === undefined) {
      return;
    }
    this.#stacks[run.index] ??= [];
    this.#stacks[run.index][row] = kept;
  }

  of(run: Run, row: number): Stack | undefined {
    return this.#stacks[run.index]?.[row];
  }

  /** The operation's stack, which it gives up. */
  release(run: Run, row: number): Stack | undefined {
    const stacks = this.#stacks[run.index];
    const stack = stacks?.[row];
    if (stack === undefined) {
      return undefined;
    }
    stacks[row] = undefined;
    if (--stack.holders === 0) {
      this.#bytes -= stack.json.length;
    }
    return stack;
  }

  /** Holds a stack for the rest of the log; undefined where there is no room for it. */
  keep(stack: Stack | undefined): Stack | undefined {
    if (stack === undefined) {
      return undefined;
    }
    if (stack.holders === 0) {
      if (this.#bytes + stack.json.length > MAX_HELD_BYTES) {
        return undefined;
      }
      this.#bytes += stack.json.length;
    }
    stack.holders++;
    return stack;
  }
}
