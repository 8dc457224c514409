import type { OpGroup } from '../analyze';
import { frameText } from '../analyze/site/frame';
import type { GroupData } from './data';

/** Numbers groups and call sites in the order in which rows of the page first use them. */
export class GroupIndex {
  readonly groups: GroupData[] = [];
  readonly sites: string[] = [];
  readonly #folder: string;
  readonly #groupNumbers = new Map<string, number>();
  readonly #siteNumbers = new Map<string, number>();

  /** @param folder whose paths are shown relative to it */
  constructor(folder: string) {
    this.#folder = folder;
  }

  of({ op, area, kind, site, inherited }: OpGroup): number {
    const text = site === null ? null : this.shorten(frameText(site));
    const key = JSON.stringify([op, text, inherited]);
    let number = this.#groupNumbers.get(key);
    if (number === undefined) {
      const siteNumber = text === null ? -1 : numbered(text, this.sites, this.#siteNumbers);
      number = this.groups.push([op, area, kind, siteNumber, inherited ? 1 : 0]) - 1;
      this.#groupNumbers.set(key, number);
    }
    return number;
  }

  /** A text with call sites in it, its paths relative to the folder. */
  shorten(text: string): string {
    const folder = this.#folder;
    return text
      .replaceAll(`file://${folder}/`, '')
      .replaceAll(`(${folder}/`, '(')
      .replace(prefixOf(folder), '');
  }
}

function prefixOf(folder: string): RegExp {
  return new RegExp(`^${folder.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')}/`);
}

function numbered(text: string, list: string[], numbers: Map<string, number>): number {
  const known = numbers.get(text);
  if (known !== undefined) {
    return known;
  }
  numbers.set(text, list.length);
  return list.push(text) - 1;
}
