/** Literals: texts that are written again and again, made once. */
import { utf8 } from '../runtime/intrinsics';
import { type Literal, STEP } from './text-as-doubles';

export function createLiteral(text: string): Literal {
  const bytes = utf8(text);
  const { length } = bytes;
  const words = new Float64Array(4 * (((length / STEP) | 0) + 1));
  const target = new Uint8Array(words.buffer);
  for (let i = 0; i < length; i++) {
    target[i] = bytes[i];
  }
  return { words, length };
}
