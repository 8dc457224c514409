/** What a row costs, set against the bare program and against the runtime's own share: a value a round. */

import type { Answer } from './result';
import { paired } from './result';

/** CPU time of the row over that of another one. */
export function ratio(answer: Answer | undefined, row: string, to: string): number[] {
  return paired(answer, [row, to], (one, other) => one.cpuNs / other.cpuNs);
}

/** Work a second, as a share of another row's. */
export function rateShare(answer: Answer | undefined, row: string, of: string): number[] {
  return paired(answer, [row, of], (one, other) => one.rate / other.rate);
}

/** CPU time a unit above another row, in ns. */
export function over(answer: Answer | undefined, row: string, base: string): number[] {
  return paired(answer, [row, base], (one, other) => one.cpuNs - other.cpuNs);
}

/**
 * CPU time an event above the empty hook, in ns. For a row that leaves events out the counting hook's number stands in:
 * what it spends is spent on deciding about each of them.
 */
export function nsAnEvent(answer: Answer | undefined, row: string): number[] {
  return paired(answer, [row, 'empty'], (one, empty) => {
    return (one.cpuNs - empty.cpuNs) / (one.events ?? answer?.eventsPerUnit ?? Number.NaN);
  });
}

/** How many times the CPU time over the bare program that the trace takes the rival takes. */
export function timesCheaper(answer: Answer | undefined, rival: string): number[] {
  return paired(answer, ['off', 'traced', rival], (off, traced, other) => {
    return (other.cpuNs - off.cpuNs) / (traced.cpuNs - off.cpuNs);
  });
}
