import type { Recording } from './recording';

/** What a variant's log holds where that is not every event. */
export type Holds =
  | 'every event but promise destroys'
  | 'every event but promises'
  | 'every event that Node reports to it'
  | 'one op'
  | 'no event'
  | 'no event, but counts every one';

/** Whether an event of the program is, but for single kinds, a record of the log. */
export function isWhole({ holds }: Variant): boolean {
  return (
    holds === undefined ||
    holds === 'every event but promise destroys' ||
    holds === 'every event that Node reports to it'
  );
}

/** How the recording finds its way out of the process. */
export type Way = 'file' | 'pipe' | 'stream';

/** One way to watch a program. The program itself is the same under all of them. */
export interface Variant {
  name: string;
  title: string;
  /** Begins the recording inside the program under test; absent where flags of node alone do the work. */
  start?(log: string): Recording;
  /** Flags of node, given the path of the log. */
  flags?(log: string): string[];
  /** The form of the log; absent where nothing is written. */
  log?: 'ndjson' | 'trace events' | 'bytes';
  /** Every event, where absent; it decides which independent counts the log is held against. */
  holds?: Holds;
  way?: Way;
  /** Divides the load of a loop: what takes 200 times as long shows its cost in a shorter run. */
  slowness?: number;
}
