import type { StartRecord } from '../../log/event';
import { Run } from './run';

/**
 * The runs of a log, and which one the records belong to.
 *
 * Ids are unique in a run. A run begins with a `start` record, unless a run with the same process, thread and anchor is
 * known, which then continues (a rotated log). A run also begins where an init has an id that was given before; this
 * separates runs without headers, in one file or several. Files that hold parts of one run without a header must come in
 * their order, with no other run's between them.
 */
export class Runs {
  readonly all: Run[] = [];
  current: Run | undefined;
  readonly #byStart = new Map<string, Run>();
  readonly #onLeave: (run: Run) => void;

  /** @param onLeave called when another run becomes the current one */
  constructor(onLeave: (run: Run) => void) {
    this.#onLeave = onLeave;
  }

  /** Makes the run of a `start` record the current one: a new run, or one that continues. */
  open(start: StartRecord): Run {
    const { pid, thread, anchor } = start;
    const key = `${pid} ${thread} ${anchor?.epoch} ${anchor?.monotonic}`;
    const known = this.#byStart.get(key);
    if (known === undefined) {
      const run = this.begin(start);
      this.#byStart.set(key, run);
      return run;
    }
    if (known !== this.current) {
      this.leave();
      this.current = known;
    }
    return known;
  }

  begin(start: StartRecord | undefined): Run {
    this.leave();
    const run = new Run(this.all.length, start);
    this.all.push(run);
    this.current = run;
    return run;
  }

  leave(): void {
    if (this.current !== undefined) {
      this.#onLeave(this.current);
    }
  }
}
