/** Answers go to standard output, all other text to standard error. */
import { TracerError } from '../../errors';
import { wrap } from './text';

export function outputError(error: Error): TracerError {
  return new TracerError(
    'ERR_ASYNC_TRACER_DESTINATION',
    `standard output could not be written: ${error.message}`,
    { cause: error },
  );
}

/** @throws TracerError ERR_ASYNC_TRACER_DESTINATION where standard output is a file that takes no more */
export function print(text: string): void {
  try {
    process.stdout.write(text);
  } catch (error) {
    throw outputError(error as Error);
  }
}

/** Prints to standard error. A failure of that is ignored: it must not change the exit code. */
export function printError(text: string): void {
  try {
    process.stderr.write(text);
  } catch {}
}

/** Prints a message of the command to standard error. Only a terminal gets it wrapped. */
export function printMessage(text: string): void {
  const { isTTY, columns } = process.stderr;
  const whole = `async-tracer: ${text}`;
  printError(`${isTTY ? wrap(whole, columns, '  ') : whole}\n`);
}
