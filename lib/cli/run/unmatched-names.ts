/** Names in `include` and `exclude` that meant nothing: a trace that records none of what was wanted is no error of its own. */
import { statSync } from 'node:fs';
import { readLog } from '../../analyze';
import { asking, isName, knownNames, meantBy } from '../arguments/known-names';
import { type Matcher, settings } from '../arguments/settings';
import { say } from '../terminal/output';
import { startProgress } from '../terminal/progress';

interface Name {
  /** As it was given. */
  text: string;
  pattern: RegExp;
}

/** Those of a list that match nothing of Node's, and so stand for an AsyncResource of the program, or for nothing. */
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

/** Which of them match no operation of the logs. */
async function without(names: readonly Name[], logs: readonly string[]): Promise<readonly Name[]> {
  let left = names;
  const met = new Set<string>();
  const progress = startProgress(process.stderr);
  try {
    for await (const records of readLog([...logs], { onProgress: progress.onProgress }).batches()) {
      for (const { op } of records) {
        if (typeof op === 'string' && !met.has(op)) {
          met.add(op);
          left = left.filter(({ pattern }) => !pattern.test(op));
        }
      }
      if (left.length === 0) {
        break;
      }
    }
  } finally {
    progress.stop();
  }
  return left;
}

/**
 * Says at the end of `run` which names matched nothing. Those of `include` are looked for in the logs, since a program may
 * call an AsyncResource whatever it likes; what `exclude` left out is in no log, so a name is told only where it is near
 * to a known one.
 *
 * @param nameOf what an option is called in a message
 */
export async function sayUnmatched(
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
  // A FIFO cannot be read again, and of what was not written nothing can be said.
  if (wanted.length > 0 && send && logs.length > 0 && logs.every(isFile)) {
    for (const { text } of await without(wanted, logs)) {
      say(`${written('include', text)} matched no operation in the log.${asking(meantBy(text, known))}`);
    }
  }
  for (const { text } of unknownOf(given.exclude, exclude, known)) {
    const near = isName(text) ? meantBy(text, known) : undefined;
    if (near !== undefined) {
      say(`${written('exclude', text)}: Node.js has no such op or area.${asking(near)}`);
    }
  }
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}
