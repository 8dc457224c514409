/** The messages of `run` when the program has ended: where its logs are, or why there are none. */
import { statSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import { formatDuration } from '../../analyze/report/duration';
import { settings } from '../arguments/settings';
import { printMessage } from '../terminal/output';
import { commandOf, type Ending } from './program';

/** More logs than this are counted, not named. */
const MAX_NAMED = 5;
const PACKAGE = join(__dirname, '../../../..');
const PERMISSION = /^--(?:experimental-)?permission$/;
/** Flags of node whose value may be the next word. */
const WITH_VALUE =
  /^(?:-[rCep]|--(?:require|import|(?:experimental-)?loader|conditions|env-file(?:-if-exists)?|eval|print))$/;

/**
 * The logs of a program whose permissions kept it from writing to the session's folder. Such a process cannot know
 * whether it is the first one, so both names are tried.
 */
export function unreportedLogs(environment: NodeJS.ProcessEnv, { pid }: Ending, began: number): string[] {
  const pattern = environment['ASYNC_TRACER_OUTPUT'] as string;
  const paths = [true, false].map((first) => settings().outputOf(pattern, { pid, thread: 0, first }));
  return [...new Set(paths)].filter((path) => {
    const kind = statSync(path, { throwIfNoEntry: false });
    return kind?.isFile() === true && kind.mtimeMs >= began;
  });
}

/** @param program its words, which may begin with flags of node */
export function printLogs(
  logs: readonly string[],
  environment: NodeJS.ProcessEnv,
  program: readonly string[],
): void {
  if (logs.length === 0) {
    printMessage(`no log was written: ${reasonsFor(environment).join(', or ')}.`);
    const flags = [...nodeFlags(program), ...(environment['NODE_OPTIONS'] ?? '').split(' ')];
    if (flags.some((word) => PERMISSION.test(word))) {
      printMessage(permissionsFor(environment));
    }
    return;
  }
  const names = logs.slice(0, MAX_NAMED).map(shortPath);
  const more = logs.length - names.length;
  printMessage(
    `the ${logs.length === 1 ? 'log is' : `${logs.length} logs are`} ${names.join(', ')}${more > 0 ? ` and ${more} more` : ''}`,
  );
}

/** The words before the script, where node runs it. The value of a flag that is not in WITH_VALUE counts as the script. */
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

function shortPath(path: string): string {
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

export function printEnding({ signal }: Ending, environment: NodeJS.ProcessEnv): void {
  if (signal !== null) {
    const { flushInterval } = settings().resolveOptions(settings().optionsFromEnvironment(environment));
    printMessage(
      `the program was ended by ${signal}: what was not written by then is missing: the last ${formatDuration(flushInterval)} (--flush-interval), or more where the event loop was held`,
    );
  }
}
