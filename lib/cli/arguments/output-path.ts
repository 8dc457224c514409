/** The file that a command writes: it must not be one that it reads. */
import { fstatSync, type Stats, statSync } from 'node:fs';
import { TracerError } from '../../errors';

const STDIN = 0;

function statsOf(file: string): Stats | undefined {
  try {
    return file === '-' ? fstatSync(STDIN) : statSync(file);
  } catch {
    // It is not there, or may not be looked at.
    return undefined;
  }
}

/**
 * Compares files, not names: a log may be read through a link or from standard input.
 *
 * @param inputs paths; `-` is standard input
 * @throws TracerError ERR_ASYNC_TRACER_USAGE where the output is one of the inputs
 */
export function refuseOverwrite(output: string, inputs: readonly string[]): void {
  const target = statsOf(output);
  if (output === '-' || target?.isFile() !== true) {
    return;
  }
  const input = inputs.find((one) => {
    const stats = statsOf(one);
    return stats !== undefined && stats.dev === target.dev && stats.ino === target.ino;
  });
  if (input !== undefined) {
    const name = input === '-' ? 'what is read from standard input' : `${input} itself`;
    throw new TracerError(
      'ERR_ASYNC_TRACER_USAGE',
      `The output ${output} is ${name}: it would be overwritten.`,
    );
  }
}
