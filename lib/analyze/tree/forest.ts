import { roomFor } from '../model/column';
import { type Groups, MAX_GROUPS } from '../model/groups';
import { round } from '../model/percentiles';
import type { TreeNode } from './report';

/** Operations that would need more nodes are counted at the node of their parent. */
export const MAX_TREE_NODES = 50_000;
/** Deeper nodes become siblings of their parent, so that a report can be rendered by recursion. */
const MAX_DEPTH = 100;

/** The node above all roots. */
export const ABOVE_ROOTS = 0;

/**
 * Which operation started which. A node stands for all operations with the same path of groups from the root. A group
 * that is already on the path gets no second node below itself; the operation is counted there, in `again`. So a chain of a
 * million promises is one node, and the depth of the tree depends on the program's call sites, not on its run time.
 */
export class Forest {
  folded = 0;
  #parent = new Int32Array(64).fill(-1);
  #group = new Int32Array(64).fill(-1);
  #depth = new Int32Array(64);
  #first = new Float64Array(64);
  #count = new Float64Array(64);
  #again = new Float64Array(64);
  #waits = new Float64Array(64);
  #waitTotal = new Float64Array(64);
  #waitMax = new Float64Array(64);
  #runs = new Float64Array(64);
  #runTotal = new Float64Array(64);
  #runMax = new Float64Array(64);
  #size = 1;
  /** (parent, group) -> node: a child of the parent, or an ancestor of the same group, which is then negated. */
  readonly #edges = new Map<number, number>();
  readonly #children: number[][] = [[]];

  get size(): number {
    return this.#size - 1;
  }

  /** Counts the operation `opid` of `group`, started by an operation of the node `parent`; gives its node. */
  add(parent: number, group: number, opid: number): number {
    const key = parent * MAX_GROUPS + group;
    let edge = this.#edges.get(key);
    if (edge === undefined) {
      edge = this.#edge(parent, group);
      // The tree is full. Storing this edge would only fill the map.
      if (edge === ABOVE_ROOTS) {
        this.folded++;
        return parent;
      }
      this.#edges.set(key, edge);
    }
    const node = edge < 0 ? -edge : edge;
    if (this.#count[node] === 0) {
      this.#first[node] = opid;
    }
    this.#count[node]++;
    if (edge < 0) {
      this.#again[node]++;
    }
    return node;
  }

  addWait(node: number, wait: number): void {
    this.#waits[node]++;
    this.#waitTotal[node] += wait;
    if (wait > this.#waitMax[node]) {
      this.#waitMax[node] = wait;
    }
  }

  addRun(node: number, self: number): void {
    this.#runs[node]++;
    this.#runTotal[node] += self;
    if (self > this.#runMax[node]) {
      this.#runMax[node] = self;
    }
  }

  /** The nodes under `node`, those that started most first. */
  report(groups: Groups, node = ABOVE_ROOTS): TreeNode[] {
    return this.#children[node]
      .map((child) => this.describe(groups, child))
      .sort((a, b) => b.count - a.count || b.run.total - a.run.total);
  }

  describe(groups: Groups, node: number): TreeNode {
    return {
      ...groups.describe(this.#group[node]),
      opid: this.#first[node],
      count: this.#count[node],
      again: this.#again[node],
      wait: {
        count: this.#waits[node],
        total: round(this.#waitTotal[node]),
        max: round(this.#waitMax[node]),
      },
      run: { count: this.#runs[node], total: round(this.#runTotal[node]), max: round(this.#runMax[node]) },
      children: this.report(groups, node),
    };
  }

  #edge(parent: number, group: number): number {
    for (let at = parent; at > ABOVE_ROOTS; at = this.#parent[at]) {
      if (this.#group[at] === group) {
        return -at;
      }
    }
    const above = this.#depth[parent] >= MAX_DEPTH ? this.#parent[parent] : parent;
    if (above !== parent) {
      const beside = this.#edges.get(above * MAX_GROUPS + group);
      if (beside !== undefined) {
        return beside;
      }
    }
    if (this.#size > MAX_TREE_NODES) {
      return ABOVE_ROOTS;
    }
    const node = this.#size++;
    this.#grow(this.#size);
    this.#parent[node] = above;
    this.#group[node] = group;
    this.#depth[node] = this.#depth[above] + 1;
    this.#children[above].push(node);
    this.#children.push([]);
    if (above !== parent) {
      this.#edges.set(above * MAX_GROUPS + group, node);
    }
    return node;
  }

  #grow(length: number): void {
    this.#parent = roomFor(this.#parent, length);
    this.#group = roomFor(this.#group, length);
    this.#depth = roomFor(this.#depth, length);
    this.#first = roomFor(this.#first, length);
    this.#count = roomFor(this.#count, length);
    this.#again = roomFor(this.#again, length);
    this.#waits = roomFor(this.#waits, length);
    this.#waitTotal = roomFor(this.#waitTotal, length);
    this.#waitMax = roomFor(this.#waitMax, length);
    this.#runs = roomFor(this.#runs, length);
    this.#runTotal = roomFor(this.#runTotal, length);
    this.#runMax = roomFor(this.#runMax, length);
  }
}
