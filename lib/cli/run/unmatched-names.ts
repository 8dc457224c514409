/** Names in `include` and `exclude` that matched nothing. They are no error by themselves: a program may name its own operations. */
import { statSync } from 'node:fs';
import { readLog } from '../../analyze';
import { isName, knownNames, nearestName, suggestion } from '../arguments/known-names';
import { type Matcher, settings } from '../arguments/settings';
import { printMessage } from '../terminal/output';
import { type OnProgress, withProgress } from '../terminal/progress';

interface Name {
  /** As the user gave it. */
  text: string;
  pattern: RegExp;
}

/** The names that match no op and no area of Node.js: each is an AsyncResource of the program, or a mistake. */
function unknownOf(
  given: Matcher | readonly Matcher[] | undefined,
  patterns: readonly RegExp[] | undefined,
  known: readonly string[],
): Name[] {
  const list = given === undefined ? [] : Array.isArray(given) ? given : [given];
  return list
    .map((one, i) => ({ text: String(one), pattern: patterns![i] }))
    .filter(({ pattern }) => !known.some((name) => pattern.test(name)));
}

/** The names that match no operation of the logs. */
async function unmatchedIn(
  logs: readonly string[],
  names: readonly Name[],
  onProgress: OnProgress,
): Promise<readonly Name[]> {
  let left = names;
  const seen = new Set<string>();
  for await (const records of readLog([...logs], { onProgress }).batches()) {
    for (const { op } of records) {
      if (typeof op === 'string' && !seen.has(op)) {
        seen.add(op);
        left = left.filter(({ pattern }) => !pattern.test(op));
      }
    }
    if (left.length === 0) {
      break;
    }
  }
  return left;
}

/**
 * Prints at the end of `run` which names matched nothing. The names of `include` are looked up in the logs, since a
 * program may give an AsyncResource any name. What `exclude` left out is in no log, so such a name is printed only where
 * a known one is near.
 *
 * @param nameOf the name of an option in a message
 */
export async function printUnmatched(
  logs: readonly string[],
  environment: NodeJS.ProcessEnv,
  nameOf: (name: string) => string,
): Promise<void> {
  const given = settings().optionsFromEnvironment(environment);
  const written = (name: string, text: string): string =>
    `${nameOf(name)}${nameOf(name).startsWith('-') ? ' ' : '='}${text}`;
  const { include, exclude, send } = settings().resolveOptions(given);
  const known = knownNames();
  const wanted = unknownOf(given.include, include, known);
  // A FIFO cannot be read again, and with send: false there is nothing to read.
  if (wanted.length > 0 && send && logs.length > 0 && logs.every(isFile)) {
    const unmatched = await withProgress((onProgress) => unmatchedIn(logs, wanted, onProgress));
    for (const { text } of unmatched) {
      printMessage(
        `${written('include', text)} matched no operation in the log.${suggestion(nearestName(text, known))}`,
      );
    }
  }
  for (const { text } of unknownOf(given.exclude, exclude, known)) {
    const near = isName(text) ? nearestName(text, known) : undefined;
    if (near !== undefined) {
      printMessage(`${written('exclude', text)}: Node.js has no such op or area.${suggestion(near)}`);
    }
  }
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}
