/** Nobody wins by losing records: what a log holds against what happened. */

import type { Ending } from '../subject/meter';
import { type Counts, total } from '../variants/recording';
import type { Variant } from '../variants/variant';
import type { LogCount } from './logcount';

/** Records were lost, or a variant did not see what it should have seen: the whole run fails. */
export class RecordsLost extends Error {}

const PHASES: readonly (keyof Counts)[] = ['init', 'before', 'after', 'destroy'];

/** Ids are read a few operations after a recording begins and before it ends. */
const IDS_AT_THE_EDGES = 16;
/** Where a pipe is full, the tracer waits by timers of its own, which have ids too: as a share of the program's. */
const WAITS = 0.02;
/** The callbacks in which a recording was begun and ended are open at one end. */
const OPEN_CALLBACKS = 64;
/**
 * How far the events a unit may lie from those that a bare counting hook sees. It finds a kind of event that a variant
 * does not see at all; a slower server reads more requests at once and so has fewer events for each. Destroys are left out: they come when garbage is collected.
 */
const EVENTS_TOLERANCE = 0.25;

function differences(ending: Ending, found: LogCount, holds: Variant['holds']): string[] {
  const { counts } = found;
  const wrong: string[] = [];
  if (found.lost > 0) {
    wrong.push(`the log tells of ${found.lost} lost records`);
  }
  if (found.malformed > 0) {
    wrong.push(`${found.malformed} lines are no records`);
  }
  const empty = holds === 'no event' || holds === 'no event, but counts every one';
  for (const phase of PHASES) {
    if (ending.counts === undefined || empty) {
      continue;
    }
    const missing = ending.counts[phase] - counts[phase];
    if (missing !== 0) {
      wrong.push(`${missing} of ${ending.counts[phase]} ${phase} records are missing`);
    }
  }
  if (empty && total(counts) > 0) {
    wrong.push(`${total(counts)} records where none was selected`);
  }
  return wrong;
}

/** The counts that must show every `init` of the program, by the log or, where it stays empty, by the variant itself. */
function wholeCounts({ holds }: Variant, ending: Ending, found: LogCount): Counts | undefined {
  if (holds === undefined || holds === 'every event but promise destroys') {
    return found.counts;
  }
  return holds === 'no event, but counts every one' ? ending.counts : undefined;
}

/** Throws `RecordsLost` where the log of an ended run does not hold what it must. */
export function check(variant: Variant, ending: Ending, found: LogCount): void {
  const wrong = differences(ending, found, variant.holds);
  const counts = wholeCounts(variant, ending, found);
  if (counts !== undefined) {
    const expected = ending.ids - ending.own;
    const { init, before, after } = counts;
    const spare = IDS_AT_THE_EDGES + (variant.way === 'pipe' ? expected * WAITS : 0);
    if (Math.abs(expected - init) > spare) {
      wrong.push(`${init} inits for ${expected} new ids`);
    }
    if (Math.abs(before - after) > OPEN_CALLBACKS) {
      wrong.push(`${before} before against ${after} after`);
    }
  }
  if (wrong.length > 0) {
    throw new RecordsLost(`${variant.title}: ${wrong.join('; ')}`);
  }
}

/** Throws `RecordsLost` where a variant saw another number of events a unit than the counting hook did. */
export function checkEvents(variant: Variant, events: number | undefined, counted: number): void {
  if (variant.holds !== undefined || events === undefined) {
    return;
  }
  if (Math.abs(events - counted) / counted <= EVENTS_TOLERANCE) {
    return;
  }
  throw new RecordsLost(
    `${variant.title}: ${events.toFixed(2)} events a unit, the counting hook saw ${counted.toFixed(2)}`,
  );
}
