import type { Frame } from '../site/frame';

/** What an operation is to the event loop. */
export type Kind =
  /** Open until it is closed: a server, a socket, a child process, a watcher. */
  | 'handle'
  /** An object of Node's that the loop does not wait for, freed at garbage collection: a file handle, a zlib stream. */
  | 'object'
  | 'timer'
  /** Asked once, answered once: a read, a lookup, a connect, a write. */
  | 'request'
  | 'promise'
  /** Queued to run soon: nextTick, queueMicrotask, setImmediate. */
  | 'tick'
  /** An AsyncResource that the program made. */
  | 'resource';

/** Operations that are alike: the same op from the same call site. */
export interface OpGroup {
  /** Null for operations whose op is not in the log. */
  op: string | null;
  area: string | null;
  kind: Kind | null;
  /**
   * Where in the user's code they were started; null without `stacks`, or where no code of the user's is known. The file
   * is a path, also where the frame of an ES module has a file: URL.
   */
  site: Frame | null;
  /**
   * True where no frame of the user's was in the stack, and `site` is that of the nearest ancestor, by what triggered it,
   * else by what was executing: the connections of a server are listed under the line that opened the server.
   */
  inherited: boolean;
}

/** One execution of a callback, from its before to its after. */
export interface Callback extends OpGroup {
  opid: number;
  /** Index into `log.runs`. */
  run: number;
  time: number;
  /** From before to after, nested callbacks included. */
  duration: number;
  /** The same without them. */
  self: number;
  /** The operation inside which most of the time was spent, where it is not this one. */
  inside: OpGroup | null;
}
