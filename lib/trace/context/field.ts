/** The names of fields, each with its encoded text. */
import { quoteAscii } from '../payload/json';
import { createLiteral } from '../payload/literal';
import type { Literal } from '../payload/text-as-doubles';
import { OwnMap, uncurryThis } from '../runtime/intrinsics';
import type { Redaction } from './redaction';

/** Characters kept of a field's name. */
export const CONTEXT_KEY_MAX = 128;

/** Fields kept. */
const FIELDS_KEPT = 4_096;

/** The fields by which Node links its timers and immediates in lists: they lead to other operations and their contents. */
const LINKS: readonly string[] = ['_idleNext', '_idlePrev'];

const slice = uncurryThis(String.prototype.slice);

/** What is computed once for each name of a field. */
export interface Field {
  readonly key: string;
  /** `,"name":` */
  readonly literal: Literal;
  /** `,"name":null` and the like: most fields hold one of these. */
  readonly withNull: Literal;
  readonly withTrue: Literal;
  readonly withFalse: Literal;
  readonly isSecret: boolean;
  readonly isLink: boolean;
  /** The field that last followed this one. It is the right one for most objects, and saves the look-up. */
  next: Field | undefined;
}

/** Fields by name; keeps text only. */
export class FieldTable {
  readonly #redaction: Redaction;
  #fields = new OwnMap<string, Field>();
  /** Before the first field of a resource, and of every other object. */
  resourceStart: Field;
  objectStart: Field;

  constructor(redaction: Redaction) {
    this.#redaction = redaction;
    this.resourceStart = this.#create('');
    this.objectStart = this.#create('');
  }

  find(key: string): Field {
    let field = this.#fields.get(key);
    if (field === undefined) {
      field = this.#create(key);
      if (key.length > CONTEXT_KEY_MAX) {
        return field;
      }
      if (this.#fields.size >= FIELDS_KEPT) {
        this.#fields = new OwnMap();
        // otherwise the old fields would stay reachable
        this.resourceStart = this.#create('');
        this.objectStart = this.#create('');
      }
      this.#fields.set(key, field);
    }
    return field;
  }

  #create(key: string): Field {
    const isCut = key.length > CONTEXT_KEY_MAX;
    const name =
      this.#redaction.redactText(isCut ? slice(key, 0, CONTEXT_KEY_MAX) : key) + (isCut ? '...' : '');
    let isLink = false;
    for (let i = 0; i < LINKS.length; i++) {
      if (key === LINKS[i]) {
        isLink = true;
      }
    }
    const start = `,${quoteAscii(name)}:`;
    return {
      key,
      literal: createLiteral(start),
      withNull: createLiteral(`${start}null`),
      withTrue: createLiteral(`${start}true`),
      withFalse: createLiteral(`${start}false`),
      isSecret: this.#redaction.isSecret(key),
      isLink,
      next: undefined,
    };
  }
}
