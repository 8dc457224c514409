/**
 * The contract of a destination, which takes whole lines. Three implementations: a file (SonicBoom); a pipe, socket,
 * terminal or device (a writer of its own, since their readers may stall); and the program's own stream.
 */

/** What became of lines that were written: they are accepted, ... */
export const TAKEN = 0;
/** ... or they are lost. */
export const DROPPED = 1;

export type Outcome = typeof TAKEN | typeof DROPPED;

export interface Destination {
  /** Takes whole lines, in order, at once. The caller may reuse the bytes when it returns. Never throws. */
  write(lines: Buffer): Outcome;
  /**
   * Resolves to true when everything that was taken has reached the operating system or the stream's sink, or is lost;
   * to false where it stopped waiting for a reader that does not move. Never rejects.
   */
  flush(): Promise<boolean>;
  /**
   * The same without the event loop, as far as that is possible. Waits at most `waitMs` for a reader that does not move.
   *
   * @param exiting the event loop will never turn again. What normally happens in the event loop may be done at once, and
   * no later wait may be longer than this one.
   */
  flushSync(waitMs: number, exiting: boolean): boolean;
  /**
   * Limits the wait of every later `write` for a reader that does not move to `waitMs`. After such a wait no `write` waits
   * again before the reader moves.
   *
   * @param exiting as in flushSync: `write` waits, at most this long, until all is written; the limit is never lifted
   */
  setWaitLimit?(waitMs: number, exiting: boolean): void;
  /** Releases the destination; lines that are not written yet are lost. Closes only what it opened itself. */
  close(): Promise<void>;
  /** Continues with this file: the same path opened again (log rotation), or another. Throws where it cannot. */
  reopen?(path: string | undefined): void;
  /** Somebody is watching, as at a terminal: lines should not wait until a chunk is full. */
  readonly interactive: boolean;
  /** Whether nothing that was taken is still in progress. */
  isIdle(): boolean;
  /** Whether it queues up to `maxBuffer` bytes for a slow reader, in whole chunks: several chunks must fit in it. */
  readonly queues: boolean;
}

/** How a destination reports what happens after a write was taken. */
export interface Observer {
  /** These lines were taken and will never arrive. They are whole lines; the first may lack its beginning. */
  onLost(lines: Buffer): void;
  /** A write failed; `fatal`: nothing will be taken any more. */
  onError(error: unknown, fatal: boolean): void;
}
