/** Which file a descriptor or path refers to. A descriptor number that was closed and given out again is thereby noticed. */
import fs from 'node:fs';

const { fstatSync, statSync } = fs;

/** Device and inode of a descriptor; undefined where it is closed. */
export function identify(fd: number): string | undefined {
  try {
    const { dev, ino } = fstatSync(fd);
    return `${dev}:${ino}`;
  } catch {
    return undefined;
  }
}

/** Device and inode of a path; undefined where nothing is there, or access is denied. */
export function identifyPath(path: string): string | undefined {
  try {
    const { dev, ino } = statSync(path);
    return `${dev}:${ino}`;
  } catch {
    return undefined;
  }
}
