/** Names whose values are secret. */
import { OwnMap, uncurryThis } from '../runtime/intrinsics';
import { matchesGlob } from './glob';
import { isNameCode, redactText } from './redacted-text';

/**
 * Names whose values are secret, in upper or lower case; `*` matches any characters, `?` matches one. Too many are better
 * than too few: `*key*` also matches `keyboard`.
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

/** Decisions kept. */
const DECISIONS_MAX = 4_096;

/** Characters of a name that are compared. */
const NAME_MAX = 256;

const toLowerCase = uncurryThis(String.prototype.toLowerCase);
const charCodeAt = uncurryThis(String.prototype.charCodeAt);
const slice = uncurryThis(String.prototype.slice);
const exec = uncurryThis(RegExp.prototype.exec);

/** Decides which names have secret values, and removes such values from text. */
export class Redaction {
  readonly #globs: readonly (readonly string[])[];
  readonly #patterns: readonly RegExp[];
  #decisions = new OwnMap<string, boolean>();
  readonly #isSecret = (name: string): boolean => this.isSecret(name);

  /** @param redact names beside REDACTED_NAMES: strings of the same form, or RegExps that are tested against the name */
  constructor(redact: readonly (string | RegExp)[]) {
    const globs = [...REDACTED_NAMES];
    const patterns: RegExp[] = [];
    for (const entry of redact) {
      if (typeof entry === 'string') {
        globs.push(entry);
      }
      // A copy: the program's RegExp may be sticky, global or patched.
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
      if (matchesGlob(this.#globs[i], lower)) {
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

  /** Whether the whole text is such a name, as elements of rawHeaders and of argument lists can be. */
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

  /** The text without the secrets in it. */
  redactText(text: string): string {
    return redactText(text, this.#isSecret);
  }
}
