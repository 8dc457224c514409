/** What `run` says when the program is over: where its logs are, or why there are none. */
import { statSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import { formatDuration } from '../../analyze/duration';
import { settings } from '../arguments/settings';
import { say } from '../terminal/output';
import { commandOf, type Ending } from './program';

/** Logs named one by one. */
const MAX_NAMED = 5;
const PACKAGE = join(__dirname, '../../../..');
const PERMISSION = /^--(?:experimental-)?permission$/;
/** Flags of node that may have their value in the next word. */
const WITH_VALUE =
  /^(?:-[rCep]|--(?:require|import|(?:experimental-)?loader|conditions|env-file(?:-if-exists)?|eval|print))$/;

/**
 * Where the program's permissions keep it from telling the session of its log, the log is there all the same. The first
 * process does not know that it is the first one then.
 */
export function untoldLogs(environment: NodeJS.ProcessEnv, { pid }: Ending, began: number): string[] {
  const pattern = environment['ASYNC_TRACER_OUTPUT'] as string;
  const paths = [true, false].map((first) => settings().outputOf(pattern, { pid, thread: 0, first }));
  return [...new Set(paths)].filter((path) => {
    const kind = statSync(path, { throwIfNoEntry: false });
    return kind?.isFile() === true && kind.mtimeMs >= began;
  });
}

/** @param program its words, among which may be flags of node */
export function sayLogs(
  logs: readonly string[],
  environment: NodeJS.ProcessEnv,
  program: readonly string[],
): void {
  if (logs.length === 0) {
    say(`no log was written: ${reasonsFor(environment).join(', or ')}.`);
    const flags = [...nodeFlags(program), ...(environment['NODE_OPTIONS'] ?? '').split(' ')];
    if (flags.some((word) => PERMISSION.test(word))) {
      say(permissionsFor(environment));
    }
    return;
  }
  const names = logs.slice(0, MAX_NAMED).map(shortest);
  const more = logs.length - names.length;
  say(
    `the ${logs.length === 1 ? 'log is' : `${logs.length} logs are`} ${names.join(', ')}${more > 0 ? ` and ${more} more` : ''}`,
  );
}

/** What stands before the script, where node runs it; the value of a flag that is not in WITH_VALUE is taken for that. */
function nodeFlags(program: readonly string[]): string[] {
  const { file, args } = commandOf(program);
  if (file !== process.execPath && basename(file, '.exe') !== 'node') {
    return [];
  }
  const script = args.findIndex(
    (word, i) => word === '--' || (!word.startsWith('-') && !WITH_VALUE.test(args[i - 1] ?? '')),
  );
  return script < 0 ? args : args.slice(0, script);
}

function shortest(path: string): string {
  const inside = relative(process.cwd(), path);
  return inside.startsWith('..') ? path : inside;
}

function reasonsFor(environment: NodeJS.ProcessEnv): string[] {
  return [
    'no program of Node.js ran',
    'it could not be traced and said so above',
    ...(environment['ASYNC_TRACER_FOR'] ? ['it began when the window of time was over'] : []),
  ];
}

function permissionsFor(environment: NodeJS.ProcessEnv): string {
  const folder = join(environment['ASYNC_TRACER_OUTPUT'] as string, '..');
  return `under the permissions of Node.js a program must be allowed to read async-tracer and to write its log, as in --allow-fs-read=${PACKAGE}/* --allow-fs-write=${folder}/*`;
}

export function sayEnding({ signal }: Ending, environment: NodeJS.ProcessEnv): void {
  if (signal !== null) {
    const { flushInterval } = settings().resolveOptions(settings().optionsFromEnvironment(environment));
    say(
      `the program was ended by ${signal}: what was not written by then is missing: the last ${formatDuration(flushInterval)} (--flush-interval), or more where the event loop was held`,
    );
  }
}
