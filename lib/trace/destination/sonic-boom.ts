/**
 * SonicBoom, loaded without a side effect on the program. It loads node:assert, which reads process.stderr to find out
 * about colours. The first read of process.stderr makes a piped descriptor 2 non-blocking for all processes that share
 * it, and a program that writes there with fs.writeSync would get EAGAIN. So process.stderr is replaced while SonicBoom
 * loads; node:assert reads it again at each error.
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
