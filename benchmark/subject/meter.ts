/** Reads the cost of the program under test from inside it. */

import { AsyncResource } from 'node:async_hooks';
import { performance } from 'node:perf_hooks';
import { type Counts, nothing, type Recording } from '../variants/recording';
import { report } from './report';

export interface Mark {
  /** User and system time of the whole process, all its threads, since its start. */
  cpuUs: number;
  wallMs: number;
  /** By the variant's own count. */
  counts?: Counts;
}

export interface Ending {
  /** What the log must hold, by the variant's own count. */
  counts?: Counts;
  /** Operations that the variant made itself and kept out. */
  own: number;
  /** Ids that Node gave away while the variant recorded. Each belongs to one `init`: a count that asks no tracer. */
  ids: number;
}

let recording: Recording = nothing;
let firstId = 0;

function newestAsyncId(): number {
  return new AsyncResource('BENCHMARK', { requireManualDestroy: true }).emitDestroy().asyncId();
}

/** Called by the preload, once. */
export function begin(start: (log: string) => Recording, log: string): void {
  recording = start(log);
  // Its own init is recorded, the ids that the start took are not.
  firstId = newestAsyncId() - 1;
}

/** Waits for the work that earlier events left behind, then reads the meters. */
export async function mark(): Promise<Mark> {
  await recording.drain();
  const counts = recording.counts();
  const { user, system } = process.cpuUsage();
  return { cpuUs: user + system, wallMs: performance.now(), counts };
}

/** Ends the recording, and with it the process, where nothing else holds it. */
export async function finish(message: object): Promise<void> {
  await recording.drain();
  const ids = newestAsyncId() - firstId;
  await recording.close();
  const ending: Ending = { counts: recording.counts(), own: recording.own?.() ?? 0, ids };
  report({ ...message, ending });
}
