/** The options of the analyses: which there are. What each may be is checked where it is used. */
import { TracerError } from '../../errors';
import type { ReadOptions } from './reader';

/**
 * @param name of the function that was called
 * @param own its options beside those of reading
 * @throws TracerError ERR_ASYNC_TRACER_OPTION where `options` is no object, ERR_ASYNC_TRACER_UNKNOWN_OPTION for an
 *   option that is none of these
 */
export function checkOptions(name: string, options: unknown, own: readonly string[]): void {
  if (typeof options !== 'object' || options === null || Array.isArray(options)) {
    const given = Array.isArray(options) ? 'an array' : options === null ? 'null' : `a ${typeof options}`;
    throw new TracerError(
      'ERR_ASYNC_TRACER_OPTION',
      `the options of ${name} are ${given}; expected an object`,
    );
  }
  const known = [...own, 'onProgress'];
  const unknown = Object.keys(options).find((option) => !known.includes(option));
  if (unknown !== undefined) {
    throw new TracerError(
      'ERR_ASYNC_TRACER_UNKNOWN_OPTION',
      `${name} has no option ${JSON.stringify(unknown)}; it knows ${known.join(', ')}`,
    );
  }
  const { onProgress } = options as ReadOptions;
  if (onProgress !== undefined && typeof onProgress !== 'function') {
    throw new TracerError(
      'ERR_ASYNC_TRACER_OPTION',
      `onProgress is ${String(onProgress)}; expected a function`,
    );
  }
}
