/** The options that a caller may give, and the resolved options that the code uses. */

/** A string names an op or an area exactly, or is a glob with * and ?; a RegExp is tested against both. */
export type Matcher = string | RegExp;

/** How much of a resource a context shows. */
export interface ContextOptions {
  /** How many objects deep, from 1 to 100. Default 2. */
  depth?: number;
  /** How many properties or elements of each, from 1 to 10,000. Default 10. */
  breadth?: number;
  /** Names whose values are left out, in addition to those that always are (password, token, key, cookie ...). */
  redact?: readonly Matcher[];
}

/** The options of a tracer. An option given as undefined counts as not given. */
export interface TracerOptions {
  /** Begin tracing at once. Default true. */
  autostart?: boolean;
  /** Path only: add to the file instead of beginning it anew. Default false. */
  append?: boolean;
  /**
   * A plain object whose fields are the first of every record. Captured at the call; a field that records of the log have
   * themselves is refused. Default: none.
   */
  prefix?: object;
  /** The same for the last fields of every record; no field may be in both prefix and suffix. Default: none. */
  suffix?: object;
  /** Each init carries the call stack: all frames, or this many of the innermost, from 1. Default false. */
  stacks?: boolean | number;
  /** Each before and after carries the operation's resource, bounded and redacted. Default false. */
  contexts?: boolean | ContextOptions;
  /** Trace promises. Default true. */
  promises?: boolean;
  /** Trace the destroy of promises, which comes at their garbage collection and costs most of all records. Default true. */
  promiseDestroy?: boolean;
  /** A record with phase `resolve` when a promise settles. Default false. */
  resolve?: boolean;
  /** Record only these ops and areas. Default: all. */
  include?: Matcher | readonly Matcher[];
  /** Leave these ops and areas out; wins over include. Default: none. */
  exclude?: Matcher | readonly Matcher[];
  /** 'coarse': times in steps of 1 ms, by a thread that stores them. Default 'precise'. */
  clock?: 'precise' | 'coarse';
  /** false: hooks run and count, nothing is encoded or written. Default true. */
  send?: boolean;
  /** A `start` record first and an `end` record last. Default false. */
  header?: boolean;
  /** Bytes of the chunk handed to the destination, from 1 to 1,073,741,824. Default 262,144. */
  bufferSize?: number;
  /** Milliseconds that a record waits at most while the event loop turns, from 1 to 2,147,483,647. Default 1,000. */
  flushInterval?: number;
  /** Stream or pipe: bytes held for a reader that does not keep up; a chunk is at most a quarter. From 0; default 67,108,864. */
  maxBuffer?: number;
  /** Beyond maxBuffer: drop records and count them, or wait, which a stream cannot. Default 'drop'. */
  overflow?: 'drop' | 'block';
  /** Path only: make missing folders. Default false. */
  mkdir?: boolean;
  /** Path only: the permissions of a new file, less the umask, from 0 to 0o7777. Default 0o666. */
  mode?: number;
}

/** Checked options, with the defaults filled in. */
export interface ResolvedOptions
  extends Required<Omit<TracerOptions, 'prefix' | 'suffix' | 'stacks' | 'contexts' | 'include' | 'exclude'>> {
  /** The inside of the object as JSON, without braces. */
  prefix: string;
  suffix: string;
  /** Frames at most; 0 for none. */
  stacks: number;
  contexts: false | Required<ContextOptions>;
  /** undefined: all. */
  include: readonly RegExp[] | undefined;
  exclude: readonly RegExp[];
}
