import type { Decoder } from '../decode/decoder';
import type { Ops } from '../decode/op-table';
import type { Kind, OpGroup } from '../report';
import { type Stacks, siteText } from '../stack/stack-table';
import { isOneShot, kindOf } from './kind';

/** Beyond this number of (op, call site) pairs all further ones share a group. */
export const MAX_GROUPS = 65_536;

const NO_SITE = -1;
const STRIDE = 1 << 20;

/** Numbers the pairs of op and call site by which everything is counted. */
export class Groups {
  /** By group. -1 where there is none. */
  readonly op: number[] = [];
  readonly site: number[] = [];
  readonly kind: (Kind | null)[] = [];
  readonly oneShot: boolean[] = [];

  readonly #ops: Ops;
  readonly #stacks: Stacks;
  readonly #bare: number[] = [];
  readonly #sited = new Map<number, number>();
  /** By group, the one that stands for it in reports; -1 where nobody has asked. */
  readonly #alike: number[] = [];
  readonly #named = new Map<string, number>();

  constructor(decoder: Decoder) {
    this.#ops = decoder.ops;
    this.#stacks = decoder.stacks;
  }

  /** The group of a record: of its op and, in an init with a stack, its call site. */
  of(decoder: Decoder): number {
    const { op, stack } = decoder;
    if (stack < 0) {
      const bare = this.#bare[op + 1];
      return bare === undefined ? this.#add(op, NO_SITE) : bare;
    }
    return this.#of(op, this.#stacks.siteOf(stack));
  }

  /** Whether the operations of a group had stacks, but no frame of the user's in them. */
  isRootless(group: number): boolean {
    const site = this.site[group];
    return site >= 0 && this.#stacks.sites[site].frame === undefined;
  }

  /** The group of an operation of `group`, which is rootless, that one of the group `trigger` started. */
  inherit(group: number, trigger: number): number {
    const site = this.site[trigger];
    return site < 0 ? group : this.#of(this.op[group], this.#stacks.inherit(this.site[group], site));
  }

  /**
   * The group that stands for all which a report names alike: what Node.js did between the user's line and the operation
   * (`Site.via`) tells a leak from none, and is seen in no other answer.
   */
  alike(group: number): number {
    const known = this.#alike[group];
    if (known >= 0) {
      return known;
    }
    const found = this.#findAlike(group);
    while (this.#alike.length <= group) {
      this.#alike.push(-1);
    }
    this.#alike[group] = found;
    return found;
  }

  #findAlike(group: number): number {
    const { frame, inherited } = this.siteFor(group) ?? {};
    const op = this.op[group];
    if (op < 0) {
      return group;
    }
    if (frame === undefined) {
      return this.#bare[op + 1] ?? this.#add(op, NO_SITE);
    }
    const key = `${op} ${inherited} ${siteText(frame)}`;
    const first = this.#named.get(key) ?? group;
    this.#named.set(key, first);
    return first;
  }

  #of(op: number, site: number): number {
    const sited = this.#sited.get(op * STRIDE + site);
    return sited === undefined ? this.#add(op, site) : sited;
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
      while (this.#bare.length < op + 1) {
        this.#bare.push(undefined as never);
      }
      this.#bare[op + 1] = group;
    } else if (!last) {
      this.#sited.set(op * STRIDE + site, group);
    }
    return group;
  }

  get size(): number {
    return this.op.length;
  }

  siteFor(group: number) {
    return this.site[group] < 0 ? undefined : this.#stacks.sites[this.site[group]];
  }

  /** The group as reports name it. */
  describe(group: number): OpGroup {
    const op = this.op[group];
    return {
      op: op < 0 ? null : this.#ops.names[op],
      area: op < 0 ? null : (this.#ops.areas[op] ?? null),
      kind: this.kind[group],
      site: this.siteFor(group)?.frame ?? null,
      inherited: this.siteFor(group)?.inherited ?? false,
    };
  }
}
