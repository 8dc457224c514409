/** What the Trace Event JSON means, beyond being JSON. */
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { temporaryFolder } from '../cli/command';
import {
  assertRunTimes,
  type Exported,
  exported,
  figuresByOp,
  HOLED,
  type Interval,
  realLogs,
  write,
} from './logs';

interface Event {
  ph: string;
  name: string;
  cat: string;
  pid: number;
  tid: number;
  ts: number;
  dur: number;
  id: string;
  id2: { local: string };
  bp?: string;
  args: { opid: number; parentopid: number; ended?: boolean; live?: boolean; name: string; site?: string };
}

const folder = temporaryFolder();
const kinds: Record<string, string[]> = {};
const results = new Map<string, Exported & { events: Event[] }>();

before(async () => {
  const [main, worker] = realLogs(folder);
  Object.assign(kinds, {
    'of a program and its worker': [main, worker],
    'in which records are missing': [write(folder, 'holed.ndjson', HOLED)],
  });
  for (const [name, logs] of Object.entries(kinds)) {
    const result = await exported(logs, 'chrome');
    results.set(name, { ...result, events: JSON.parse(result.bytes.toString()).traceEvents });
  }
});

const trackOf = ({ pid, tid }: Event) => `${pid} ${tid}`;

function slicesByTrack(events: Event[]): Map<string, Interval[]> {
  const tracks = new Map<string, Interval[]>();
  for (const event of events.filter(({ ph }) => ph === 'X')) {
    const { name, ts, dur, args } = event;
    const slices = tracks.get(trackOf(event)) ?? [];
    slices.push({
      opid: args.opid,
      op: name.split(' ')[0],
      start: ts,
      end: ts + dur,
      ended: args.ended !== false,
    });
    tracks.set(trackOf(event), slices);
  }
  return tracks;
}

for (const kind of ['of a program and its worker', 'in which records are missing']) {
  describe(`the Trace Event JSON of a log ${kind}`, () => {
    it('has callbacks that nest without overlap, with the numbers and run times of stats', () => {
      const { events, stats } = results.get(kind)!;
      assertRunTimes([...slicesByTrack(events).values()], stats);
    });

    it('has an end for each begin of an operation, in time, and the number of operations of stats', () => {
      const { events, stats } = results.get(kind)!;
      const begins = new Map<string, Event>();
      const counts = new Map<string, number>();
      for (const event of events) {
        const key = `${event.pid} ${event.id2?.local}`;
        if (event.ph === 'b') {
          assert.equal(begins.has(key), false, `${key} begins twice`);
          begins.set(key, event);
          counts.set(event.name, (counts.get(event.name) ?? 0) + 1);
        } else if (event.ph === 'e') {
          const begin = begins.get(key)!;
          assert.deepEqual([event.name, event.cat, event.tid], [begin.name, begin.cat, begin.tid]);
          assert.ok(event.ts >= begin.ts);
          begins.delete(key);
        }
      }
      assert.equal(begins.size, 0);
      const expected = [...figuresByOp(stats)].filter(([, { count }]) => count > 0);
      assert.deepEqual([...counts].sort(), expected.map(([op, { count }]) => [op, count]).sort());
    });

    it('has arrows that go forward from within a callback to the begin of another', () => {
      const { events } = results.get(kind)!;
      const tracks = slicesByTrack(events);
      const flows = events.filter(({ cat }) => cat === 'causality');
      assert.ok(flows.length > 0);
      for (let i = 0; i < flows.length; i += 2) {
        const [from, to] = [flows[i], flows[i + 1]];
        assert.deepEqual([from.ph, to.ph, to.bp, from.id], ['s', 'f', 'e', to.id]);
        assert.ok(to.ts >= from.ts);
        assert.ok(tracks.get(trackOf(from))!.some(({ start, end }) => start <= from.ts && from.ts <= end));
        assert.ok(tracks.get(trackOf(to))!.some(({ start }) => start === to.ts));
      }
      assert.equal(new Set(flows.map(({ id }) => id)).size, flows.length / 2);
    });

    it('names each process and thread before its events', () => {
      const { events } = results.get(kind)!;
      const named = new Set<string>();
      for (const event of events) {
        if (event.ph === 'M') {
          named.add(event.name === 'process_name' ? `${event.pid}` : trackOf(event));
        } else {
          assert.ok(named.has(`${event.pid}`) && named.has(trackOf(event)));
        }
      }
    });

    it('is counted right', () => {
      const { events, report, bytes } = results.get(kind)!;
      assert.equal(report.events, events.length);
      assert.equal(report.bytes, bytes.length);
      assert.equal(report.callbacks, events.filter(({ ph }) => ph === 'X').length);
      assert.equal(report.operations, events.filter(({ ph }) => ph === 'b').length);
      assert.equal(report.flows, events.filter(({ ph }) => ph === 's').length);
    });
  });
}

describe('the Trace Event JSON', () => {
  it('shows a worker as a thread of its process', () => {
    const { events } = results.get('of a program and its worker')!;
    const threads = events.filter(({ name }) => name === 'thread_name');
    assert.deepEqual(threads.map(({ args }) => args.name).sort(), ['main thread', 'worker 1']);
    assert.equal(new Set(threads.map(({ pid }) => pid)).size, 1);
    assert.equal(new Set(threads.map(({ tid }) => tid)).size, 2);
  });

  it('shows two logs of the same pid as two processes', async () => {
    const [holed] = kinds['in which records are missing'];
    const other = write(
      folder,
      'other.ndjson',
      HOLED.map((line) => line.replace('"monotonic":1', '"monotonic":2')),
    );
    const { bytes } = await exported([holed, other], 'chrome');
    const events: Event[] = JSON.parse(bytes.toString()).traceEvents;
    assert.deepEqual(
      events.filter(({ name }) => name === 'process_name').map(({ pid, args }) => [pid, args.name]),
      [
        [4242, 'node v24.0.0'],
        [4243, 'node v24.0.0 (pid 4242 again)'],
      ],
    );
  });

  it('ends what had not ended with the log, and leaves out callbacks of which one end is missing', () => {
    const { events, report } = results.get('in which records are missing')!;
    const ms = (ts: number) => (ts - 1_764_486_000_000_000) / 1000;
    const slices = events.filter(({ ph }) => ph === 'X');
    assert.deepEqual(
      slices.map(({ ts, dur, args }) => [args.opid, ms(ts), ms(ts + dur), args.ended]),
      [
        [2, 2, 3, undefined],
        [4, 2.7, 2.8, undefined],
        [5, 4, 4, undefined],
        [2, 6, 7, undefined],
        [2, 8, 9, false],
        [6, 8.2, 8.3, undefined],
      ],
    );
    // Those of 9 and the second one of 5. The after of 8 never began.
    assert.equal(report.leftOut, 2);
    assert.equal(report.unended, 1);
    assert.equal(report.log.unpaired, report.leftOut + report.unended + 1);
  });

  it('ends a promise with its last callback, and one that never ran where it began', () => {
    const { events } = results.get('in which records are missing')!;
    const spans = new Map<number, number[]>();
    for (const { ph, id2, ts } of events.filter(({ ph }) => ph === 'b' || ph === 'e')) {
      const opid = Number(id2.local);
      spans.set(opid, [...(ph === 'e' ? spans.get(opid)! : []), (ts - 1_764_486_000_000_000) / 1000]);
    }
    assert.deepEqual([...spans].sort(), [
      [2, [1, 9]],
      [3, [1, 1]],
      [4, [2, 3]],
      [5, [2.5, 7]],
      [6, [8.1, 8.3]],
      [7, [9, 9]],
    ]);
  });
});
