import fs from 'node:fs';

/** One JSON line to the runner, by a system call that makes no async operation. */
export function report(message: object): void {
  fs.writeSync(1, `${JSON.stringify(message)}\n`);
}
