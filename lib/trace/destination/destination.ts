/**
 * Where whole lines go. One contract, three ways: a file (SonicBoom), a pipe, socket, terminal or device (our own
 * writer, since their readers may stall), and the program's own stream.
 */

/** What became of lines that were handed over. */
export const TAKEN = 0;
/** They are lost. */
export const DROPPED = 1;

export type Outcome = typeof TAKEN | typeof DROPPED;

export interface Destination {
  /** Takes whole lines, in order, at once. The bytes are the caller's again when it returns. Never throws. */
  write(lines: Buffer): Outcome;
  /**
   * Resolves when all that was taken is with the operating system or the stream's sink, or is lost; to false where it
   * gave up on a reader that does not move. Never rejects.
   */
  flush(): Promise<boolean>;
  /**
   * The same without the event loop, as far as it can; waits at most `waitMs` for a reader that does not move.
   *
   * @param exiting the event loop will never turn again: what only it could do may be done in its place, and nothing
   * may wait longer than this from here on
   */
  flushSync(waitMs: number, exiting: boolean): boolean;
  /**
   * From here on no `write` waits longer than `waitMs` for a reader that does not move, nor again before it does.
   *
   * @param exiting as in flushSync: `write` waits, as long as this, until all is written; it is never lifted again
   */
  limitWaits?(waitMs: number, exiting: boolean): void;
  /** Lets go of the destination; what is still held is lost. Closes only what it opened itself. */
  close(): Promise<void>;
  /** Writes to this file from here on: the same path anew (log rotation), or another. Throws where it cannot. */
  reopen?(path: string | undefined): void;
  /** Lines should not wait for a chunk to fill: somebody is looking on. */
  readonly interactive: boolean;
  /** Whether nothing that was taken is under way any more. */
  isIdle(): boolean;
  /** Holds up to `maxBuffer` for a reader, in whole chunks: several of them must have room in it. */
  readonly holds: boolean;
}

/** What a destination tells of what happens to it later. */
export interface Observer {
  /** Taken, but never to arrive: whole lines, the first perhaps without its beginning. */
  onLost(lines: Buffer): void;
  /** Something failed; `fatal`: nothing will be taken any more. */
  onError(error: unknown, fatal: boolean): void;
}
