import { uncurryThis } from '../runtime/intrinsics';

const stringify = JSON.stringify as (text: string) => string;
const charCodeAt = uncurryThis(String.prototype.charCodeAt);
const slice = uncurryThis(String.prototype.slice);
const toWellFormed = uncurryThis(
  // Node 20 has it, ES2023's types do not
  (String.prototype as unknown as { toWellFormed(this: string): string }).toWellFormed,
);

/** A string as JSON in UTF-8's reach: half a surrogate pair becomes U+FFFD. */
export function quote(text: string): string {
  return stringify(toWellFormed(text));
}

/** The same in ASCII alone, so that its length is its bytes. */
export function quoteAscii(text: string): string {
  const quoted = quote(text);
  let ascii = '';
  let from = 0;
  for (let i = 0; i < quoted.length; i++) {
    const code = charCodeAt(quoted, i);
    if (code < 0x7f) {
      continue;
    }
    ascii += slice(quoted, from, i) + escapeUnit(code);
    from = i + 1;
  }
  return ascii + slice(quoted, from);
}

const HEX = '0123456789abcdef';

function escapeUnit(code: number): string {
  return `\\u${HEX[code >> 12]}${HEX[(code >> 8) & 15]}${HEX[(code >> 4) & 15]}${HEX[code & 15]}`;
}
