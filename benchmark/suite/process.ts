/** Fresh processes for the programs under test, on cores of their own, none of which outlives the runner. */

import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import readline from 'node:readline';
import { Unavailable } from './question';

const alive = new Set<ChildProcess>();

function endAll(): void {
  for (const child of alive) {
    child.kill('SIGKILL');
  }
}

process.once('exit', endAll);

const SIGNALS: readonly NodeJS.Signals[] = ['SIGINT', 'SIGTERM', 'SIGHUP'];
/** Ctrl-C in a terminal ends the children too: this process must see its own signal before it sees their failure. */
const SIGNAL_GRACE_MS = 500;
let onInterrupt = (): void => {};

/** Calls `work` before a signal ends this process, and with it its children. What `work` prints must be synchronous. */
export function beforeInterrupt(work: () => void): void {
  onInterrupt = work;
}

for (const signal of SIGNALS) {
  process.once(signal, () => {
    try {
      onInterrupt();
    } finally {
      process.exit(128 + os.constants.signals[signal]);
    }
  });
}

/** The cores that this process may use, by number. */
function cores(): number[] {
  try {
    const [, list] = /^Cpus_allowed_list:\s*(.+)$/m.exec(fs.readFileSync('/proc/self/status', 'utf8')) ?? [];
    return (list ?? '').split(',').flatMap((range) => {
      const [first, last = first] = range.split('-').map(Number);
      return Array.from({ length: last - first + 1 }, (_, i) => first + i);
    });
  } catch {
    return [];
  }
}

export interface Pins {
  /** Core of the program under test, and of what feeds or reads it. */
  subject: number;
  other: number;
}

/** Two cores, where `taskset` exists and the machine has them. */
export function pins(): Pins | undefined {
  const [subject, other] = cores();
  if (other === undefined || spawnSync('taskset', ['--version']).status !== 0) {
    return undefined;
  }
  return { subject, other };
}

/** Longer than any sound measurement; a program that hangs must not hang the suite. */
const TIMEOUT_MS = 180_000;

export interface ChildOptions {
  node: string;
  args: string[];
  env?: NodeJS.ProcessEnv;
  core?: number;
  cwd: string;
  /** After which it is killed. */
  timeoutMs?: number;
}

/** A child that prints its results as JSON, one object a line. */
export class Child {
  private readonly process: ChildProcess;
  private readonly lines: AsyncIterator<string>;
  private readonly closed: Promise<void>;
  private errors = '';

  constructor(options: ChildOptions) {
    const command = [options.node, ...options.args];
    if (options.core !== undefined) {
      command.unshift('taskset', '-c', String(options.core));
    }
    const child = spawn(command[0], command.slice(1), {
      stdio: ['ignore', 'pipe', 'pipe'],
      // What the runner was started with (a coverage tool, a preload) would be measured too.
      env: { ...process.env, NODE_OPTIONS: undefined, NODE_V8_COVERAGE: undefined, ...options.env },
      cwd: options.cwd,
    });
    this.process = child;
    alive.add(child);
    const timer = setTimeout(() => child.kill('SIGKILL'), options.timeoutMs ?? TIMEOUT_MS);
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.errors += text;
    });
    this.closed = new Promise((resolve, reject) => {
      child.once('error', reject);
      child.once('close', (code, signal) => {
        clearTimeout(timer);
        alive.delete(child);
        if (code === 0) {
          resolve();
          return;
        }
        const error = new Error(
          `${command.join(' ')}\nended with ${signal ?? `code ${code}`}\n${this.errors}`,
        );
        if (signal !== null && SIGNALS.includes(signal)) {
          setTimeout(reject, SIGNAL_GRACE_MS, error);
        } else {
          reject(error);
        }
      });
    });
    // Asked for at the end; until then a failure must not count as unhandled.
    this.closed.catch(() => {});
    this.lines = readline.createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  }

  /** The child's next message. Rejects with the child's standard error where it ends without one. */
  async next<T extends object>(): Promise<T> {
    const { value, done } = await this.lines.next();
    if (!done) {
      const message = JSON.parse(value) as T;
      if ('unavailable' in message) {
        throw new Unavailable(String(message.unavailable));
      }
      return message;
    }
    await this.closed;
    throw new Error(`the child ended without a message\n${this.errors}`);
  }

  /** Does nothing where the child has ended. */
  kill(): void {
    this.process.kill('SIGKILL');
  }

  /** Rejects where the child did not end with code 0. */
  end(): Promise<void> {
    return this.closed;
  }
}
