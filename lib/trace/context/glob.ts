/** Globs, matched by hand: a regular expression can be patched by the program, and may take quadratic time. */
import { uncurryThis } from '../runtime/intrinsics';

const indexOf = uncurryThis(String.prototype.indexOf);
const charCodeAt = uncurryThis(String.prototype.charCodeAt);

const QUESTION_MARK = 0x3f;

/** Whether a glob matches the whole text. `parts` is the glob, split at its stars; `?` in a part is any character. */
export function matchesGlob(parts: readonly string[], text: string): boolean {
  const last = parts.length - 1;
  if (last === 0) {
    return text.length === parts[0].length && standsAt(parts[0], text, 0);
  }
  if (!standsAt(parts[0], text, 0)) {
    return false;
  }
  let at = parts[0].length;
  for (let i = 1; i < last; i++) {
    const found = find(parts[i], text, at);
    if (found === -1) {
      return false;
    }
    at = found + parts[i].length;
  }
  const end = text.length - parts[last].length;
  return end >= at && standsAt(parts[last], text, end);
}

function find(part: string, text: string, from: number): number {
  if (indexOf(part, '?') === -1) {
    return indexOf(text, part, from);
  }
  for (let at = from; at <= text.length - part.length; at++) {
    if (standsAt(part, text, at)) {
      return at;
    }
  }
  return -1;
}

function standsAt(part: string, text: string, at: number): boolean {
  if (at + part.length > text.length) {
    return false;
  }
  for (let i = 0; i < part.length; i++) {
    const code = charCodeAt(part, i);
    if (code !== QUESTION_MARK && code !== charCodeAt(text, at + i)) {
      return false;
    }
  }
  return true;
}
