/** Measures the HTTP server: the server on one core, the load on another. */

import path from 'node:path';
import type { LoadReport } from '../subject/load';
import type { Ending } from '../subject/meter';
import { variantOf } from '../variants/all';
import { Child } from './process';
import type { Figures, Setting } from './question';
import { measure } from './subject';

const LOAD = path.join(__dirname, '../subject/load.js');

interface Seconds {
  warmUp: number;
  load: number;
}

/** For three seconds V8 still compiles (a profile of the ticks, Node 20): that is start-up, and no cost of an event. */
export const FULL: Seconds = { warmUp: 3, load: 3 };
/**
 * For an answer in minutes. A part of the compiling is in the measured second and a half: rows compare, but a single figure
 * is higher than in a full run.
 */
export const QUICK: Seconds = { warmUp: 1.5, load: 1.5 };
const SHORT: Seconds = { warmUp: 0.2, load: 0.4 };

export async function measureHttp(row: string, setting: Setting): Promise<Figures> {
  const { warmUp, load } = setting.short ? SHORT : setting.quick ? QUICK : FULL;
  return measure(variantOf(row), { script: 'http.js', args: [] }, setting, async (server) => {
    const { port } = await server.next<{ port: number }>();
    const client = new Child({
      node: process.execPath,
      args: [LOAD, String(port), String(warmUp), String(load)],
      core: setting.pins?.other,
      cwd: __dirname,
    });
    try {
      const { begin, end, seconds } = await client.next<LoadReport>();
      await client.end();
      const { ending } = await server.next<{ ending: Ending }>();
      return { begin, end, units: end.served - begin.served, allUnits: end.served, seconds, ending };
    } finally {
      client.kill();
    }
  });
}
