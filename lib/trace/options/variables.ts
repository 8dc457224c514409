/** Options from the environment: `register` reads them, `async-tracer run` passes them on, and the call ignores them. */

import { OPTIONS } from './table';
import type { TracerOptions } from './tracer-options';
import { checked } from './value';

/** The variable of an option: ASYNC_TRACER_FLUSH_INTERVAL for flushInterval. */
export function variableOf(name: string): string {
  return `ASYNC_TRACER_${name.replace(/[A-Z]/g, '_$&').toUpperCase()}`;
}

/**
 * Options from ASYNC_TRACER_* variables, each checked; an empty variable counts as not set.
 *
 * @param nameOf what an option is called in the message of an error
 * @throws TracerError ERR_ASYNC_TRACER_OPTION
 */
export function optionsFromEnvironment(
  environment: NodeJS.ProcessEnv,
  nameOf: (name: string) => string = variableOf,
): TracerOptions {
  const options: Record<string, unknown> = {};
  for (const spec of OPTIONS) {
    const text = environment[variableOf(spec.name)];
    if (text !== undefined && text !== '') {
      options[spec.name] = checked(nameOf(spec.name), spec.text, text, () => {
        const value = spec.parse(text);
        spec.resolve(value);
        return value;
      });
    }
  }
  return options;
}
