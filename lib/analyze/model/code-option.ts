import { TracerError } from '../../errors';
import type { Code } from '../site/site';

export interface CodeOptions {
  /**
   * Where call sites are looked for. 'user', the default: the first frame of the program's own code in the stack, else
   * that of the nearest ancestor, else the first frame of a package in node_modules. 'all': the first frame outside Node,
   * else that of the nearest ancestor.
   */
  code?: Code | undefined;
}

/** @throws TracerError ERR_ASYNC_TRACER_OPTION for any other value */
export function codeOf({ code = 'user' }: CodeOptions): Code {
  if (code !== 'user' && code !== 'all') {
    throw new TracerError('ERR_ASYNC_TRACER_OPTION', `code is ${String(code)}; expected 'user' or 'all'`);
  }
  return code;
}
