import type { LogReport } from '../report/log';
import type { OpGroup } from '../report/operation';
import type { Root } from '../roots/report';

/** Operations that are alike and have parents that are alike. */
export interface TreeNode extends OpGroup {
  /** Of the first one, as an example. */
  opid: number;
  count: number;
  /**
   * How many of `count` were started by an operation below this node: in a chain of promises all but the first. Such a
   * chain is one node.
   */
  again: number;
  wait: { count: number; total: number; max: number };
  run: { count: number; total: number; max: number };
  children: TreeNode[];
}

/** The answer of `analyzeTree`: which operation started which. */
export interface TreeReport {
  report: 'tree';
  log: LogReport;
  by: 'trigger' | 'execution';
  roots: TreeNode[];
  nodes: number;
  /** Operations counted at an ancestor because the tree had `MAX_TREE_NODES` nodes. */
  folded: number;
}

/** One operation on the path from the first cause; null where the value is not in the log. */
export interface PathStep extends OpGroup {
  opid: number;
  time: number | null;
  wait: number | null;
  run: number | null;
}

/** The answer to --op: from the operation back to the first cause. */
export interface PathReport {
  report: 'path';
  log: LogReport;
  by: 'trigger' | 'execution';
  opid: number;
  /**
   * One for each run that has the id, the root first; the parent of the first step is not in the log. Empty where no run
   * has the id. Of more than 10,000 steps those nearest to the operation are listed, and the root.
   */
  paths: { run: number; steps: PathStep[] }[];
}

/** The answer to --root: everything that one operation started, or with --request that one request started. */
export interface RootReport {
  report: 'root';
  log: LogReport;
  by: 'trigger' | 'execution';
  opid: number;
  /** One for each run that has the id. Empty where no run has it. */
  found: {
    run: number;
    root: PathStep;
    /** With `request`: which one this is about; `root` is then the operation that carried it. */
    request: number | null;
    /** The requests that the operation carried, the first 1,000 by time, the longest first; all figures are of all of them. */
    requests: Root[];
    requestCount: number;
    operations: number;
    /** From the root's init to the last thing that it or a descendant did. */
    elapsed: number;
    /** The three parts of `elapsed`: it or a descendant ran; none of them, but something else ran; nothing ran. */
    ran: number;
    queued: number;
    waited: number;
    /** What the root started, collapsed where alike. */
    started: TreeNode[];
  }[];
}
