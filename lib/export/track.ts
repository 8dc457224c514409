import type { Groups } from '../analyze/model/groups';
import type { Run } from '../analyze/model/run';

/** A run as viewers show it: a thread of a process. */
export interface Track {
  readonly run: Run;
  /** Numbers that no other process or thread of the file has. They are those of the log where these are unique. */
  readonly pid: number;
  readonly tid: number;
  readonly process: string;
  readonly thread: string;
  /** Whether it is the first track of its process. */
  readonly isFirst: boolean;
  /** Milliseconds since the epoch, of the first record that is exported. */
  readonly from: number;
}

/** Gives each run its track. Several logs may have the same pid, as in containers, and runs without a header have none. */
export class Tracks {
  readonly all: Track[] = [];
  readonly #used = new Set<number>([0]);
  readonly #threads = new Map<number, { pid: number; process: string; threads: Set<number> }>();

  add(run: Run, from: number): Track {
    const { start } = run;
    const thread = start?.thread ?? 0;
    let process = start === undefined ? undefined : this.#threads.get(start.pid);
    const isFirst = process === undefined || process.threads.has(thread);
    if (process === undefined || isFirst) {
      const pid = this.#unique(start?.pid ?? 1);
      const name = start === undefined ? `run ${run.index + 1}` : `node ${start.node ?? ''}`.trimEnd();
      process = {
        pid,
        process: start !== undefined && pid !== start.pid ? `${name} (pid ${start.pid} again)` : name,
        threads: new Set(),
      };
      if (start !== undefined) {
        this.#threads.set(start.pid, process);
      }
    }
    process.threads.add(thread);
    const track: Track = {
      run,
      pid: process.pid,
      tid: thread === 0 ? process.pid : this.#unique(process.pid + thread),
      process: process.process,
      thread: thread === 0 ? 'main thread' : `worker ${thread}`,
      isFirst,
      from,
    };
    this.all.push(track);
    return track;
  }

  #unique(number: number): number {
    let free = number;
    while (this.#used.has(free)) {
      free++;
    }
    this.#used.add(free);
    return free;
  }
}

/** The name of operations whose op is not in the log. */
export const UNKNOWN_OP = '(unknown)';

/** Text as every reader takes it: halves of surrogate pairs, which are no characters, become U+FFFD. */
export function wellFormed(text: string): string {
  return (text as unknown as { toWellFormed(): string }).toWellFormed();
}

export function opName(groups: Groups, group: number): string {
  return wellFormed(groups.opOf(group) ?? UNKNOWN_OP);
}

/** The op, and the function that started the operation: what a callback is called. */
export function callbackName(groups: Groups, group: number): string {
  const frame = groups.siteOf(group)?.frame;
  const op = opName(groups, group);
  return frame === undefined ? op : `${op} ${wellFormed(frame.function) || '<anonymous>'}`;
}
