import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { OperationRecord, TraceRecord } from '../../lib/log/event';
import { compare, expectedRecords } from './compare';
import type { WatchedEvent } from './listener';

/** A small run: a timer that makes a tick, a promise, a resource that is unknown, and two operations of the tracer's. */
const events: WatchedEvent[] = [
  { phase: 'init', id: 2, t: 0.5, type: 'TCPWRAP', trigger: 1, execution: 1 },
  { phase: 'on', id: 0, t: 0.6 },
  { phase: 'init', id: 3, t: 1, type: 'Timeout', trigger: 1, execution: 1 },
  { phase: 'init', id: 4, t: 2, type: 'TickObject', trigger: 3, execution: 1, own: true },
  { phase: 'before', id: 4, t: 2.5 },
  { phase: 'init', id: 5, t: 2.6, type: 'TickObject', trigger: 2, execution: 4, own: true },
  { phase: 'after', id: 4, t: 2.7 },
  { phase: 'before', id: 3, t: 3 },
  { phase: 'init', id: 6, t: 4, type: 'PROMISE', trigger: 3, execution: 3 },
  { phase: 'init', id: 7, t: 5, type: 'TCPSERVERWRAP', trigger: 6, execution: 3 },
  { phase: 'init', id: 8, t: 5.5, type: 'GIFTWRAP', trigger: 2, execution: 3 },
  { phase: 'after', id: 3, t: 6 },
  { phase: 'before', id: 2, t: 7 },
  { phase: 'after', id: 2, t: 8 },
  { phase: 'destroy', id: 3, t: 9 },
  { phase: 'destroy', id: 6, t: 10 },
  { phase: 'destroy', id: 8, t: 11 },
  { phase: 'before', id: 8, t: 12 },
  { phase: 'after', id: 8, t: 13 },
  { phase: 'off', id: 0, t: 13.5 },
  { phase: 'destroy', id: 7, t: 14 },
];
const EPOCH = 1_764_486_000_000;
const watched = { events, epoch: [EPOCH, EPOCH + 20] as [number, number] };

/** The log that a right tracer writes of it, 0.1 ms after the listener saw each event. */
function rightLog(): OperationRecord[] {
  const at = (t: number) => EPOCH + t + 0.1;
  return [
    { opid: 3, op: 'Timeout', phase: 'init', area: 'timers', parentopid: 1, time: at(1) },
    { opid: 3, op: 'Timeout', phase: 'before', area: 'timers', time: at(3) },
    {
      opid: 6,
      op: 'PROMISE',
      phase: 'init',
      area: 'promises',
      parentopid: 3,
      parentop: 'Timeout',
      time: at(4),
    },
    {
      opid: 7,
      op: 'TCPSERVER',
      phase: 'init',
      area: 'net',
      parentopid: 6,
      parentop: 'PROMISE',
      execopid: 3,
      time: at(5),
    },
    { opid: 8, op: 'GIFTWRAP', phase: 'init', area: 'custom', parentopid: 2, execopid: 3, time: at(5.5) },
    { opid: 3, op: 'Timeout', phase: 'after', area: 'timers', time: at(6) },
    { opid: 2, phase: 'before', time: at(7) },
    { opid: 2, phase: 'after', time: at(8) },
    { opid: 3, op: 'Timeout', phase: 'destroy', area: 'timers', time: at(9) },
    { opid: 6, op: 'PROMISE', phase: 'destroy', area: 'promises', time: at(10) },
    { opid: 8, op: 'GIFTWRAP', phase: 'destroy', area: 'custom', time: at(11) },
    { opid: 8, phase: 'before', time: at(12) },
    { opid: 8, phase: 'after', time: at(13) },
  ];
}

/** The right log after `change` of a copy. */
function changed(change: (log: OperationRecord[]) => void): TraceRecord[] {
  const log = rightLog();
  change(log);
  return log;
}

describe('compare', () => {
  it('finds nothing wrong with a right log', () => {
    assert.deepEqual(compare(watched, rightLog()), []);
  });

  for (let index = 0; index < rightLog().length; index++) {
    it(`fails when record ${index + 1} is removed`, () => {
      assert.notDeepEqual(
        compare(
          watched,
          changed((log) => log.splice(index, 1)),
        ),
        [],
      );
    });

    it(`fails when record ${index + 1} is there twice`, () => {
      assert.notDeepEqual(
        compare(
          watched,
          changed((log) => log.splice(index, 0, log[index])),
        ),
        [],
      );
    });

    it(`fails when record ${index + 1} changes places with the next of its operation`, () => {
      const log = rightLog();
      const next = log.findIndex(({ opid }, i) => i > index && opid === log[index].opid);
      if (next === -1) return;
      [log[index], log[next]] = [log[next], log[index]];
      assert.match(compare(watched, log)[0], new RegExp(`^operation ${log[index].opid} has`));
    });

    it(`fails when record ${index + 1} has the op of another`, () => {
      const problems = compare(
        watched,
        changed((log) => {
          log[index].op = 'Immediate';
        }),
      );
      assert.match(problems[0], /Immediate; expected|Immediate, /);
    });

    it(`fails when record ${index + 1} has another phase`, () => {
      assert.notDeepEqual(
        compare(
          watched,
          changed((log) => {
            log[index].phase = log[index].phase === 'after' ? 'destroy' : 'after';
          }),
        ),
        [],
      );
    });

    it(`fails when record ${index + 1} has another id`, () => {
      assert.notDeepEqual(
        compare(
          watched,
          changed((log) => {
            log[index].opid += 100;
          }),
        ),
        [],
      );
    });
  }

  it('names the operation, what its log says and what was expected', () => {
    const log = changed((records) => records.splice(5, 1));
    assert.deepEqual(compare(watched, log), [
      'operation 3 has init Timeout, before Timeout, destroy Timeout; ' +
        'expected init Timeout, before Timeout, after Timeout, destroy Timeout',
    ]);
  });

  it('fails when two operations change places, though the order within each is right', () => {
    const log = changed((records) => records.splice(3, 2, records[4], records[3]));
    assert.match(compare(watched, log)[0], /^from record 4 on the order is init 8,init 7/);
  });

  for (const [field, value] of [
    ['area', 'net'],
    ['parentopid', 2],
    ['parentop', 'PROMISE'],
    ['execopid', 1],
  ] as const) {
    it(`fails when ${field} is another`, () => {
      const log = changed((records) => Object.assign(records[0], { [field]: value }));
      assert.match(compare(watched, log)[0], new RegExp(`^init 3 has ${field} ${value}; expected`));
    });
  }

  it('fails when an execopid is missing', () => {
    const log = changed((records) => {
      delete records[3]['execopid'];
    });
    assert.deepEqual(compare(watched, log), ['init 7 has execopid undefined; expected 3']);
  });

  it('fails when an operation of the tracer is in the log', () => {
    const own = { opid: 4, op: 'TickObject', phase: 'before', area: 'ticks', time: EPOCH + 2.6 } as const;
    const log = changed((records) => records.splice(1, 0, own));
    assert.deepEqual(compare(watched, log), ['operation 4 has before TickObject; expected nothing']);
  });

  it('fails when an operation made in a callback of the tracer is in the log', () => {
    const own = {
      opid: 5,
      op: 'TickObject',
      phase: 'init',
      area: 'ticks',
      parentopid: 2,
      time: EPOCH + 2.6,
    } as const;
    const log = changed((records) => records.splice(1, 0, own));
    assert.deepEqual(compare(watched, log), ['operation 5 has init TickObject; expected nothing']);
  });

  it('fails when records were lost', () => {
    const log = [...rightLog(), { phase: 'lost', count: 2, time: EPOCH } as const];
    assert.deepEqual(compare(watched, log), ['2 records were lost']);
  });

  it('fails when a time goes back', () => {
    const log = changed((records) => {
      records[1].time = records[0].time - 0.001;
    });
    assert.match(compare(watched, log)[0], /^before 3 has time \d+.*, before the record above it$/);
  });

  it('fails when a time is later than the next event', () => {
    const log = changed((records) => {
      records[0].time += 2.05;
    });
    assert.match(
      compare(watched, log).join(),
      /the times of init 3 \(late\) and .* \(early\) are \d+ us apart too far/,
    );
  });

  it('fails when a time is earlier than its event', () => {
    const log = changed((records) => {
      records[7].time -= 1;
    });
    assert.match(compare(watched, log).join(), /\(late\) and after 2 \(early\)/);
  });

  it('accepts the reading of the record above for a before, and not for an after', () => {
    const shared = (index: number) =>
      changed((records) => {
        records[index].time = records[index - 1].time;
      });
    assert.deepEqual(compare(watched, shared(6)), []);
    assert.notDeepEqual(compare(watched, shared(7)), []);
  });

  it('fails when the times are those of another day', () => {
    const log = changed((records) => {
      for (const record of records) record.time += 86_400_000;
    });
    assert.match(compare(watched, log)[0], /^times go from/);
  });
});

describe('compare, where the listener sees no destroys', () => {
  const tick = (id: number, t: number): WatchedEvent[] => [
    { phase: 'init', id, t, type: 'TickObject', trigger: 1, execution: 1 },
    { phase: 'before', id, t: t + 1 },
    { phase: 'after', id, t: t + 2 },
  ];
  const seen = {
    events: [{ phase: 'on', id: 0, t: 0 } as WatchedEvent, ...tick(2, 1), ...tick(3, 4), ...tick(4, 8)],
    epoch: watched.epoch,
  };
  const record = (opid: number, phase: 'before' | 'after' | 'destroy', t: number, op = 'TickObject') => ({
    opid,
    op,
    phase,
    area: op === 'PROMISE' ? 'promises' : 'ticks',
    time: EPOCH + t,
  });
  const ofTick = (opid: number, t: number): OperationRecord[] => [
    { opid, op: 'TickObject', phase: 'init', area: 'ticks', parentopid: 1, time: EPOCH + t },
    record(opid, 'before', t + 1),
    record(opid, 'after', t + 2),
  ];
  const destroys = [record(2, 'destroy', 6.5), record(3, 'destroy', 6.5)];

  it('takes the destroys of the log as they are, and misses none after the last batch', () => {
    const log = [...ofTick(2, 1), ...ofTick(3, 4), ...destroys, ...ofTick(4, 8)];
    assert.deepEqual(compare(seen, log, { destroy: false }), []);
  });

  it('fails when a tick that ran has no destroy, though a later batch came', () => {
    const log = [...ofTick(2, 1), ...ofTick(3, 4), destroys[1], ...ofTick(4, 8)];
    assert.deepEqual(compare(seen, log, { destroy: false }), [
      'TickObject 2 ran, but its destroy is missing',
    ]);
  });

  it('fails when the log holds the destroy of a promise', () => {
    const log = [
      ...ofTick(2, 1),
      ...ofTick(3, 4),
      ...destroys,
      record(9, 'destroy', 6.5, 'PROMISE'),
      ...ofTick(4, 8),
    ];
    assert.deepEqual(compare(seen, log, { destroy: false }), [
      'destroy 9 is one of a promise, and nobody asked for those',
    ]);
  });
});

describe('expectedRecords', () => {
  const phases = (options: Parameters<typeof expectedRecords>[1]) =>
    expectedRecords(watched, options).map(({ opid, phase }) => `${phase} ${opid}`);

  it('leaves promises out where they are not traced', () => {
    assert.deepEqual(
      phases({ promises: false }),
      phases({}).filter((event) => !event.endsWith(' 6')),
    );
  });

  it('leaves the destroys of promises out where they are not traced, and nothing else', () => {
    assert.deepEqual(
      phases({ promiseDestroy: false }),
      phases({}).filter((event) => event !== 'destroy 6'),
    );
  });

  it('leaves out what runs of a promise that began while tracing was off, where they are not traced', () => {
    const unseen: WatchedEvent[] = [
      { phase: 'init', id: 9, t: 0, type: 'PROMISE', trigger: 1, execution: 1 },
      { phase: 'on', id: 0, t: 1 },
      { phase: 'before', id: 9, t: 2 },
      { phase: 'after', id: 9, t: 3 },
      { phase: 'destroy', id: 9, t: 4 },
    ];
    const saying = (options: object) =>
      expectedRecords({ events: unseen }, options).map(({ phase, op }) => `${phase} ${op}`);
    assert.deepEqual(saying({ promises: false }), ['destroy undefined']);
    assert.deepEqual(saying({}), ['before undefined', 'after undefined', 'destroy undefined']);
  });

  it('leaves out what is not selected', () => {
    assert.deepEqual(phases({ selects: (op) => op === 'Timeout' }), [
      'init 3',
      'before 3',
      'after 3',
      'destroy 3',
    ]);
  });

  it('knows nothing of an operation that began while tracing was off', () => {
    const [record] = expectedRecords({
      events: [
        { phase: 'init', id: 9, t: 0, type: 'Timeout', trigger: 1, execution: 1 },
        { phase: 'on', id: 0, t: 1 },
        { phase: 'before', id: 9, t: 2 },
      ],
    });
    assert.deepEqual(record, { opid: 9, phase: 'before', t: 2, tNext: Number.POSITIVE_INFINITY });
  });
});
