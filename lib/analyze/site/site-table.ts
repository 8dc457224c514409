import { frameText } from './frame';
import { type Site, siteOf } from './site';

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
  readonly #numbers = new Map<string, number>();

  /** The number of the call site of a stack. Frames are parsed once for each distinct stack. */
  numberOf(stack: SitedStack): number {
    if (stack.site < 0) {
      stack.site = this.#intern(siteOf(stack.frames()));
    }
    return stack.site;
  }

  /** The number for an operation whose site `number` has no frame, triggered by an operation of site `trigger`. */
  inherit(number: number, trigger: number): number {
    const { frame } = this.sites[trigger];
    if (frame === undefined) {
      return number;
    }
    return this.#intern({ frame, via: this.sites[number].via, inherited: true });
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
    if (!last) {
      this.#numbers.set(key, number);
    }
    return number;
  }
}
