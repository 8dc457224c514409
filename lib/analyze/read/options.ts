import { TracerError } from '../../errors';

export interface ReadProgress {
  /** Bytes of the sources read so far, as they are there (compressed, if they are). */
  bytes: number;
  /** The size of all sources together; undefined where one of them has no size, as a pipe. */
  totalBytes: number | undefined;
  records: number;
}

export interface ReadOptions {
  /** Called after each chunk, a few hundred kilobytes. It must not throw. */
  onProgress?: ((progress: ReadProgress) => void) | undefined;
}

/**
 * Checks which options an answer was given. Each answer checks the values of its options.
 *
 * @param name of the function that was called
 * @param known its options beside those of reading
 * @throws TracerError ERR_ASYNC_TRACER_OPTION where `options` is no object, ERR_ASYNC_TRACER_UNKNOWN_OPTION for an
 *   option that is none of these
 */
export function checkOptions(name: string, options: unknown, known: readonly string[]): void {
  if (typeof options !== 'object' || options === null || Array.isArray(options)) {
    const given = Array.isArray(options) ? 'an array' : options === null ? 'null' : `a ${typeof options}`;
    throw new TracerError(
      'ERR_ASYNC_TRACER_OPTION',
      `the options of ${name} are ${given}; expected an object`,
    );
  }
  const all = [...known, 'onProgress'];
  const unknown = Object.keys(options).find((option) => !all.includes(option));
  if (unknown !== undefined) {
    throw new TracerError(
      'ERR_ASYNC_TRACER_UNKNOWN_OPTION',
      `${name} has no option ${JSON.stringify(unknown)}; it knows ${all.join(', ')}`,
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
