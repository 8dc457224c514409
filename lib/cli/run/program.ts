/** The program under trace: how it is started, and how signals and its exit code pass through the command. */
import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { constants } from 'node:os';
import { extname } from 'node:path';
import { TracerError } from '../../errors';

/** How it ended: with a code or by a signal. */
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
 * A script, or flags of node, run on the node that runs this command. Anything else is a command on the PATH: npm, npx,
 * node itself, a binary.
 */
export function commandOf([first, ...rest]: readonly string[]): Command {
  return first.startsWith('-') || isScript(first)
    ? { file: process.execPath, args: [first, ...rest] }
    : { file: first, args: rest };
}

function isScript(word: string): boolean {
  const kind = statSync(word, { throwIfNoEntry: false });
  if (SCRIPT_EXTENSIONS.includes(extname(word))) {
    // Node itself reports a file that does not exist.
    return true;
  }
  // Node also runs a file that is not executable, and a folder with an index.js.
  return kind !== undefined && (kind.isDirectory() || (kind.isFile() && (kind.mode & 0o111) === 0));
}

/** NODE_OPTIONS that load a module first and keep the user's own. */
export function nodeOptions(preload: string, given: string | undefined): string {
  const path = /[\s"\\]/.test(preload) ? `"${preload.replace(/[\\"]/g, '\\$&')}"` : preload;
  return given === undefined || given.trim() === '' ? `--require ${path}` : `--require ${path} ${given}`;
}

/** Signals by which a supervisor or a person ends or controls a program. */
const FORWARDED: readonly NodeJS.Signals[] = ['SIGINT', 'SIGQUIT', 'SIGTERM', 'SIGHUP', 'SIGUSR1', 'SIGUSR2'];

/**
 * Signals that a terminal sends to every process in its foreground.
 *
 * Any other signal to our whole group (timeout(1), kill with a negative id) reaches the program twice: Node.js offers no
 * system call that shows the receiver of a signal. Losing a signal would be worse. A process group for the program, as
 * tini and dumb-init make one, would be worse too: Node.js cannot move the terminal's foreground to it, so Ctrl-C would
 * no longer reach the program, and a SIGKILL to our group would leave it running.
 */
const FROM_TERMINAL: readonly NodeJS.Signals[] = ['SIGINT', 'SIGQUIT', 'SIGHUP'];

/**
 * Whether the program has received a terminal's signal too: the terminal sends it to the whole group in its foreground.
 * Fields 5 and 8 of /proc/self/stat are our group and the terminal's. On other systems a terminal on stdin counts as yes.
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
 * Runs it to its end on our standard streams.
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
      // The system does not know the signal.
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

/** The exit code of a shell that cannot start a command. */
export function startFailureCode(error: TracerError): number {
  return (error.cause as NodeJS.ErrnoException | undefined)?.code === 'ENOENT' ? 127 : 126;
}

/** Ends this process as the program ended: with its code, or by its signal. Returns where the signal does not end it. */
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
