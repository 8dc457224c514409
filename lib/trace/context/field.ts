import { quoteAscii } from '../payload/json';
import { createLiteral } from '../payload/literal';
import type { Literal } from '../payload/words';
import { OwnMap, uncurryThis } from '../runtime/intrinsics';
import type { Redaction } from './redaction';

/** Characters kept of a field's name. */
export const CONTEXT_KEY_MAX = 128;

/** Names of fields whose fragments are kept. */
const FIELDS_KEPT = 4_096;

/** The lists in which Node strings its timers and immediates together: other operations, and their contents. */
const LINKS: readonly string[] = ['_idleNext', '_idlePrev'];

const slice = uncurryThis(String.prototype.slice);

/** What is decided once for each name of a field. */
export interface Field {
  readonly key: string;
  /** `,"name":` */
  readonly fragment: Literal;
  /** `,"name":null` and the like: most fields hold one of these. */
  readonly withNull: Literal;
  readonly withTrue: Literal;
  readonly withFalse: Literal;
  readonly secret: boolean;
  readonly link: boolean;
  /** The field that last followed this one: right for most objects, and spares the look-up. */
  next: Field | undefined;
}

/** Fields by name; holds text only. */
export class FieldTable {
  readonly #redaction: Redaction;
  #fields = new OwnMap<string, Field>();
  /** Stand before the first field of a resource, and of every other object. */
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
        // or the old fields would live on behind them
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
    let link = false;
    for (let i = 0; i < LINKS.length; i++) {
      if (key === LINKS[i]) {
        link = true;
      }
    }
    const start = `,${quoteAscii(name)}:`;
    return {
      key,
      fragment: createLiteral(start),
      withNull: createLiteral(`${start}null`),
      withTrue: createLiteral(`${start}true`),
      withFalse: createLiteral(`${start}false`),
      secret: this.#redaction.isSecret(key),
      link,
      next: undefined,
    };
  }
}
