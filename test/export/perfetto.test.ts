/** What the TrackEvents mean, decoded by protobufjs. */
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { temporaryFolder } from '../cli/command';
import { decode, type Packet, type TrackEvent } from './decode';
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

const [BEGIN, END] = [1, 2];
const folder = temporaryFolder();
const results = new Map<string, Exported & { packets: Packet[] }>();
let jsonBytes = 0;

before(async () => {
  const logs = realLogs(folder);
  const kinds = {
    'of a program and its worker': logs,
    'in which records are missing': [write(folder, 'holed.ndjson', HOLED)],
  };
  for (const [name, logs] of Object.entries(kinds)) {
    const result = await exported(logs, 'perfetto');
    results.set(name, {
      ...result,
      packets: decode<{ packet: Packet[] }>('trace.proto', 'Trace', result.bytes).packet,
    });
  }
  jsonBytes = (await exported(logs, 'chrome')).bytes.length;
});

interface Slice {
  name: string;
  category: string;
  start: number;
  end: number;
  opid: number;
  unended: boolean;
  event: TrackEvent;
}

/** Reads packets as the viewer does: interned data by sequence, slices by track. Fails at an id that is not known. */
function read(packets: readonly Packet[]): {
  tracks: Map<number, Slice[]>;
  descriptors: Map<number, NonNullable<Packet['trackDescriptor']>>;
} {
  const tracks = new Map<number, Slice[]>();
  const open = new Map<number, Slice[]>();
  const last = new Map<number, number>();
  const descriptors = new Map<number, NonNullable<Packet['trackDescriptor']>>();
  const states = new Map<number, { track: number; interned: Map<string, Map<number, string>> }>();
  for (const packet of packets) {
    const {
      trustedPacketSequenceId: sequence,
      trackDescriptor,
      tracePacketDefaults,
      internedData,
      trackEvent,
    } = packet;
    if (tracePacketDefaults !== undefined) {
      assert.equal(packet.sequenceFlags, 1);
      assert.equal(tracePacketDefaults.timestampClockId, 64);
      states.set(sequence, { track: tracePacketDefaults.trackEventDefaults.trackUuid, interned: new Map() });
    }
    const { track: ownTrack, interned } = states.get(sequence)!;
    for (const [kind, entries] of Object.entries(internedData ?? {})) {
      const known = interned.get(kind) ?? new Map<number, string>();
      interned.set(kind, known);
      for (const entry of entries) {
        assert.equal(known.has(entry.iid), false, `${kind} ${entry.iid} is defined twice`);
        known.set(entry.iid, entry.name ?? '');
        if ('frameIds' in entry) {
          assert.ok(entry.frameIds.every((frame) => interned.get('frames')?.has(frame)));
        }
        if ('functionNameId' in entry) {
          assert.ok(interned.get('functionNames')!.has(entry.functionNameId));
          assert.ok(interned.get('mappings')!.has(entry.mappingId));
        }
      }
    }
    if (trackDescriptor !== undefined) {
      assert.equal(descriptors.has(trackDescriptor.uuid), false);
      assert.ok(trackDescriptor.parentUuid === undefined || descriptors.has(trackDescriptor.parentUuid));
      descriptors.set(trackDescriptor.uuid, trackDescriptor);
    }
    if (trackEvent === undefined) {
      continue;
    }
    const uuid = trackEvent.trackUuid ?? ownTrack;
    assert.ok(descriptors.has(uuid), `the track ${uuid} is not described`);
    const time = packet.timestamp!;
    assert.ok(time >= (last.get(uuid) ?? 0), 'the timestamps of a track rise');
    last.set(uuid, time);
    const stack = open.get(uuid) ?? [];
    open.set(uuid, stack);
    if (trackEvent.type === END) {
      stack.pop()!.end = time;
      continue;
    }
    assert.equal(trackEvent.type, BEGIN);
    const known = (kind: string, iid: number): string => {
      const text = interned.get(kind)?.get(iid);
      assert.ok(text !== undefined, `${kind} ${iid} is not known`);
      return text;
    };
    const arguments_ = new Map(
      trackEvent.debugAnnotations.map(({ nameIid, uintValue }) => [
        known('debugAnnotationNames', nameIid),
        uintValue,
      ]),
    );
    for (const [kind, iid] of [
      ['sourceLocations', trackEvent.sourceLocationIid],
      ['callstacks', trackEvent.callstackIid],
    ] as const) {
      if (iid !== undefined) {
        known(kind, iid);
      }
    }
    const slice: Slice = {
      name: known('eventNames', trackEvent.nameIid!),
      category: known('eventCategories', trackEvent.categoryIids[0]),
      start: time,
      end: Number.NaN,
      opid: arguments_.get('opid')!,
      unended: arguments_.has('unended'),
      event: trackEvent,
    };
    stack.push(slice);
    tracks.set(uuid, [...(tracks.get(uuid) ?? []), slice]);
  }
  assert.deepEqual(
    [...open.values()].filter(({ length }) => length > 0),
    [],
    'each begin has its end',
  );
  return { tracks, descriptors };
}

for (const kind of ['of a program and its worker', 'in which records are missing']) {
  describe(`the Perfetto trace of a log ${kind}`, () => {
    it('has callbacks that nest on the tracks of threads, with the numbers and run times of stats', () => {
      const { packets, stats } = results.get(kind)!;
      const { tracks, descriptors } = read(packets);
      const threads = [...tracks].filter(([uuid]) => descriptors.get(uuid)!.thread !== undefined);
      const intervals = threads.map(([, slices]) =>
        slices.map(
          ({ name, opid, start, end, unended }): Interval => ({
            op: name.split(' ')[0],
            opid,
            start,
            end,
            ended: !unended,
          }),
        ),
      );
      assertRunTimes(intervals, stats);
    });

    it('has operations on lanes by area, with the numbers of stats', () => {
      const { packets, stats } = results.get(kind)!;
      const { tracks, descriptors } = read(packets);
      const counts = new Map<string, number>();
      for (const [uuid, slices] of tracks) {
        const { thread, name, parentUuid } = descriptors.get(uuid)!;
        if (thread === undefined) {
          assert.ok(descriptors.get(parentUuid!)!.thread !== undefined);
          for (const slice of slices) {
            assert.equal(slice.category, name);
            counts.set(slice.name, (counts.get(slice.name) ?? 0) + 1);
          }
        }
      }
      const expected = [...figuresByOp(stats)].filter(([, { count }]) => count > 0);
      assert.deepEqual([...counts].sort(), expected.map(([op, { count }]) => [op, count]).sort());
    });

    it('has flows that end in callbacks, forward from the callback that was running', () => {
      const { packets, report } = results.get(kind)!;
      const slices = [...read(packets).tracks.values()].flat();
      const begun = new Map(slices.flatMap((slice) => slice.event.flowIds.map((flow) => [flow, slice])));
      const ends = slices.flatMap((slice) => slice.event.terminatingFlowIds.map((flow) => ({ flow, slice })));
      assert.equal(ends.length, report.flows);
      for (const { flow, slice } of ends) {
        assert.ok(begun.get(flow)!.start <= slice.start, `flow ${flow} of ${slice.opid}`);
      }
    });
  });
}

describe('the Perfetto trace', () => {
  it('is at least five times smaller than the JSON of the same log', () => {
    const { bytes } = results.get('of a program and its worker')!;
    assert.ok(bytes.length * 5 <= jsonBytes, `${bytes.length} bytes against ${jsonBytes}`);
  });

  it('has the call stack of each operation that has one', () => {
    const slices = [...read(results.get('of a program and its worker')!.packets).tracks.values()].flat();
    assert.ok(slices.filter(({ event }) => event.callstackIid !== undefined).length > 100);
  });

  it('counts microseconds from the time of the first record', () => {
    const { clockSnapshot } = results.get('in which records are missing')!.packets[0];
    assert.deepEqual(
      clockSnapshot!.clocks.map(({ clockId, timestamp, unitMultiplierNs }) => [
        clockId,
        timestamp,
        unitMultiplierNs,
      ]),
      [
        [6, 1_764_486_000_001_000_000, undefined],
        [1, 1_764_486_000_001_000_000, undefined],
        [64, 0, 1000],
      ],
    );
  });
});
