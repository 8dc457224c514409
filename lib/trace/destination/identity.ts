/** What a descriptor stands for, so that one closed and given out again behind our back is never mistaken for ours. */
import fs from 'node:fs';

const { fstatSync } = fs;

/** Device and inode; undefined where the descriptor is closed. */
export function identify(fd: number): string | undefined {
  try {
    const { dev, ino } = fstatSync(fd);
    return `${dev}:${ino}`;
  } catch {
    return undefined;
  }
}
