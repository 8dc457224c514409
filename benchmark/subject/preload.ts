/** Given to node with `-r`: begins the variant's recording, so that the program after it is the same under all. */

import { variantOf } from '../variants/all';
import { nothing } from '../variants/recording';
import { LOG, VARIANT } from './environment';
import { begin } from './meter';
import { report } from './report';

/** Codes of what this Node.js or this state of the tracer does not offer: reported, and no failure. */
const UNAVAILABLE = new Set([
  'ERR_ASYNC_TRACER_UNSUPPORTED',
  'ERR_ASYNC_TRACER_UNKNOWN_OPTION',
  'ERR_ASYNC_TRACER_OPTION',
]);

const { [VARIANT]: name = 'off', [LOG]: log = '' } = process.env;
try {
  begin(variantOf(name).start ?? (() => nothing), log);
} catch (error) {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === undefined || !UNAVAILABLE.has(code)) {
    throw error;
  }
  report({ unavailable: message.split('\n')[0] });
  process.exit(0);
}
