/** What the command says: answers on standard output, all else on standard error. */
import { TracerError } from '../../errors';
import { wrap } from './text';

export function unprinted(error: Error): TracerError {
  return new TracerError(
    'ERR_ASYNC_TRACER_DESTINATION',
    `standard output could not be written: ${error.message}`,
    { cause: error },
  );
}

/** @throws TracerError ERR_ASYNC_TRACER_DESTINATION where it is a file that takes no more */
export function print(text: string): void {
  try {
    process.stdout.write(text);
  } catch (error) {
    throw unprinted(error as Error);
  }
}

/** Where standard error takes no more there is nobody to tell, and the exit code must not suffer. */
export function note(text: string): void {
  try {
    process.stderr.write(text);
  } catch {}
}

/** A sentence of the command's own; in a terminal it is broken at spaces, and not within a word. */
export function say(text: string): void {
  const { isTTY, columns } = process.stderr;
  const whole = `async-tracer: ${text}`;
  note(`${isTTY ? wrap(whole, columns, '  ') : whole}\n`);
}
