/**
 * Every error that this package throws or rejects with is a `TracerError`.
 * The code is stable across versions; the message is for people and may change.
 */

/** The codes and their meaning. A test checks the table in lib/trace/README.md against this one. */
export const ERROR_CODES = {
  ERR_ASYNC_TRACER_UNKNOWN_OPTION: 'an option that does not exist was given',
  ERR_ASYNC_TRACER_OPTION: 'an option has the wrong type or a value out of range',
  ERR_ASYNC_TRACER_DESTINATION:
    'the destination is not a stream, a path or a file descriptor that can be written',
  ERR_ASYNC_TRACER_CLOSED: 'the tracer was closed and cannot be used again',
  ERR_ASYNC_TRACER_UNSUPPORTED: 'this Node.js cannot do what was asked',
  ERR_ASYNC_TRACER_WRITE: 'the log could not be written; carried by a warning, never thrown into the program',
  ERR_ASYNC_TRACER_FORMAT: 'a log was written in a format this version does not know',
  ERR_ASYNC_TRACER_INPUT: 'a log could not be opened or read',
  ERR_ASYNC_TRACER_USAGE: 'the command was called with words it does not know',
  ERR_ASYNC_TRACER_LEAK: 'a function left operations open',
} as const;

export type TracerErrorCode = keyof typeof ERROR_CODES;

/** An error with a stable `code` of the form ERR_ASYNC_TRACER_... and, where one exists, its `cause`. */
export class TracerError extends Error {
  // A class field, since an assignment fails where the program has frozen Error.prototype.
  override name = 'TracerError';
  readonly code: TracerErrorCode;

  constructor(code: TracerErrorCode, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.code = code;
  }
}
