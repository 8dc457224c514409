/**
 * Compares what a plain listener saw with what the tracer's log says. The log is right when it has the same events in
 * the same order, each with the fields that the listener's own readings lead to.
 */
import * as asyncHooks from 'node:async_hooks';
import { areaOf, opOf } from '../../lib/log/area';
import type { InitRecord, OperationPhase, OperationRecord, TraceRecord } from '../../lib/log/event';
import type { Watched } from './listener';

// Missing in @types/node 20.
const { asyncWrapProviders } = asyncHooks as unknown as { asyncWrapProviders: Record<string, number> };

export interface CompareOptions {
  /** The options of the tracer that change what its log holds. */
  promises?: boolean;
  promiseDestroy?: boolean;
  /** Which operations the log holds; the op is undefined where the tracer knows none. All by default. */
  selects?: (op: string | undefined, area: string | undefined) => boolean;
  /** Whether the listener asked for destroys. Where not, the log's own destroys are taken as they are. */
  destroy?: boolean;
}

/** A record as the listener's events lead to it. */
export interface Expected {
  opid: number;
  op?: string;
  phase: OperationPhase;
  area?: string;
  parentopid?: number;
  parentop?: string;
  execopid?: number;
  /** The listener's clock, ms, at this event, and at the next one that is not the tracer's own. */
  t: number;
  tNext: number;
}

/** The records that a log of `watched` must hold. */
export function expectedRecords(
  { events }: Pick<Watched, 'events'>,
  options: CompareOptions = {},
): Expected[] {
  const { promises = true, promiseDestroy = true, selects = () => true } = options;
  const own = new Set<number>();
  /** All promises, and those whose init a tracer saw. */
  const promiseIds = new Set<number>();
  const seenPromises = new Set<number>();
  /** What a tracer can know: the ops of operations whose init it saw, until it sees their destroy. */
  const known = new Map<number, string>();
  const expected: Expected[] = [];
  let tracing = false;
  let unfinished: Expected | undefined;

  for (const { phase, id, t, ...init } of events) {
    if (phase === 'on' || phase === 'off') {
      tracing = phase === 'on';
      continue;
    }
    if (init.own) own.add(id);
    if (own.has(id)) continue;
    if (unfinished !== undefined) unfinished.tNext = t;
    unfinished = undefined;
    if (init.type === 'PROMISE') promiseIds.add(id);
    if (!tracing) continue;
    if (init.type === 'PROMISE') seenPromises.add(id);

    const record: Expected = { opid: id, phase, t, tNext: Number.POSITIVE_INFINITY };
    if (phase === 'init') {
      const type = init.type as string;
      known.set(id, opOf(type, Object.hasOwn(asyncWrapProviders, type)));
      record.parentopid = init.trigger as number;
      if (known.has(record.parentopid)) record.parentop = known.get(record.parentopid);
      if (init.execution !== init.trigger) record.execopid = init.execution;
    }
    if (known.has(id)) {
      record.op = known.get(id) as string;
      record.area = areaOf(record.op);
    }
    // A promise whose init no tracer saw is an operation without op, as any other; what runs tells that it is one.
    const isLeftOut =
      phase === 'destroy'
        ? seenPromises.has(id) && !(promises && promiseDestroy)
        : promiseIds.has(id) && !promises;
    if (phase === 'destroy' && !isLeftOut) known.delete(id);
    if (isLeftOut || !selects(record.op, record.area)) continue;
    unfinished = record;
    expected.push(record);
  }
  return expected;
}

/** Records of operations alone, without what the comparison does not speak of. */
function isOperation(record: TraceRecord): record is OperationRecord {
  return 'opid' in record;
}

const PROBLEMS_MAX = 12;

/**
 * @param watched what the listener saw
 * @param records the log's records, in order
 * @returns what is wrong with the log, one sentence each, the first ones only; nothing where it is right
 */
export function compare(
  watched: Pick<Watched, 'events' | 'epoch'>,
  records: readonly TraceRecord[],
  options: CompareOptions = {},
): string[] {
  const problems: string[] = [];
  for (const record of records)
    if (record.phase === 'lost') problems.push(`${record.count} records were lost`);
  const ignoresDestroys = options.destroy === false;
  const operations = records.filter(isOperation);
  const actual = ignoresDestroys ? operations.filter(({ phase }) => phase !== 'destroy') : operations;
  const expected = expectedRecords(watched, options);

  problems.push(...compareEachOperation(expected, actual, ignoresDestroys));
  if (problems.length > 0) return problems.slice(0, PROBLEMS_MAX);
  problems.push(...compareOrder(expected, actual));
  if (problems.length > 0) return problems.slice(0, PROBLEMS_MAX);
  const destroyed = ignoresDestroys
    ? new Set(operations.filter(isDestroy).map(({ opid }) => opid))
    : new Set<number>();
  problems.push(...compareFields(expected, actual, destroyed));
  problems.push(...compareTimes(expected, actual, watched.epoch));
  if (ignoresDestroys) problems.push(...checkDestroys(operations, watched));
  return problems.slice(0, PROBLEMS_MAX);
}

function isDestroy({ phase }: OperationRecord): boolean {
  return phase === 'destroy';
}

/** The same multiset of (opid, op, phase), and the same order within each operation. */
function compareEachOperation(
  expected: Expected[],
  actual: OperationRecord[],
  ignoresOps: boolean,
): string[] {
  const wanted = sequences(expected, ignoresOps);
  const found = sequences(actual, ignoresOps);
  const problems: string[] = [];
  for (const opid of new Set([...wanted.keys(), ...found.keys()])) {
    const want = (wanted.get(opid) ?? ['nothing']).join(', ');
    const have = (found.get(opid) ?? ['nothing']).join(', ');
    if (want !== have) problems.push(`operation ${opid} has ${have}; expected ${want}`);
  }
  return problems;
}

function sequences(
  records: readonly (Expected | OperationRecord)[],
  ignoresOps: boolean,
): Map<number, string[]> {
  const all = new Map<number, string[]>();
  for (const { opid, phase, op } of records) {
    const sequence = all.get(opid);
    // Where the listener sees no destroys, it cannot tell after which one the op is no longer known.
    const event = op === undefined || ignoresOps ? phase : `${phase} ${op}`;
    if (sequence === undefined) all.set(opid, [event]);
    else sequence.push(event);
  }
  return all;
}

function compareOrder(expected: Expected[], actual: OperationRecord[]): string[] {
  const index = expected.findIndex(
    (want, i) => want.opid !== actual[i].opid || want.phase !== actual[i].phase,
  );
  if (index === -1) return [];
  const say = (list: readonly (Expected | OperationRecord)[]) =>
    list.slice(index, index + 4).map(({ opid, phase }) => `${phase} ${opid}`);
  return [`from record ${index + 1} on the order is ${say(actual)}; expected ${say(expected)}`];
}

const FIELDS = ['op', 'area', 'parentopid', 'parentop', 'execopid'] as const;

function compareFields(expected: Expected[], actual: OperationRecord[], destroyed: Set<number>): string[] {
  const problems: string[] = [];
  for (const [i, want] of expected.entries()) {
    const have = actual[i] as Partial<InitRecord>;
    for (const field of FIELDS) {
      if (have[field] === want[field]) continue;
      const subject = field === 'parentop' ? (want.parentopid as number) : want.opid;
      if (have[field] === undefined && destroyed.has(subject)) continue;
      problems.push(`${want.phase} ${want.opid} has ${field} ${have[field]}; expected ${want[field]}`);
    }
  }
  return problems;
}

/** How far a time may lie before its event, in records: one reading of the clock may serve several (the findings). */
const SHARED_BY: Record<OperationPhase, number> = { init: 0, before: 1, after: 0, destroy: 16, resolve: 0 };
/** Both clocks round to a microsecond, and a double holds an epoch time to 0.25 of one. */
const ROUNDING_MS = 0.002;
/** How far Date.now() may drift from the monotonic clock in the time of a test, ms, where the machine's clock is set. */
const DRIFT_MS = 50;

/**
 * No time goes back, and there is one anchor with which each time lies between the listener's reading at the same event
 * and its reading at the next: time = anchor + t. What each record leaves open for the anchor must meet.
 */
function compareTimes(
  expected: Expected[],
  actual: OperationRecord[],
  [start, end]: [number, number],
): string[] {
  const problems: string[] = [];
  let lowest = Number.NEGATIVE_INFINITY;
  let highest = Number.POSITIVE_INFINITY;
  let atLowest = 0;
  let atHighest = 0;
  for (const [i, { time, opid, phase }] of actual.entries()) {
    if (i > 0 && time < actual[i - 1].time)
      problems.push(`${phase} ${opid} has time ${time}, before the record above it`);
    const least = time - expected[i].tNext;
    const most = time - expected[Math.max(0, i - SHARED_BY[phase])].t;
    if (least > lowest) [lowest, atLowest] = [least, i];
    if (most < highest) [highest, atHighest] = [most, i];
  }
  if (lowest > highest + ROUNDING_MS) {
    const say = (i: number) => `${expected[i].phase} ${expected[i].opid}`;
    const by = ((lowest - highest) * 1000).toFixed(0);
    problems.push(
      `the times of ${say(atLowest)} (late) and ${say(atHighest)} (early) are ${by} us apart too far`,
    );
  }
  const first = actual.at(0)?.time ?? start;
  const last = actual.at(-1)?.time ?? end;
  if (first < start - DRIFT_MS || last > end + DRIFT_MS) {
    problems.push(`times go from ${first} to ${last}; the program ran from ${start} to ${end}`);
  }
  return problems;
}

/**
 * Where the listener sees none: no destroy is a promise's, and no tick or immediate lacks its own (unless tracing was
 * off for a while, when it may have come).
 */
function checkDestroys(operations: OperationRecord[], { events }: Pick<Watched, 'events'>): string[] {
  const problems: string[] = [];
  const destroyed = new Set<number>();
  for (const { opid, op, phase } of operations) {
    if (phase !== 'destroy') continue;
    destroyed.add(opid);
    if (op === 'PROMISE') problems.push(`destroy ${opid} is one of a promise, and nobody asked for those`);
  }
  if (events.some(({ phase }) => phase === 'off')) return problems;
  // Node reports destroys in batches, each with all that is due; the last batch may come after the exit.
  const lastBatch = operations.findLastIndex(isDestroy);
  for (const { opid, op, phase } of operations.slice(0, Math.max(0, lastBatch))) {
    if (phase === 'after' && (op === 'TickObject' || op === 'Immediate') && !destroyed.has(opid)) {
      problems.push(`${op} ${opid} ran, but its destroy is missing`);
    }
  }
  return problems;
}
