import type { RecordCursor } from '../decode/cursor';
import { BusyTime } from '../model/busy-time';
import type { Groups } from '../model/groups';
import { IdMap } from '../model/id-map';
import { NO_ROW, RAN_AGAIN } from '../model/live-operations';
import type { Operations } from '../model/operations';
import type { Run } from '../model/run';
import { NO_ROOT, RootTable } from './root-table';
import { closesIdleConnection, Source } from './source';

/** The id that Node gives the main script. No record of it is in a log. */
const MAIN = 1;
const NONE = -1;
/** A callback that took so long is worth its time in the request, whatever came of it. */
const LONG_MS = 1;

/** What is known of one run of the program. */
class RunState {
  /** The root of each operation. */
  readonly roots = new IdMap();
  readonly sources = new Map<number, Source>();
  /** The operation that ran last: a burst ends when another one runs. */
  lastId = NONE;
  /** The operation that was executing at the record before this one, if that was the init of a tick. */
  tickBy = NONE;
  lastInit = Number.NEGATIVE_INFINITY;
  /** Whether a timer was seen that closes an idle connection. */
  showsEnd = false;
}

/**
 * Finds the roots of a log, and which root each operation belongs to: that of its parent, unless the parent is a source,
 * whose runs begin roots; then that of the run. A part of a visitor, whose methods must call those of the same name.
 *
 * Memory: 5 bytes for each operation of the log, 68 for each root.
 */
export class Requests {
  readonly roots = new RootTable();
  readonly #groups: Groups;
  readonly #by: 'trigger' | 'execution';
  readonly #busy = new BusyTime();
  readonly #runs: RunState[] = [];

  constructor(operations: Operations, by: 'trigger' | 'execution') {
    this.#groups = operations.groups;
    this.#by = by;
  }

  /** Gives the root of the operation; NO_ROOT where it belongs to none. */
  init(run: Run, group: number, executionId: number, record: RecordCursor): number {
    const state = this.#stateOf(run);
    const { opid, time } = record;
    const parent = this.#by === 'trigger' ? record.parentopid : executionId;
    let root = this.#rootFor(run, state, parent, executionId, record);
    if (root === NONE || this.#isStreamOfPeer(group, executionId, record)) {
      root = this.roots.add(run.index, opid, 0, group, time, this.#busy.at(run, time));
    } else if (this.#endsRequest(run, state, root, executionId, record)) {
      root = NO_ROOT;
    } else {
      this.roots.operations[root]++;
      this.#extend(run, root, time);
    }
    state.tickBy = this.#groups.opOf(group) === 'TickObject' ? executionId : NONE;
    state.lastInit = time;
    state.roots.set(opid, root);
    const { kind } = this.#groups;
    const isHttp = this.#groups.opOf(group) === 'HTTPINCOMINGMESSAGE';
    if (isHttp || kind[group] === 'handle') {
      state.sources.set(opid, new Source(isHttp ? 'http' : 'event', group, root));
    }
    return root;
  }

  before(run: Run, row: number, group: number, record: RecordCursor): void {
    const { opid, time } = record;
    const state = this.#stateOf(run);
    this.#busy.before(run);
    const isNewBurst = state.lastId !== opid;
    state.lastId = opid;
    state.tickBy = NONE;
    const known = state.sources.get(opid);
    const source = known ?? this.#newSource(run, state, row, group, opid);
    if (source !== undefined) {
      source.before(isNewBurst || known === undefined, time, this.#busy.at(run, time));
    } else if (this.#groups.kind[group] !== 'timer') {
      this.#extend(run, state.roots.get(opid), time);
    }
  }

  /** Gives the root that the callback counts for; below NO_ROOT where none is known. */
  after(run: Run, record: RecordCursor): number {
    const { opid, time } = record;
    const state = this.#stateOf(run);
    state.tickBy = NONE;
    const source = state.sources.get(opid);
    const root = source === undefined ? state.roots.get(opid) : source.current;
    if (source !== undefined) {
      source.running = Math.max(0, source.running - 1);
    }
    if (root > NO_ROOT && this.#counts(run, state, source)) {
      this.roots.addRun(root, run.callbacks.self);
      this.#extend(run, root, time);
    }
    return root;
  }

  /** The requests of an operation in one run, in the order of time. */
  *of(run: number, opid: number): Generator<number> {
    const { roots } = this;
    for (let root = NO_ROOT + 1; root < roots.size; root++) {
      if (roots.opid[root] === opid && roots.run[root] === run && roots.request[root] > 0) {
        yield root;
      }
    }
  }

  /**
   * Whether a callback counts for its root. It does not where a source runs after its last request, or a timer fires, and
   * nothing comes of it: Node sets timers of its own, such as the one behind the header Date.
   */
  #counts(run: Run, state: RunState, source: Source | undefined): boolean {
    const { group, self, start } = run.callbacks;
    return source === undefined
      ? this.#groups.kind[group] !== 'timer' || self >= LONG_MS || state.lastInit >= start
      : source.burstHasWork || (source.kind === 'http' && state.showsEnd && !source.finished);
  }

  resolve(run: Run, record: RecordCursor): void {
    this.#extend(run, this.#stateOf(run).roots.get(record.opid), record.time);
  }

  destroy(run: Run, record: RecordCursor): void {
    this.#stateOf(run).sources.delete(record.opid);
  }

  leaveRun(): void {
    this.#busy.leaveRun();
  }

  #stateOf(run: Run): RunState {
    this.#runs[run.index] ??= new RunState();
    return this.#runs[run.index];
  }

  #extend(run: Run, root: number, time: number): void {
    if (root > NO_ROOT) {
      this.roots.extend(root, time, this.#busy.at(run, time));
    }
  }

  /** A timer is a source from its second run on; so is what began before the trace. */
  #newSource(run: Run, state: RunState, row: number, group: number, opid: number): Source | undefined {
    const known = state.roots.get(opid);
    const isTimer = row !== NO_ROW && this.#groups.kind[group] === 'timer';
    if (known >= NO_ROOT && !(isTimer && run.live.flags[row] & RAN_AGAIN)) {
      return undefined;
    }
    const source = new Source(isTimer ? 'event' : 'unknown', isTimer ? group : NONE, known);
    state.sources.set(opid, source);
    return source;
  }

  /** The root of what `parent` starts; NONE where nothing in the log has started it. */
  #rootFor(run: Run, state: RunState, parent: number, executionId: number, record: RecordCursor): number {
    const source = state.sources.get(parent);
    if (source !== undefined) {
      if (source.running > 0) {
        return this.#rootOfRun(run, state, source, parent, record);
      }
      // A socket is the trigger of what a request writes to it.
      const root =
        parent === executionId || executionId === MAIN
          ? NONE
          : this.#rootFor(run, state, executionId, executionId, record);
      return root === NONE ? source.current : root;
    }
    const root = state.roots.get(parent);
    if (root !== NONE) {
      return root;
    }
    if (parent === MAIN) {
      const main = this.roots.add(run.index, MAIN, 0, NONE, run.from, 0);
      state.roots.set(MAIN, main);
      return main;
    }
    return parent === executionId ? NONE : this.#rootFor(run, state, executionId, executionId, record);
  }

  #rootOfRun(run: Run, state: RunState, source: Source, opid: number, record: RecordCursor): number {
    if (!source.hasWork) {
      if (source.begins(record, state.showsEnd)) {
        const [time, busy] = source.begin();
        source.root = this.roots.add(run.index, opid, ++source.requests, source.group, time, busy);
        source.finished = false;
      }
      source.hasWork = true;
      source.burstHasWork = true;
    }
    return source.current;
  }

  /**
   * Whether the operation is the timer that closes an idle connection, which Node sets when a response has finished. It
   * belongs to no request, or the last request of a connection would last until the timer fires. Without stacks it is known
   * by what is recorded around it: Node queues a tick and sets the timer in one callback of a tick or a write.
   */
  #endsRequest(run: Run, state: RunState, root: number, executionId: number, record: RecordCursor): boolean {
    if (record.ops.names[record.op] !== 'Timeout' || root <= NO_ROOT) {
      return false;
    }
    const source = state.sources.get(this.roots.opid[root]);
    if (source === undefined || source.kind !== 'http' || source.root !== root) {
      return false;
    }
    const executing = run.callbacks.topGroup;
    const isEnd =
      closesIdleConnection(run, record) ??
      (state.tickBy === executionId &&
        executing >= 0 &&
        (this.#groups.kind[executing] === 'tick' || this.#groups.opOf(executing) === 'WRITE'));
    if (isEnd) {
      source.finished = true;
      state.showsEnd = true;
    }
    return isEnd;
  }

  /** A stream of HTTP/2 that the other side has opened is made inside a callback of its session. */
  #isStreamOfPeer(group: number, executionId: number, record: RecordCursor): boolean {
    return this.#groups.opOf(group) === 'HTTP2STREAM' && record.parentopid === executionId;
  }
}
