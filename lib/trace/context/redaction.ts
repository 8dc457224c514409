import { OwnMap, uncurryThis } from '../runtime/intrinsics';

/** What stands in the place of a secret. */
export const REDACTED = '[Redacted]';

/**
 * Names whose values are secrets, in any case; `*` stands for any characters, `?` for one. Rather too many than too few:
 * `*key*` also takes `keyboard`.
 */
export const REDACTED_NAMES: readonly string[] = [
  '*password*',
  '*passwd*',
  '*passphrase*',
  'pwd',
  '*token*',
  '*secret*',
  '*authorization*',
  'auth',
  '*cookie*',
  '*key*',
  '*credential*',
  '*session*',
  'jwt',
  'pfx',
];

/** Decisions kept, by name. */
const DECISIONS_MAX = 4_096;

/** Characters of a name that are looked at. */
const NAME_MAX = 256;

const toLowerCase = uncurryThis(String.prototype.toLowerCase);
const indexOf = uncurryThis(String.prototype.indexOf);
const charCodeAt = uncurryThis(String.prototype.charCodeAt);
const slice = uncurryThis(String.prototype.slice);
const exec = uncurryThis(RegExp.prototype.exec);

/** Begins a key or a certificate; one text holds them to its end. */
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

/** Which names hold secrets, and text without the secrets that follow such names. */
export class Redaction {
  readonly #globs: readonly (readonly string[])[];
  readonly #patterns: readonly RegExp[];
  #decisions = new OwnMap<string, boolean>();

  /** `redact` adds to REDACTED_NAMES: strings as there, or RegExps tested against the name. */
  constructor(redact: readonly (string | RegExp)[]) {
    const globs = [...REDACTED_NAMES];
    const patterns: RegExp[] = [];
    for (const entry of redact) {
      if (typeof entry === 'string') {
        globs.push(entry);
      }
      // A copy: the program's own may be sticky, global or patched.
      else {
        patterns.push(new RegExp(entry.source, entry.flags.replace(/[gy]/g, '')));
      }
    }
    this.#globs = globs.map((glob) => glob.toLowerCase().split('*'));
    this.#patterns = patterns;
  }

  isSecret(name: string): boolean {
    let secret = this.#decisions.get(name);
    if (secret !== undefined) {
      return secret;
    }
    secret = this.#decide(name.length > NAME_MAX ? slice(name, 0, NAME_MAX) : name);
    if (name.length <= NAME_MAX) {
      if (this.#decisions.size >= DECISIONS_MAX) {
        this.#decisions = new OwnMap();
      }
      this.#decisions.set(name, secret);
    }
    return secret;
  }

  #decide(name: string): boolean {
    const lower = toLowerCase(name);
    for (let i = 0; i < this.#globs.length; i++) {
      if (matches(this.#globs[i], lower)) {
        return true;
      }
    }
    for (let i = 0; i < this.#patterns.length; i++) {
      const pattern = this.#patterns[i];
      if (exec(pattern, name) !== null) {
        return true;
      }
    }
    return false;
  }

  /** Whether the whole text is such a name, as the elements of rawHeaders and of an argument list are. */
  isSecretName(text: string): boolean {
    let start = 0;
    while (start < text.length && charCodeAt(text, start) === 0x2d) {
      start++;
    }
    if (start === text.length || text.length > NAME_MAX) {
      return false;
    }
    for (let i = start; i < text.length; i++) {
      if (!isNameCode(charCodeAt(text, i))) {
        return false;
      }
    }
    return this.isSecret(start === 0 ? text : slice(text, start));
  }

  /**
   * Takes the values out of header lines (`Cookie: a=b`), pairs (`token=abc&`, `"password": "x"`), the
   * credentials out of URLs (`//user:password@`), what follows Bearer or Basic, and keys in PEM.
   * Written by hand: a regular expression over unknown text takes quadratic time and can be patched.
   */
  redactText(whole: string): string {
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
        // The quotes of JSON within JSON have a backslash before them.
        while (quoted && nameEnd > from && charCodeAt(text, nameEnd - 1) === BACKSLASH) {
          nameEnd--;
        }
        let nameStart = nameEnd;
        while (nameStart > from && isNameCode(charCodeAt(text, nameStart - 1))) {
          nameStart--;
        }
        if (nameStart < nameEnd && this.isSecret(slice(text, nameStart, nameEnd))) {
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
}

/** `pieces` is a glob split at its stars. */
function matches(pieces: readonly string[], text: string): boolean {
  const last = pieces.length - 1;
  if (last === 0) {
    return text.length === pieces[0].length && standsAt(pieces[0], text, 0);
  }
  if (!standsAt(pieces[0], text, 0)) {
    return false;
  }
  let at = pieces[0].length;
  for (let i = 1; i < last; i++) {
    const found = find(pieces[i], text, at);
    if (found === -1) {
      return false;
    }
    at = found + pieces[i].length;
  }
  const end = text.length - pieces[last].length;
  return end >= at && standsAt(pieces[last], text, end);
}

function find(piece: string, text: string, from: number): number {
  if (indexOf(piece, '?') === -1) {
    return indexOf(text, piece, from);
  }
  for (let at = from; at <= text.length - piece.length; at++) {
    if (standsAt(piece, text, at)) {
      return at;
    }
  }
  return -1;
}

function standsAt(piece: string, text: string, at: number): boolean {
  if (at + piece.length > text.length) {
    return false;
  }
  for (let i = 0; i < piece.length; i++) {
    const code = charCodeAt(piece, i);
    if (code !== QUESTION_MARK && code !== charCodeAt(text, at + i)) {
      return false;
    }
  }
  return true;
}

function isBlank(code: number): boolean {
  return code === SPACE || code === TAB;
}

function isQuote(code: number): boolean {
  return code === DOUBLE_QUOTE || code === SINGLE_QUOTE;
}

/** Letters, digits and the signs found in names of headers, fields and query parameters: - _ . $ % [ ] */
function isNameCode(code: number): boolean {
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

function skipBlanks(text: string, at: number): number {
  while (at < text.length && isBlank(charCodeAt(text, at))) {
    at++;
  }
  return at;
}

/** A header's value ends with its line; any other at its closing quote, or where the next pair may begin. */
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

/** Where the `@` stands that ends the credentials of a URL, -1 where it has none. */
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
