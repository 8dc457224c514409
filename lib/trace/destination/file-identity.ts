/** What a descriptor stands for, so that one closed and given out again behind our back is never mistaken for ours. */
import fs from 'node:fs';

const { fstatSync, statSync } = fs;

/** Device and inode; undefined where the descriptor is closed. */
export function identify(fd: number): string | undefined {
  try {
    const { dev, ino } = fstatSync(fd);
    return `${dev}:${ino}`;
  } catch {
    return undefined;
  }
}

/** The same of what is at a path; undefined where there is nothing, or nothing that may be asked. */
export function identifyPath(path: string): string | undefined {
  try {
    const { dev, ino } = statSync(path);
    return `${dev}:${ino}`;
  } catch {
    return undefined;
  }
}
