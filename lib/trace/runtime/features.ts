/** What a trace needs of the machine and of this Node.js. The feature itself is tested, never a version. */
import asyncHooks = require('node:async_hooks');

import { TracerError } from '../../errors';

// Taken at load: the program may replace it later.
const { createHook } = asyncHooks;

/** Whether createHook() has the option `trackPromises`: it is validated where it exists (24.22, 26), and ignored elsewhere. */
export const canSkipPromises = takesTrackPromises();

function takesTrackPromises(): boolean {
  try {
    createHook({ init() {}, trackPromises: 'no boolean' } as object);
    return false;
  } catch {
    return true;
  }
}

/** @throws TracerError ERR_ASYNC_TRACER_UNSUPPORTED where this process may not make async hooks */
export function requireHooks(): void {
  try {
    createHook({});
  } catch (error) {
    const flag = '--allow-async-hooks';
    const hint = process.allowedNodeEnvironmentFlags.has(flag) ? ` Start node with ${flag}.` : '';
    throw new TracerError(
      'ERR_ASYNC_TRACER_UNSUPPORTED',
      `This process cannot make async hooks: ${(error as Error).message}.${hint}`,
      { cause: error },
    );
  }
}

/**
 * The lowest byte must come first: bytes are stored as doubles and words, and the clock is read in halves.
 *
 * @throws TracerError ERR_ASYNC_TRACER_UNSUPPORTED where it does not, as on IBM Z
 */
export function requireLittleEndian(lowestByte = new Uint8Array(Uint16Array.of(1).buffer)[0]): void {
  if (lowestByte !== 1) {
    throw new TracerError(
      'ERR_ASYNC_TRACER_UNSUPPORTED',
      'This processor is big-endian; async-tracer writes its records on little-endian ones alone.',
    );
  }
}
