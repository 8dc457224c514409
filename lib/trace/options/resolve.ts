/** Makes resolved options of what a caller gave. */
import { TracerError } from '../../errors';
import { uncurryThis } from '../runtime/intrinsics';
import type * as Nearest from './nearest-name';
import { DEFAULTS, OPTIONS, type OptionSpec } from './table';
import type { ResolvedOptions } from './tracer-options';
import { checked, isPlain, show } from './value';

const SPECS = new Map(OPTIONS.map((spec) => [spec.name as string, spec]));
const resolvedOptions = new WeakSet<object>();
const exec = uncurryThis(RegExp.prototype.exec);

/** Whether `resolveOptions` has returned this object. */
export function isResolved(options: unknown): options is ResolvedOptions {
  return typeof options === 'object' && options !== null && resolvedOptions.has(options);
}

/**
 * Checks what the caller gave and adds the defaults. An option given as undefined counts as not given.
 *
 * @throws TracerError ERR_ASYNC_TRACER_UNKNOWN_OPTION, ERR_ASYNC_TRACER_OPTION
 */
export function resolveOptions(given: unknown): ResolvedOptions {
  const options = fillIn(given === undefined ? {} : given);
  resolvedOptions.add(options);
  return options;
}

function fillIn(given: unknown): ResolvedOptions {
  if (!isPlain(given)) {
    throw new TracerError(
      'ERR_ASYNC_TRACER_OPTION',
      `The options must be a plain object; got ${show(given)}.`,
    );
  }
  const resolved: Record<string, unknown> = { ...DEFAULTS };
  for (const [name, value] of Object.entries(given)) {
    const spec = SPECS.get(name);
    if (spec === undefined) {
      throw new TracerError(
        'ERR_ASYNC_TRACER_UNKNOWN_OPTION',
        `There is no option '${name}'.${suggestion(name)} The options are ${[...SPECS.keys()].join(', ')}.`,
      );
    }
    if (value !== undefined) {
      resolved[name] = resolveOne(spec, value);
    }
  }
  const options = resolved as unknown as ResolvedOptions;
  const twice = keysOf(options.prefix).find((key) => keysOf(options.suffix).includes(key));
  if (twice !== undefined) {
    throw new TracerError(
      'ERR_ASYNC_TRACER_OPTION',
      `The field '${twice}' stands in both prefix and suffix: a record can have it once.`,
    );
  }
  if (options.resolve && !options.promises) {
    throw new TracerError(
      'ERR_ASYNC_TRACER_OPTION',
      "The options 'resolve: true' and 'promises: false' exclude each other: a resolve record is a promise's.",
    );
  }
  return options;
}

function resolveOne(spec: OptionSpec, value: unknown): unknown {
  return checked(`The option '${spec.name}'`, spec.expects, value, () => spec.resolve(value));
}

function keysOf(inside: string): string[] {
  return Object.keys(JSON.parse(`{${inside}}`));
}

function suggestion(name: string): string {
  // Loaded for an unknown name only.
  const near = (require('./nearest-name') as typeof Nearest).nearest(name, [...SPECS.keys()]);
  return near === undefined ? '' : ` Is '${near}' meant?`;
}

/** Whether an op is recorded under `include` and `exclude`. */
export function isSelected(options: ResolvedOptions, op: string, area: string): boolean {
  return (
    (options.include === undefined || matches(options.include, op, area)) &&
    !matches(options.exclude, op, area)
  );
}

/** Runs in a hook, when an op is first met: it calls nothing that the program can have patched. */
function matches(patterns: readonly RegExp[], op: string, area: string): boolean {
  for (let i = 0; i < patterns.length; i++) {
    if (exec(patterns[i], op) !== null || exec(patterns[i], area) !== null) {
      return true;
    }
  }
  return false;
}
