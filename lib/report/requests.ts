import type { RecordCursor } from '../analyze/decode/cursor';
import { roomFor } from '../analyze/model/column';
import { IdMap } from '../analyze/model/id-map';
import type { Operations } from '../analyze/model/operations';
import { Percentiles, round } from '../analyze/model/percentiles';
import type { Run } from '../analyze/model/run';
import { OperationVisitor } from '../analyze/model/visitor';
import type { RequestsData, SpanData } from './data';
import { END, FIRST_BEFORE, GROUP, PartStore, RAN, START, STRIDE } from './part-store';

/** The page has the slowest of them, and of each so many parts: those that took longest. */
const MAX_REQUESTS = 200;
const MAX_PARTS_SHOWN = 50;
/**
 * Node makes one of these for each connection. For each message it calls it several times in a row: with the head, at the
 * end of the message, and when the bytes are used up.
 */
const HTTP_REQUEST = 'HTTPINCOMINGMESSAGE';
/** What a server accepts begins something of its own. */
const SERVER = /SERVER$/;

/** Which request each operation of a run belongs to, and which of its parts it is. */
interface Members {
  request: IdMap;
  part: IdMap;
}

/**
 * The requests of an HTTP server, and all other operations that nothing in the log started, each with what it led to.
 * What a callback starts belongs to the request that it belongs to itself.
 *
 *     HTTPINCOMINGMESSAGE  before ─┐ begins a request, unless it was called last too
 *       FSREQCALLBACK       init   │ belongs to the request
 *     HTTPINCOMINGMESSAGE  after  ─┘
 *       FSREQCALLBACK       before ... what is started in here belongs to it too
 */
export class Requests extends OperationVisitor {
  readonly #operations: Operations;
  readonly #members: Members[] = [];
  /** By run, the operation that was called last. */
  readonly #calledLast: number[] = [];
  readonly #parts = new PartStore(2 * MAX_REQUESTS, (request) => this.#to[request] - this.#from[request]);
  #count = 0;
  #http = 0;
  #isHttp = new Uint8Array(64);
  #opid = new Float64Array(64);
  #group = new Int32Array(64);
  #from = new Float64Array(64);
  #to = new Float64Array(64);
  /** For how long any callback had run at those two times. */
  #busyFrom = new Float64Array(64);
  #busyTo = new Float64Array(64);
  #ran = new Float64Array(64);
  #started = new Float64Array(64);
  /** Time inside callbacks before the outermost open one began. */
  #busyBefore = 0;

  constructor(operations: Operations) {
    super();
    this.#operations = operations;
  }

  override init(run: Run, _row: number, group: number, executionId: number, record: RecordCursor): void {
    const { opid, time } = record;
    if (this.#operations.groups.opOf(group) === HTTP_REQUEST || this.#isTimerOfNode(group)) {
      return;
    }
    const members = this.#membersOf(run);
    let request = members.request.get(executionId);
    if (request >= 0 && this.#isAccepted(run, executionId)) {
      request = -1;
    }
    if (request < 0) {
      request = this.#begin(run, opid, group, time, false);
    } else {
      this.#started[request]++;
      this.#extend(run, request, time);
    }
    members.request.set(opid, request);
    const part = this.#parts.add(request, group, time);
    if (part >= 0) {
      members.part.set(opid, part);
    }
  }

  override before(run: Run, _row: number, group: number, record: RecordCursor): void {
    const { opid, time } = record;
    const { request: requests, part: parts } = this.#membersOf(run);
    if (run.callbacks.depth === 0) {
      this.#busyBefore = run.busy;
    }
    let request = requests.get(opid);
    if (this.#operations.groups.opOf(group) === HTTP_REQUEST) {
      if (request < 0 || this.#calledLast[run.index] !== opid) {
        request = this.#begin(run, opid, group, time, true);
        requests.set(opid, request);
        parts.set(opid, this.#parts.add(request, group, time));
      }
    }
    this.#calledLast[run.index] = opid;
    if (request < 0) {
      return;
    }
    this.#extend(run, request, time);
    const numbers = this.#parts.at(request);
    const at = parts.get(opid) * STRIDE;
    if (numbers !== undefined && at >= 0 && Number.isNaN(numbers[at + FIRST_BEFORE])) {
      numbers[at + FIRST_BEFORE] = time;
    }
  }

  override after(run: Run, _row: number, record: RecordCursor): void {
    const { opid, time } = record;
    const { request: requests, part } = this.#membersOf(run);
    const request = requests.get(opid);
    if (request < 0) {
      return;
    }
    const { self } = run.callbacks;
    this.#ran[request] += self;
    this.#extend(run, request, time);
    const numbers = this.#parts.at(request);
    const at = part.get(opid) * STRIDE;
    if (numbers !== undefined && at >= 0) {
      numbers[at + END] = time;
      numbers[at + RAN] += self;
    }
  }

  override resolve(run: Run, row: number, _group: number, record: RecordCursor): void {
    const { request: requests, part } = this.#membersOf(run);
    const id = run.live.id[row];
    const request = requests.get(id);
    if (request < 0) {
      return;
    }
    this.#extend(run, request, record.time);
    const numbers = this.#parts.at(request);
    const at = part.get(id) * STRIDE;
    if (numbers !== undefined && at >= 0) {
      numbers[at + END] = Math.max(numbers[at + END], record.time);
    }
  }

  override leaveRun(): void {
    this.#busyBefore = 0;
  }

  /** @param groupOf the index in the page of a group of the log */
  data(groupOf: (group: number) => number): RequestsData {
    const kind = this.#http > 0 ? 'http' : 'roots';
    const percentiles = new Percentiles();
    const chosen: number[] = [];
    for (let request = 0; request < this.#count; request++) {
      // An HTTP message that started nothing is the end of one that did, as its body.
      if (kind === 'http' ? this.#isHttp[request] && this.#started[request] > 0 : this.#isRoot(request)) {
        percentiles.add(0, this.#elapsed(request));
        chosen.push(request);
      }
    }
    const { count, p50, p95, p99, max } = percentiles.get(0);
    const slowest = chosen
      .sort((a, b) => this.#elapsed(b) - this.#elapsed(a))
      .slice(0, MAX_REQUESTS)
      .map((request) => this.#span(request, groupOf));
    return { kind, count, p50, p95, p99, max, slowest };
  }

  #membersOf(run: Run): Members {
    this.#members[run.index] ??= { request: new IdMap(), part: new IdMap() };
    return this.#members[run.index];
  }

  /** Whether Node set it for itself, as to close an idle connection: it fires long after the answer. */
  #isTimerOfNode(group: number): boolean {
    const { groups } = this.#operations;
    const site = groups.kind[group] === 'timer' ? groups.siteOf(group) : undefined;
    return site !== undefined && site.via !== 'user';
  }

  #isAccepted(run: Run, executionId: number): boolean {
    const row = run.live.find(executionId);
    return row >= 0 && SERVER.test(this.#operations.groups.opOf(run.live.group[row]) ?? '');
  }

  /** Whether it ran, and is no server, which begins with the program and ends with it. */
  #isRoot(request: number): boolean {
    return this.#ran[request] > 0 && !SERVER.test(this.#operations.groups.opOf(this.#group[request]) ?? '');
  }

  #elapsed(request: number): number {
    return this.#to[request] - this.#from[request];
  }

  #begin(run: Run, opid: number, group: number, time: number, isHttp: boolean): number {
    const request = this.#count++;
    if (request >= this.#opid.length) {
      this.#grow(request + 1);
    }
    this.#http += isHttp ? 1 : 0;
    this.#isHttp[request] = isHttp ? 1 : 0;
    this.#opid[request] = opid;
    this.#group[request] = group;
    this.#from[request] = time;
    this.#to[request] = time;
    this.#busyFrom[request] = this.#busyAt(run, time);
    this.#busyTo[request] = this.#busyFrom[request];
    this.#parts.open(request);
    return request;
  }

  #extend(run: Run, request: number, time: number): void {
    if (time >= this.#to[request]) {
      this.#to[request] = time;
      this.#busyTo[request] = this.#busyAt(run, time);
    }
  }

  /** For how long any callback has run until `time`, the open one included. */
  #busyAt(run: Run, time: number): number {
    const open = run.callbacks.outermost();
    return open === undefined ? run.busy : this.#busyBefore + Math.max(0, time - open.start);
  }

  #span(request: number, groupOf: (group: number) => number): SpanData {
    const time = this.#from[request];
    const elapsed = this.#elapsed(request);
    const run = Math.min(this.#ran[request], elapsed);
    const busy = this.#busyTo[request] - this.#busyFrom[request];
    const queued = Math.min(Math.max(0, busy - run), elapsed - run);
    return {
      opid: this.#opid[request],
      group: groupOf(this.#group[request]),
      time,
      wait: round(elapsed - run - queued),
      queued: round(queued),
      run: round(run),
      elapsed: round(elapsed),
      operations: this.#started[request],
      parts: this.#partsOf(request, time, groupOf),
    };
  }

  #partsOf(request: number, time: number, groupOf: (group: number) => number): SpanData['parts'] {
    const numbers = this.#parts.at(request) ?? [];
    const places = Array.from({ length: numbers.length / STRIDE }, (_, part) => part * STRIDE);
    const length = (at: number) => numbers[at + END] - numbers[at + START];
    return places
      .sort((a, b) => length(b) - length(a))
      .slice(0, MAX_PARTS_SHOWN)
      .sort((a, b) => a - b)
      .map((at) => {
        const firstBefore = numbers[at + FIRST_BEFORE];
        return [
          groupOf(numbers[at + GROUP]),
          round(numbers[at + START] - time),
          Number.isNaN(firstBefore) ? null : round(firstBefore - time),
          round(numbers[at + END] - time),
          round(numbers[at + RAN]),
        ];
      });
  }

  #grow(length: number): void {
    this.#isHttp = roomFor(this.#isHttp, length);
    this.#opid = roomFor(this.#opid, length);
    this.#group = roomFor(this.#group, length);
    this.#from = roomFor(this.#from, length);
    this.#to = roomFor(this.#to, length);
    this.#busyFrom = roomFor(this.#busyFrom, length);
    this.#busyTo = roomFor(this.#busyTo, length);
    this.#ran = roomFor(this.#ran, length);
    this.#started = roomFor(this.#started, length);
  }
}
