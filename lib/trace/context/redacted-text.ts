/** Text without the secrets in it. */
import { uncurryThis } from '../runtime/intrinsics';

/** Replaces a secret. */
export const REDACTED = '[Redacted]';

const toLowerCase = uncurryThis(String.prototype.toLowerCase);
const indexOf = uncurryThis(String.prototype.indexOf);
const charCodeAt = uncurryThis(String.prototype.charCodeAt);
const slice = uncurryThis(String.prototype.slice);

/** Begins a key or a certificate, which is taken to reach to the end of the text. */
const PEM = '-----BEGIN ';

const TAB = 0x09;
const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const SPACE = 0x20;
const DOUBLE_QUOTE = 0x22;
const AMPERSAND = 0x26;
const SINGLE_QUOTE = 0x27;
const COMMA = 0x2c;
const SLASH = 0x2f;
const COLON = 0x3a;
const SEMICOLON = 0x3b;
const EQUALS = 0x3d;
const QUESTION_MARK = 0x3f;
const AT = 0x40;
const BACKSLASH = 0x5c;
const CLOSING_BRACE = 0x7d;

/**
 * Replaces the values of header lines (`Cookie: a=b`) and pairs (`token=abc&`, `"password": "x"`), the credentials of
 * URLs (`//user:password@`), what follows Bearer or Basic, and keys in PEM.
 * Scanned by hand: a regular expression over unknown text may take quadratic time, and can be patched by the program.
 *
 * @param isSecret whether the values of a name are secret
 */
export function redactText(whole: string, isSecret: (name: string) => boolean): string {
  const pem = indexOf(whole, PEM);
  const text = pem === -1 ? whole : slice(whole, 0, pem) + REDACTED;
  const { length } = text;
  let out = '';
  let from = 0;
  let i = 0;
  while (i < length) {
    const code = charCodeAt(text, i);
    let start = -1;
    let end = -1;
    if (code === COLON || code === EQUALS) {
      let nameEnd = i;
      while (nameEnd > from && isBlank(charCodeAt(text, nameEnd - 1))) {
        nameEnd--;
      }
      const quoted = nameEnd > from && isQuote(charCodeAt(text, nameEnd - 1));
      if (quoted) {
        nameEnd--;
      }
      // In JSON within JSON a backslash precedes each quote.
      while (quoted && nameEnd > from && charCodeAt(text, nameEnd - 1) === BACKSLASH) {
        nameEnd--;
      }
      let nameStart = nameEnd;
      while (nameStart > from && isNameCode(charCodeAt(text, nameStart - 1))) {
        nameStart--;
      }
      if (nameStart < nameEnd && isSecret(slice(text, nameStart, nameEnd))) {
        start = skipBlanks(text, i + 1);
        end = endOfValue(text, start, code === COLON && !quoted);
      } else if (
        code === COLON &&
        i + 2 < length &&
        charCodeAt(text, i + 1) === SLASH &&
        charCodeAt(text, i + 2) === SLASH
      ) {
        end = endOfCredentials(text, i + 3);
        if (end !== -1) {
          start = i + 3;
        }
      }
    } else if (code === SPACE && endsWithScheme(text, i)) {
      start = skipBlanks(text, i);
      end = endOfValue(text, start, false);
    }
    if (end > start) {
      out += slice(text, from, start) + REDACTED;
      from = end;
      i = end;
    } else {
      i++;
    }
  }
  return from === 0 ? text : out + slice(text, from);
}

/** Letters, digits and the other characters in names of headers, fields and query parameters: - _ . $ % [ ] */
export function isNameCode(code: number): boolean {
  return (
    (code >= 0x61 && code <= 0x7a) ||
    (code >= 0x41 && code <= 0x5a) ||
    (code >= 0x30 && code <= 0x39) ||
    code === 0x2d ||
    code === 0x5f ||
    code === 0x2e ||
    code === 0x24 ||
    code === 0x25 ||
    code === 0x5b ||
    code === 0x5d ||
    code >= 0x80
  );
}

function isBlank(code: number): boolean {
  return code === SPACE || code === TAB;
}

function isQuote(code: number): boolean {
  return code === DOUBLE_QUOTE || code === SINGLE_QUOTE;
}

function skipBlanks(text: string, at: number): number {
  while (at < text.length && isBlank(charCodeAt(text, at))) {
    at++;
  }
  return at;
}

/** The value of a header ends with its line; any other value ends at its closing quote, or where the next pair may begin. */
function endOfValue(text: string, start: number, isHeader: boolean): number {
  let at = start;
  while (at < text.length && charCodeAt(text, at) === BACKSLASH) {
    at++;
  }
  const opening = at < text.length ? charCodeAt(text, at) : 0;
  if (isQuote(opening) && !isHeader) {
    const nested = at > start; // JSON within JSON: here \" closes
    for (at++; at < text.length; at++) {
      const code = charCodeAt(text, at);
      if (code === opening) {
        return at + 1;
      }
      if (code === BACKSLASH && !nested) {
        at++;
      }
    }
    return text.length;
  }
  for (at = start; at < text.length; at++) {
    const code = charCodeAt(text, at);
    if (code === CARRIAGE_RETURN || code === LINE_FEED) {
      return at;
    }
    if (isHeader) {
      continue;
    }
    if (code === AMPERSAND || code === SEMICOLON || code === COMMA) {
      return at;
    }
    if (code === CLOSING_BRACE || isQuote(code)) {
      return at;
    }
  }
  return text.length;
}

/** The position of the `@` that ends the credentials of a URL; -1 where it has none. */
function endOfCredentials(text: string, start: number): number {
  for (let at = start; at < text.length; at++) {
    const code = charCodeAt(text, at);
    if (code === AT) {
      return at;
    }
    if (code === SLASH || code === SPACE || code === QUESTION_MARK || code === 0x23 || isQuote(code)) {
      return -1;
    }
  }
  return -1;
}

function endsWithScheme(text: string, end: number): boolean {
  if (end >= 6 && toLowerCase(slice(text, end - 6, end)) === 'bearer') {
    return true;
  }
  return end >= 5 && toLowerCase(slice(text, end - 5, end)) === 'basic';
}
