import { Decoder } from '../decode/decoder';
import { round } from '../model/histograms';
import { IdMap } from '../model/id-map';
import { follow, Operations, Watcher } from '../model/operations';
import type { Run } from '../model/run';
import type { ReadOptions } from '../read/reader';
import type { LogSource } from '../read/source';
import type { LogReport, OpGroup, RootReport } from '../report';
import { Forest, TOP } from './forest';

/** The answer to `analyzeTree` with `root`. */
export async function analyzeRoot(
  source: LogSource,
  options: ReadOptions,
  by: 'trigger' | 'execution',
  opid: number,
): Promise<RootReport> {
  const decoder = new Decoder();
  const root = new Root(decoder, by, opid);
  return root.report(await follow(source, options, decoder, root.operations));
}

/** One run's part: the root and all that descends from it. */
interface Family {
  forest: Forest;
  nodes: IdMap;
  /** -1 where the root's own init is not in the log. */
  group: number;
  node: number;
  wait: number;
  run: number;
  operations: number;
  /** The root's init, or the first thing known of it, and the last thing that a member did. */
  from: number;
  to: number;
  /** How long anything had run at those two times. */
  busyFrom: number;
  busyTo: number;
  /** How long the members themselves ran. */
  ran: number;
}

/**
 * Splits the time of one operation and its descendants in three, which add up to the time from its init to the last that
 * any of them did:
 *
 *     ran      one of them ran                    (their callbacks, less what was nested in them)
 *     queued   something else ran instead         (all callbacks in that time, less `ran`)
 *     waited   nothing ran: the loop was at rest  (the rest)
 */
class Root extends Watcher {
  readonly operations: Operations;
  readonly #by: 'trigger' | 'execution';
  readonly #opid: number;
  readonly #families: Family[] = [];
  /** Time inside callbacks before the outermost open one began. */
  #busyBefore = 0;

  constructor(decoder: Decoder, by: 'trigger' | 'execution', opid: number) {
    super();
    this.operations = new Operations(decoder, this);
    this.#by = by;
    this.#opid = opid;
  }

  override started(run: Run, _row: number, group: number, exec: number, decoder: Decoder): void {
    const { opid, time } = decoder;
    const parent = this.#by === 'trigger' ? decoder.parentopid : exec;
    let family = this.#families[run.index];
    if (opid === this.#opid) {
      // Anything seen before its init belonged to another life of the id.
      family = this.#found(run, group, time);
      family.node = family.forest.add(TOP, group, opid);
      family.nodes.set(opid, family.node);
      return;
    }
    if (parent === this.#opid && family === undefined) {
      family = this.#found(run, -1, time);
    }
    if (family === undefined) {
      return;
    }
    const above = parent === this.#opid ? family.node : family.nodes.get(parent);
    if (above < 0) {
      return;
    }
    family.nodes.set(opid, family.forest.add(above, group, opid));
    family.operations++;
    this.#seen(run, family, time);
  }

  override waited(run: Run, row: number, _group: number, wait: number): void {
    const family = this.#families[run.index];
    if (family === undefined) {
      return;
    }
    const opid = run.live.id[row];
    const node = family.nodes.get(opid);
    if (node > TOP) {
      family.forest.waited(node, wait);
    }
    if (opid === this.#opid) {
      family.wait = wait;
    }
  }

  override entered(run: Run, _row: number, _group: number, time: number, decoder: Decoder): void {
    if (run.callbacks.depth === 0) {
      this.#busyBefore = run.busy;
    }
    const { opid } = decoder;
    if (opid === this.#opid) {
      this.#families[run.index] ??= this.#found(run, -1, time);
    }
    const family = this.#families[run.index];
    if (family !== undefined && this.#isMember(family, opid)) {
      this.#seen(run, family, time);
    }
  }

  override ran(run: Run, _row: number, opid: number, time: number): void {
    const family = this.#families[run.index];
    if (family === undefined || !this.#isMember(family, opid)) {
      return;
    }
    const { self } = run.callbacks;
    family.ran += self;
    if (opid === this.#opid) {
      family.run += self;
    }
    const node = family.nodes.get(opid);
    if (node > TOP) {
      family.forest.ran(node, self);
    }
    this.#seen(run, family, time);
  }

  override settled(run: Run, row: number, _group: number, time: number): void {
    const family = this.#families[run.index];
    if (family !== undefined && this.#isMember(family, run.live.id[row])) {
      this.#seen(run, family, time);
    }
  }

  override paused(): void {
    this.#busyBefore = 0;
  }

  report(log: LogReport): RootReport {
    const { groups } = this.operations;
    const found = this.#families.flatMap((family, run) => {
      const { group, wait, from, to, busyFrom, busyTo, ran, forest, node } = family;
      const elapsed = Math.max(0, to - from);
      const own = Math.min(ran, elapsed);
      const queued = Math.min(Math.max(0, busyTo - busyFrom - own), elapsed - own);
      const described: OpGroup =
        group < 0
          ? { op: null, area: null, kind: null, site: null, inherited: false }
          : groups.describe(group);
      return {
        run,
        root: {
          ...described,
          opid: this.#opid,
          time: from,
          wait: Number.isNaN(wait) ? null : round(wait),
          run: round(family.run),
        },
        operations: family.operations,
        elapsed: round(elapsed),
        ran: round(own),
        queued: round(queued),
        waited: round(elapsed - own - queued),
        started: forest.report(groups, node),
      };
    });
    return { report: 'root', log, by: this.#by, opid: this.#opid, found };
  }

  #isMember(family: Family, opid: number): boolean {
    return opid === this.#opid || family.nodes.get(opid) >= 0;
  }

  #found(run: Run, group: number, time: number): Family {
    const busy = this.#busyAt(run, time);
    const family: Family = {
      forest: new Forest(),
      nodes: new IdMap(),
      group,
      node: TOP,
      wait: Number.NaN,
      run: 0,
      operations: 0,
      from: time,
      to: time,
      busyFrom: busy,
      busyTo: busy,
      ran: 0,
    };
    this.#families[run.index] = family;
    return family;
  }

  #seen(run: Run, family: Family, time: number): void {
    if (time < family.to) {
      return;
    }
    family.to = time;
    family.busyTo = this.#busyAt(run, time);
  }

  /** How long anything has run until `time`, the open callback included. */
  #busyAt(run: Run, time: number): number {
    const open = run.callbacks.outermost();
    return open === undefined ? run.busy : this.#busyBefore + Math.max(0, time - open.start);
  }
}
