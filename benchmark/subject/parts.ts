/** Times one part of the hot path alone. argv is the name of the part; reports nanoseconds a call. */

import { createClock } from '../../lib/trace/clock/create-clock';
import { TAKEN } from '../../lib/trace/destination/destination';
import { Code, PhaseIndex } from '../../lib/trace/encode/codes';
import { createEncoder } from '../../lib/trace/encode/create-encoder';
import { OperationTable } from '../../lib/trace/hook/operation-table';
import { report } from './report';

const CALLS_A_SLICE = 30_000;
const SLICES = 400;
/** Ids as they stand after some seconds of load: six digits. */
const FIRST_ID = 100_000;
/** How long an operation lives, in operations that come after it. */
const LIFE = 1_000;

/** What becomes of results, so that no call is left out as useless. */
const sink = new Float64Array(1);

type Part = (id: number) => void;

const PARTS: Record<string, () => Part> = {
  'clock: ours'() {
    const clock = createClock('precise');
    return () => clock.tick();
  },
  'clock: performance.now'() {
    return () => {
      sink[0] = performance.now();
    };
  },
  'clock: Date.now'() {
    return () => {
      sink[0] = Date.now();
    };
  },
  'encode: init'() {
    const { encoder, code } = encoderOfTicks();
    return (id) => encoder.init(code, id, id - 1, code, id - 1);
  },
  'encode: before'() {
    const { encoder, code } = encoderOfTicks();
    return (id) => encoder.event(PhaseIndex.before, code, id, false);
  },
  'encode: JSON.stringify'() {
    return (id) => {
      const record = { opid: id, op: 'TickObject', phase: 'before', area: 'ticks', time: 1764486000123.456 };
      sink[0] = `${JSON.stringify(record)}\n`.length;
    };
  },
  'ids: op table'() {
    const table = new OperationTable();
    return (id) => {
      table.set(id, Code.firstOp);
      sink[0] = table.get(id - 1) + table.delete(id - LIFE);
    };
  },
  'ids: Map'() {
    const map = new Map<number, number>();
    return (id) => {
      map.set(id, Code.firstOp);
      sink[0] = map.get(id - 1) ?? 0;
      map.delete(id - LIFE);
    };
  },
};

function encoderOfTicks(): { encoder: ReturnType<typeof createEncoder>; code: number } {
  const encoder = createEncoder({
    clock: createClock('still'),
    prefix: '',
    suffix: '',
    chunkSize: 262_144,
    stack: undefined,
    context: undefined,
    send: true,
    write: () => TAKEN,
  });
  return { encoder, code: encoder.prepare('TickObject', 'ticks') };
}

function nsOf(part: Part): number {
  const slices: number[] = [];
  let id = FIRST_ID;
  for (let slice = 0; slice < SLICES; slice++) {
    const begin = process.hrtime.bigint();
    for (let i = 0; i < CALLS_A_SLICE; i++) {
      part(id++);
    }
    slices.push(Number(process.hrtime.bigint() - begin) / CALLS_A_SLICE);
  }
  // The fastest slices are those that nothing else on the machine disturbed.
  return slices.sort((a, b) => a - b)[Math.floor(SLICES / 20)];
}

report({ ns: nsOf(PARTS[process.argv[2]]()) });
