/** The line that the rivals write: the fields of our log in their order, made as one makes them without a plan. */

import { asyncWrapProviders, executionAsyncId } from 'node:async_hooks';
import { performance } from 'node:perf_hooks';
import { areaOf, opOf } from '../../lib/log/area';

interface Known {
  op: string;
  area: string;
}

/** The operations that live, by id. */
const live = new Map<number, Known>();
const types = new Map<string, Known>();

function known(type: string): Known {
  let found = types.get(type);
  if (found === undefined) {
    const op = opOf(type, type in asyncWrapProviders);
    found = { op, area: areaOf(op) };
    types.set(type, found);
  }
  return found;
}

function now(): number {
  return Math.round((performance.timeOrigin + performance.now()) * 1000) / 1000;
}

export function initLine(id: number, type: string, trigger: number): string {
  const { op, area } = known(type);
  live.set(id, known(type));
  const execution = executionAsyncId();
  return `${JSON.stringify({
    opid: id,
    op,
    phase: 'init',
    area,
    parentopid: trigger,
    parentop: live.get(trigger)?.op,
    execopid: execution === trigger ? undefined : execution,
    time: now(),
  })}\n`;
}

export function line(id: number, phase: 'before' | 'after' | 'destroy'): string {
  const operation = live.get(id);
  if (phase === 'destroy') {
    live.delete(id);
  }
  return `${JSON.stringify({ opid: id, op: operation?.op, phase, area: operation?.area, time: now() })}\n`;
}
