import { frameText } from './frame';
import { type Code, isIn, type Site, siteOf } from './site';

/** Call sites beyond this number share one. */
export const MAX_SITES = 16_384;

/** A stack to which the table can attach the number of its call site. */
export interface SitedStack {
  /** -1 until the table has numbered it. */
  site: number;
  frames(): string[];
}

/** Numbers the call sites of a log. Unlike stacks, they are kept for the whole log. */
export class SiteTable {
  /** By number. */
  readonly sites: Site[] = [];
  /** By number, whether the site is in code that was asked for; any other gives way to that of an ancestor. */
  readonly final: boolean[] = [];
  readonly #code: Code;
  readonly #numbers = new Map<string, number>();
  /** By number of a site and of its ancestor's. */
  readonly #inherited = new Map<number, number>();

  constructor(code: Code = 'user') {
    this.#code = code;
  }

  /** The number of the call site of a stack. Frames are parsed once for each distinct stack. */
  numberOf(stack: SitedStack): number {
    if (stack.site < 0) {
      stack.site = this.#intern(siteOf(stack.frames(), this.#code));
    }
    return stack.site;
  }

  /** The number for an operation of the site `number` whose place is taken from an ancestor of the site `ancestor`. */
  inherit(number: number, ancestor: number): number {
    const key = number * MAX_SITES + ancestor;
    let inherited = this.#inherited.get(key);
    if (inherited === undefined) {
      const { frame } = this.sites[ancestor];
      inherited =
        frame === undefined ? number : this.#intern({ frame, via: this.sites[number].via, inherited: true });
      this.#inherited.set(key, inherited);
    }
    return inherited;
  }

  #intern(site: Site): number {
    const key = `${site.via} ${site.inherited} ${site.frame === undefined ? '' : frameText(site.frame)}`;
    const known = this.#numbers.get(key);
    if (known !== undefined) {
      return known;
    }
    if (this.sites.length >= MAX_SITES) {
      return MAX_SITES - 1;
    }
    const last = this.sites.length === MAX_SITES - 1;
    const number = this.sites.push(last ? { frame: undefined, via: 'node', inherited: false } : site) - 1;
    this.final.push(isIn(this.#code, this.sites[number]));
    if (!last) {
      this.#numbers.set(key, number);
    }
    return number;
  }
}
