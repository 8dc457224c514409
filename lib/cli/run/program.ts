/** The program under trace: what to start, and how its signals and its end pass through the command. */
import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { constants } from 'node:os';
import { extname } from 'node:path';
import { TracerError } from '../../errors';

/** How it ended: by its code or by a signal. */
export interface Ending {
  pid: number;
  code: number | null;
  signal: NodeJS.Signals | null;
}

export interface Command {
  file: string;
  args: string[];
}

const SCRIPT_EXTENSIONS = ['.js', '.mjs', '.cjs', '.ts', '.mts', '.cts', '.jsx', '.tsx'];

/**
 * A script or the flags of node are run by the node that runs the command; all else is a command to be found on the
 * PATH: npm, npx, node itself, a binary.
 */
export function commandOf([first, ...rest]: readonly string[]): Command {
  return first.startsWith('-') || isScript(first)
    ? { file: process.execPath, args: [first, ...rest] }
    : { file: first, args: rest };
}

function isScript(word: string): boolean {
  const kind = statSync(word, { throwIfNoEntry: false });
  if (SCRIPT_EXTENSIONS.includes(extname(word))) {
    // A name that does not exist is node's to complain of.
    return true;
  }
  // A file without the right to be executed, or a folder with an index.js, is for node too.
  return kind !== undefined && (kind.isDirectory() || (kind.isFile() && (kind.mode & 0o111) === 0));
}

/** NODE_OPTIONS that load a module first, and keep what the user has there. */
export function nodeOptions(preload: string, given: string | undefined): string {
  const path = /[\s"\\]/.test(preload) ? `"${preload.replace(/[\\"]/g, '\\$&')}"` : preload;
  return given === undefined || given.trim() === '' ? `--require ${path}` : `--require ${path} ${given}`;
}

/** Signals that a supervisor or a person sends to end or to tell a program something. */
const FORWARDED: readonly NodeJS.Signals[] = ['SIGINT', 'SIGQUIT', 'SIGTERM', 'SIGHUP', 'SIGUSR1', 'SIGUSR2'];

/**
 * Those that a terminal sends to all processes in its foreground at once.
 *
 * What else is sent to our whole group (by timeout(1), or by kill to a negative id) reaches the program twice: who was
 * meant is in no system call that Node.js offers. To lose a signal would be worse, and so would a group of its own for
 * the program, as tini and dumb-init make: without a terminal's foreground moved along, which Node.js cannot do, the
 * program would no longer be reached by Ctrl-C, and a SIGKILL to our group would leave it behind.
 */
const FROM_TERMINAL: readonly NodeJS.Signals[] = ['SIGINT', 'SIGQUIT', 'SIGHUP'];

/**
 * Whether a terminal's signal has come to the program too: it goes to the whole group in the terminal's foreground.
 * Fields 5 and 8 of /proc/self/stat are our group and the terminal's; elsewhere a terminal on stdin is taken for a yes.
 */
function inForeground(): boolean {
  try {
    const stat = readFileSync('/proc/self/stat', 'latin1');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields[2] === fields[5];
  } catch {
    return process.stdin.isTTY === true;
  }
}

/**
 * Runs it to its end with our own standard streams.
 *
 * @throws TracerError ERR_ASYNC_TRACER_INPUT where it cannot be started; `cause.code` is ENOENT where there is no such
 *   command
 */
export function runProgram({ file, args }: Command, environment: NodeJS.ProcessEnv): Promise<Ending> {
  const child: ChildProcess = spawn(file, args, { stdio: 'inherit', env: environment });
  const listeners = FORWARDED.map((signal) => {
    const forward = (): void => {
      if (!(FROM_TERMINAL.includes(signal) && inForeground())) {
        child.kill(signal);
      }
    };
    try {
      process.on(signal, forward);
    } catch {
      // This system has no such signal.
    }
    return [signal, forward] as const;
  });
  return new Promise<Ending>((resolve, reject) => {
    child.once('error', (error: NodeJS.ErrnoException) => {
      const why =
        error.code === 'ENOENT'
          ? 'there is no such file, and no such command on the PATH'
          : error.code === 'EACCES'
            ? 'it may not be executed'
            : error.message;
      reject(
        new TracerError('ERR_ASYNC_TRACER_INPUT', `${JSON.stringify(file)} could not be started: ${why}.`, {
          cause: error,
        }),
      );
    });
    child.once('exit', (code, signal) => resolve({ pid: child.pid as number, code, signal }));
  }).finally(() => {
    for (const [signal, forward] of listeners) {
      process.removeListener(signal, forward);
    }
  });
}

/** What a shell makes of the failure to start a command. */
export function startFailureCode(error: TracerError): number {
  return (error.cause as NodeJS.ErrnoException | undefined)?.code === 'ENOENT' ? 127 : 126;
}

/** Ends the command as the program ended, by the same signal if it was one. Returns where the signal does not end it. */
export function endLike({ code, signal }: Omit<Ending, 'pid'>): void {
  if (signal === null) {
    process.exitCode = code ?? 1;
    return;
  }
  // Node ignores SIGPIPE and opens its inspector at SIGUSR1.
  process.exitCode = 128 + constants.signals[signal];
  if (signal !== 'SIGUSR1') {
    process.kill(process.pid, signal);
  }
}
