/** Warnings of a tracer: a failure at run time is never thrown into the program. */
import type { TracerErrorCode } from '../../errors';
import type * as Pipe from '../destination/pipe';
import { runAsOwnTagged } from '../runtime/own-operations';

const STDERR = 2;
const { emitWarning } = process;

/** @param exiting no tick will come any more, and Node needs one to print a warning */
export function warn(error: unknown, fatal: boolean, exiting: boolean): void {
  const reason = describe(error);
  const consequence = fatal ? 'tracing has stopped' : 'records are lost, and counted in stats().lost';
  printWarning(
    'ERR_ASYNC_TRACER_WRITE',
    `async-tracer cannot write the log: ${reason}; ${consequence}.`,
    exiting,
  );
}

/** @param exiting as in `warn` */
export function printWarning(code: TracerErrorCode, message: string, exiting: boolean): void {
  runAsOwnTagged(() => {
    try {
      if (!exiting) {
        emitWarning.call(process, message, { type: 'AsyncTracerWarning', code });
      } else if (isPrinted()) {
        const text = `(node:${process.pid}) [${code}] AsyncTracerWarning: ${message}\n`;
        const ignoreErrors = { onLost() {}, onError() {} };
        const { createPipeDestination } = require('../destination/pipe') as typeof Pipe;
        const stderr = createPipeDestination(
          STDERR,
          { maxBuffer: 0, overflow: 'drop' },
          ignoreErrors,
          runAsOwnTagged,
        );
        stderr.write(Buffer.from(text));
        void stderr.close();
      }
    } catch {
      // There is no way left to print it.
    }
  });
}

/**
 * Whether Node would print a warning. --no-warnings and NODE_NO_WARNINGS=1 remove its listener, but the program may have
 * one.
 */
function isPrinted(): boolean {
  const isSilenced = process.env['NODE_NO_WARNINGS'] === '1' || process.execArgv.includes('--no-warnings');
  return !isSilenced && process.listenerCount('warning') > 0;
}

function describe(error: unknown): string {
  try {
    return error instanceof Error ? error.message : String(error);
  } catch {
    return 'an error that cannot be shown';
  }
}
