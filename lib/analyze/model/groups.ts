import type { RecordCursor } from '../decode/cursor';
import type { OpTable } from '../decode/op-table';
import type { StackTable } from '../decode/stack-table';
import type { Kind, OpGroup } from '../report/operation';
import { frameText } from '../site/frame';
import type { Code, Site } from '../site/site';
import { SiteTable } from '../site/site-table';
import { isOneShot, kindOf } from './kind';

/** (op, call site) pairs beyond this number share a group. */
export const MAX_GROUPS = 65_536;

const NO_SITE = -1;
const STRIDE = 1 << 20;

/**
 * Numbers the pairs of op and call site. A group is such a number; all counts of the analyses are by group.
 *
 * Two groups may differ only in `Site.via`, what Node.js did between the user's line and the operation. Only the verdicts
 * of `leaks` need this difference; `merged` takes it away.
 */
export class Groups {
  /** By group: index into the op table, and number of the call site; -1 where there is none. */
  readonly op: number[] = [];
  readonly site: number[] = [];
  readonly kind: (Kind | null)[] = [];
  readonly oneShot: boolean[] = [];

  readonly #ops: OpTable;
  readonly #stacks: StackTable;
  readonly #sites: SiteTable;
  /** By op + 1, the group without a call site. */
  readonly #withoutSite: number[] = [];
  readonly #withSite = new Map<number, number>();
  /** By group, its merged group; -1 until it was asked for. */
  readonly #merged: number[] = [];
  readonly #mergedByName = new Map<string, number>();

  /** @param sites shared by the models of one decoder, because a stack keeps its number in one table */
  constructor(record: RecordCursor, code: Code = 'user', sites = new SiteTable(code)) {
    this.#sites = sites;
    this.#ops = record.ops;
    this.#stacks = record.stacks;
  }

  /** The group of a record: of its op and, in an init with a stack, its call site. */
  of(record: RecordCursor): number {
    const { op, stack } = record;
    if (stack < 0) {
      const group = this.#withoutSite[op + 1];
      return group === undefined ? this.#add(op, NO_SITE) : group;
    }
    return this.#of(op, this.#sites.numberOf(this.#stacks.at(stack)));
  }

  /** Whether the operations of a group had stacks, but take the place of an ancestor where one has a better one. */
  seeksPlace(group: number): boolean {
    const site = this.site[group];
    return site >= 0 && !this.#sites.final[site];
  }

  /** Whether descendants of an operation of the group can take its place. */
  hasPlace(group: number): boolean {
    return this.siteOf(group)?.frame !== undefined;
  }

  /**
   * The group for an operation of `group`, which seeks a place, by the groups of the operation that triggered it and of the
   * one that was executing, -1 where there is none. Code that was asked for comes before other code, the own stack before
   * the ancestors, and what triggered an operation before what was executing.
   */
  under(group: number, trigger: number, execution: number): number {
    const from = this.#isFinal(trigger)
      ? trigger
      : this.#isFinal(execution)
        ? execution
        : this.hasPlace(group)
          ? -1
          : trigger >= 0 && this.hasPlace(trigger)
            ? trigger
            : execution;
    return from < 0 || this.site[from] < 0
      ? group
      : this.#of(this.op[group], this.#sites.inherit(this.site[group], this.site[from]));
  }

  /** The first group that reports describe as they describe `group`: the same but for `Site.via`. */
  merged(group: number): number {
    const known = this.#merged[group];
    if (known >= 0) {
      return known;
    }
    const found = this.#findMerged(group);
    while (this.#merged.length <= group) {
      this.#merged.push(-1);
    }
    this.#merged[group] = found;
    return found;
  }

  get size(): number {
    return this.op.length;
  }

  opOf(group: number): string | undefined {
    const op = this.op[group];
    return op < 0 ? undefined : this.#ops.names[op];
  }

  areaOf(group: number): string | undefined {
    const op = this.op[group];
    return op < 0 ? undefined : this.#ops.areas[op];
  }

  siteOf(group: number): Site | undefined {
    return this.site[group] < 0 ? undefined : this.#sites.sites[this.site[group]];
  }

  /** The group as an object for reports. */
  describe(group: number): OpGroup {
    const site = this.siteOf(group);
    return {
      op: this.opOf(group) ?? null,
      area: this.areaOf(group) ?? null,
      kind: this.kind[group],
      site: site?.frame ?? null,
      inherited: site?.inherited ?? false,
    };
  }

  #isFinal(group: number): boolean {
    return group >= 0 && this.site[group] >= 0 && this.#sites.final[this.site[group]];
  }

  #findMerged(group: number): number {
    const { frame, inherited } = this.siteOf(group) ?? {};
    const op = this.op[group];
    if (op < 0) {
      return group;
    }
    if (frame === undefined) {
      return this.#withoutSite[op + 1] ?? this.#add(op, NO_SITE);
    }
    const key = `${op} ${inherited} ${frameText(frame)}`;
    const first = this.#mergedByName.get(key) ?? group;
    this.#mergedByName.set(key, first);
    return first;
  }

  #of(op: number, site: number): number {
    const group = this.#withSite.get(op * STRIDE + site);
    return group === undefined ? this.#add(op, site) : group;
  }

  #add(op: number, site: number): number {
    if (this.op.length >= MAX_GROUPS) {
      return MAX_GROUPS - 1;
    }
    const last = this.op.length === MAX_GROUPS - 1;
    const group = this.op.push(last ? -1 : op) - 1;
    this.site.push(last ? NO_SITE : site);
    const kind = last || op < 0 ? null : kindOf(this.#ops.names[op], this.#ops.areas[op]);
    this.kind.push(kind);
    this.oneShot.push(kind !== null && isOneShot(kind, this.#ops.areas[op]));
    if (site === NO_SITE) {
      while (this.#withoutSite.length < op + 1) {
        this.#withoutSite.push(undefined as never);
      }
      this.#withoutSite[op + 1] = group;
    } else if (!last) {
      this.#withSite.set(op * STRIDE + site, group);
    }
    return group;
  }
}
