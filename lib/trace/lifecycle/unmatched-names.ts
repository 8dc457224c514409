/** Names in `include` and `exclude` that matched nothing: a misspelt one is no error, and yet the log lacks what was meant. */
import { knownNames, nearestName } from '../options/known-names';
import type { ResolvedOptions } from '../options/tracer-options';

/** A name that is given as a string is a pattern of this form; globs and regular expressions are not looked at. */
const NAME = /^\^((?:\w|-|\\.)+)\$$/;

function namesOf(patterns: readonly RegExp[]): string[] {
  return patterns.flatMap(({ source }) => NAME.exec(source)?.[1].replaceAll('\\', '') ?? []);
}

/**
 * A sentence for each name that matched nothing. A program may name its own operations, so a name of `include` counts as
 * unmatched where no operation had it, and a name of `exclude` only where a known one is near.
 *
 * @param hasMet whether the trace has met an op of this name
 */
export function unmatchedNames(
  { include = [], exclude }: Pick<ResolvedOptions, 'include' | 'exclude'>,
  hasMet: (op: string) => boolean,
): string[] {
  const known = knownNames();
  const isUnmatched = (name: string): boolean => !known.includes(name) && !hasMet(name);
  const meant = (name: string): string => {
    const near = nearestName(name, known);
    return near === undefined ? '' : ` Is ${near} meant?`;
  };
  return [
    ...namesOf(include)
      .filter(isUnmatched)
      .map((name) => `The option include has '${name}', which matched no operation.${meant(name)}`),
    ...namesOf(exclude)
      .filter((name) => isUnmatched(name) && meant(name) !== '')
      .map((name) => `The option exclude has '${name}', which is no op or area of Node.js.${meant(name)}`),
  ];
}
