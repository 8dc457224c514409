/**
 * SonicBoom, without what loading it does to the program: it loads node:assert, which looks at process.stderr to learn
 * about colours, and the first look at it makes a piped descriptor 2 non-blocking, for all who share it. A program that
 * writes there with fs.writeSync would meet EAGAIN. So another stands in its place meanwhile; node:assert looks again
 * at each error.
 */
import type * as Sonic from 'sonic-boom';

function load(): typeof Sonic {
  const stderr = Object.getOwnPropertyDescriptor(process, 'stderr');
  if (stderr?.get === undefined || stderr.configurable !== true) {
    return require('sonic-boom');
  }
  Object.defineProperty(process, 'stderr', { ...stderr, get: () => ({ isTTY: false }) });
  try {
    return require('sonic-boom');
  } finally {
    Object.defineProperty(process, 'stderr', stderr);
  }
}

export const { SonicBoom } = load();
export type SonicBoom = Sonic.SonicBoom;
