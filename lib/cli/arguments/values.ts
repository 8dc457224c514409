/** The values of flags: whole numbers, opids, lists and one word of several. */
import { TracerError } from '../../errors';

function refuse(flag: string, expected: string, text: unknown): never {
  throw new TracerError(
    'ERR_ASYNC_TRACER_USAGE',
    `--${flag} must be ${expected}; got ${JSON.stringify(text)}.`,
  );
}

/** A whole number from 1. */
export function countOf(text: string | undefined, flag: string, fallback: number): number {
  if (text === undefined) {
    return fallback;
  }
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1 || String(text).trim() === '') {
    refuse(flag, 'a whole number from 1', text);
  }
  return value;
}

export function opidOf(text: string | undefined, flag: string): number | undefined {
  if (text === undefined) {
    return undefined;
  }
  if (!/^\d{1,15}$/.test(text)) {
    refuse(flag, 'an opid, as async-tracer tree LOG shows them', text);
  }
  return Number(text);
}

/** One of several words; the first one is the default. */
export function choiceOf<Word extends string>(
  text: string | undefined,
  flag: string,
  words: readonly Word[],
): Word {
  const word = text ?? words[0];
  if (!words.includes(word as Word)) {
    refuse(flag, `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`, text);
  }
  return word as Word;
}

/** The values of a flag that may be given more than once. */
export function listOf(value: unknown): string[] {
  return value === undefined ? [] : Array.isArray(value) ? value.map(String) : [String(value)];
}
