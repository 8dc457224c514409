/** The one warning of a tracer: what the option table could not foresee is never thrown into the program. */
import type * as Pipe from './destination/pipe';
import { asOwn } from './own';

const CODE = 'ERR_ASYNC_TRACER_WRITE';
const { emitWarning } = process;

/** @param exiting no tick will come any more, which Node needs to print a warning */
export function warn(error: unknown, fatal: boolean, exiting: boolean): void {
  const reason = describe(error);
  const consequence = fatal ? 'tracing has stopped' : 'records are lost, and counted in stats().lost';
  const message = `async-tracer cannot write the log: ${reason}; ${consequence}.`;
  asOwn(() => {
    try {
      if (exiting) {
        const text = `(node:${process.pid}) [${CODE}] AsyncTracerWarning: ${message}\n`;
        const nobody = { onLost() {}, onError() {} };
        const { createPipeDestination } = require('./destination/pipe') as typeof Pipe;
        createPipeDestination(2, { maxBuffer: 0, overflow: 'drop' }, nobody, asOwn).write(Buffer.from(text));
      } else {
        emitWarning.call(process, message, { type: 'AsyncTracerWarning', code: CODE });
      }
    } catch {
      // Nobody can be told.
    }
  });
}

function describe(error: unknown): string {
  try {
    return error instanceof Error ? error.message : String(error);
  } catch {
    return 'an error that cannot be shown';
  }
}
