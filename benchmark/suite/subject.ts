/** Runs one program under one variant in a fresh process, and holds its log against independent counts. */

import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { LOG, VARIANT } from '../subject/environment';
import type { Ending, Mark } from '../subject/meter';
import { type Counts, total } from '../variants/recording';
import { isWhole, type Variant } from '../variants/variant';
import { check } from './check';
import type { LogCount } from './logcount';
import { logReader } from './logreader';
import { holdPages, releasePages } from './pages';
import { Child } from './process';
import type { Figures, Setting } from './question';

export interface Program {
  /** File of benchmark/subject. */
  script: string;
  args: string[];
}

/** The measured work, as reported by the program's meter and by the load. */
export interface Observed {
  begin: Mark;
  end: Mark;
  /** Units of work between the two. */
  units: number;
  /** Units since the process began. */
  allUnits: number;
  seconds: number;
  ending: Ending;
}

const SUBJECT = path.join(__dirname, '../subject');

const folders = new Set<string>();

function remove(folder: string): void {
  // A child that was killed a moment ago may still make a file while the folder is emptied.
  fs.rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  folders.delete(folder);
}

// After a signal no `finally` runs.
process.once('exit', () => {
  for (const folder of folders) {
    remove(folder);
  }
});

/** A folder for the length of one measurement. */
export async function inFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'async-tracer-benchmark-'));
  folders.add(folder);
  try {
    return await work(folder);
  } finally {
    remove(folder);
  }
}

/** Without destroys, of which a garbage collection decides when they come. */
function withoutDestroys(counts: Counts): number {
  return total(counts) - counts.destroy;
}

function figures(variant: Variant, observed: Observed, found: LogCount | undefined): Figures {
  const { begin, end, units, allUnits, seconds } = observed;
  const result: Figures = { cpuNs: ((end.cpuUs - begin.cpuUs) * 1000) / units, rate: units / seconds, units };
  if (found !== undefined) {
    result.records = total(found.counts);
    result.bytes = found.bytes;
  }
  if (!isWhole(variant)) {
    return result;
  }
  if (begin.counts !== undefined && end.counts !== undefined) {
    result.events = (total(end.counts) - total(begin.counts)) / units;
    result.steadyEvents = (withoutDestroys(end.counts) - withoutDestroys(begin.counts)) / units;
  } else if (found !== undefined) {
    result.events = total(found.counts) / allUnits;
  }
  return result;
}

/** One measurement. Throws `RecordsLost` where the log is not whole, `Unavailable` where the variant cannot run here. */
export async function measure(
  variant: Variant,
  program: Program,
  setting: Setting,
  drive: (subject: Child) => Promise<Observed>,
): Promise<Figures> {
  const writes = variant.log !== undefined && !setting.short;
  if (writes) {
    holdPages();
  }
  return inFolder(async (folder) => {
    const log = path.join(folder, 'log');
    const reader = logReader(variant, log, setting);
    const flags = variant.flags?.(log) ?? [];
    if (writes) {
      releasePages();
    }
    const subject = new Child({
      node: setting.node,
      args: [
        ...flags,
        '-r',
        path.join(SUBJECT, 'preload.js'),
        path.join(SUBJECT, program.script),
        ...program.args,
      ],
      env: { [VARIANT]: variant.name, [LOG]: log },
      core: setting.pins?.subject,
      cwd: folder,
    });
    try {
      const observed = await drive(subject);
      await subject.end();
      const found = await reader.count();
      if (found !== undefined) {
        check(variant, observed.ending, found);
      }
      return figures(variant, observed, found);
    } finally {
      subject.kill();
      reader.stop();
    }
  });
}
