/** Fills a table of live operations and reports its size and speed. argv is the table, the work and how many operations. */

import { performance } from 'node:perf_hooks';
import { OperationTable } from '../../lib/trace/hook/operation-table';
import { report } from './report';

export type Table = 'optable' | 'map';
export type Work = 'live' | 'survivors';

interface Entries {
  set(id: number, code: number): void;
  get(id: number): number | undefined;
  delete(id: number): unknown;
  readonly byteLength: number;
}

const CODES = 50;

/** 0 is no code. */
function codeOf(id: number): number {
  return (id % CODES) + 1;
}

/** Survivors keep the page of the table that they are in. With this distance each one would keep another page. */
const SURVIVOR = 16_384;
/** How many operations live at once beside the survivors. */
const LIVE = 1000;
/** A prime stride reads the ids in an order that no cache foresees. */
const STRIDE = 7919;

class MapTable implements Entries {
  private readonly map = new Map<number, number>();
  private readonly heap = process.memoryUsage().heapUsed;

  set(id: number, code: number): void {
    this.map.set(id, code);
  }

  get(id: number): number | undefined {
    return this.map.get(id);
  }

  delete(id: number): void {
    this.map.delete(id);
  }

  get byteLength(): number {
    return process.memoryUsage().heapUsed - this.heap;
  }
}

function nsEach(times: number, work: () => void): number {
  const begin = performance.now();
  work();
  return ((performance.now() - begin) * 1e6) / times;
}

function fill(table: Entries, operations: number): object {
  const resident = process.memoryUsage().rss;
  const setNs = nsEach(operations, () => {
    for (let id = 1; id <= operations; id++) {
      table.set(id, codeOf(id));
    }
  });
  const ownMB = table.byteLength / 1e6;
  const residentMB = (process.memoryUsage().rss - resident) / 1e6;
  const getNs = nsEach(operations, () => {
    for (let i = 0, id = 0; i < operations; i++, id = (id + STRIDE) % operations) {
      if (table.get(id + 1) !== codeOf(id + 1)) {
        throw new Error(`operation ${id + 1} was not found`);
      }
    }
  });
  const deleteNs = nsEach(operations, () => {
    for (let id = 1; id <= operations; id++) {
      table.delete(id);
    }
  });
  return { ownMB, residentMB, setNs, getNs, deleteNs };
}

function thin(table: Entries, operations: number): object {
  const resident = process.memoryUsage().rss;
  for (let id = 1; id <= operations; id++) {
    table.set(id, codeOf(id));
    const old = id - LIVE;
    if (old > 0 && old % SURVIVOR !== 0) {
      table.delete(old);
    }
  }
  for (let id = SURVIVOR; id <= operations - LIVE; id += SURVIVOR) {
    if (table.get(id) !== codeOf(id)) {
      throw new Error(`survivor ${id} was not found`);
    }
  }
  return { ownMB: table.byteLength / 1e6, residentMB: (process.memoryUsage().rss - resident) / 1e6 };
}

function create(kind: Table): Entries {
  return kind === 'map' ? new MapTable() : new OperationTable();
}

function run(kind: Table, work: Work, operations: number): object {
  try {
    return (work === 'live' ? fill : thin)(create(kind), operations);
  } catch (error) {
    // A Map ends at 2 ** 24 entries.
    if (error instanceof RangeError) {
      return { unavailable: error.message };
    }
    throw error;
  }
}

report(run(process.argv[2] as Table, process.argv[3] as Work, Number(process.argv[4])));
