import { TracerError } from '../../errors';
import { formatDuration } from '../duration';
import type { Groups } from '../model/groups';
import { round } from '../model/histograms';
import type { Run } from '../model/run';
import type { Finding, FindingCode, Kind, LeakRow, LogReport, OpGroup } from '../report';
import { siteText } from '../stack/stack-table';
import type { FanOuts } from './fan-out';
import type { Grown, Growth } from './growth';
import type { Chain, Loop } from './loop';

/** From when on something is worth a finding. */
export interface FindingOptions {
  /**
   * Milliseconds for which a callback must hold the event loop. Default 50: longer than that, a person notices; browsers
   * call such a stretch a long task.
   */
  heldMs?: number;
  /** Milliseconds for which ticks and promise callbacks must follow one another without a turn of the loop. Default 50. */
  starvedMs?: number;
  /**
   * How many operations of one op and call site one execution must start. Default 1,000: what a loop over a page of
   * data starts stays below, and so does the limit of open files that such a loop meets first.
   */
  fanOut?: number;
  /** How many unfinished operations of one op and call site are needed to speak of growth. Default 100. */
  growth?: number;
}

const DEFAULTS: Required<FindingOptions> = { heldMs: 50, starvedMs: 50, fanOut: 1000, growth: 100 };

export const THRESHOLDS = Object.keys(DEFAULTS) as (keyof FindingOptions)[];

/** @throws TracerError ERR_ASYNC_TRACER_OPTION for a threshold that is no number above 0 */
export function thresholds(options: FindingOptions): Required<FindingOptions> {
  const resolved = { ...DEFAULTS };
  for (const name of THRESHOLDS) {
    const value = options[name];
    if (value === undefined) {
      continue;
    }
    if (typeof value !== 'number' || !(value > 0)) {
      throw new TracerError(
        'ERR_ASYNC_TRACER_OPTION',
        `${name} is ${String(value)}; expected a number above 0`,
      );
    }
    resolved[name] = value;
  }
  return resolved;
}

/** At most this many findings of one code are listed; the last one says how many more there are. */
const MAX_OF_A_CODE = 10;

/**
 * A `lost` record says how many and where, not why. Of a run whose header says that it waits for its destination, so
 * much is known that this was not the reason.
 */
export function lostFindings(log: LogReport, runs: readonly Run[]): Finding[] {
  if (log.lost === 0) {
    return [];
  }
  const losers = runs.filter((run) => run.lost > 0);
  const waited = losers.every((run) => run.start?.options?.['overflow'] === 'block');
  const why = waited
    ? "With overflow 'block' none is dropped because its destination is slow; a full disk or a reader that is gone refuses them."
    : "The log does not tell why: a slow destination drops them (raise maxBuffer, set overflow to 'block', or write to a file), a full disk or a reader that is gone refuses them.";
  return [
    {
      code: 'records-lost',
      severity: 'error',
      message: `${count(log.lost, 'record is', 'records are')} missing from the log, so counts may be too low. ${why}`,
      evidence: { lost: log.lost, runs: losers.map((run) => run.index) },
    },
  ];
}

export function heldFindings(loop: Loop, groups: Groups, heldMs: number): Finding[] {
  const sums = [...loop.held].sort(([, a], [, b]) => b.max - a.max);
  return limited(sums, ([group, { count: times, total, max }]) => {
    const longest = loop.longest.find((held) => held.group === group && held.total === max);
    const inside = longest === undefined || longest.inside < 0 ? undefined : groups.describe(longest.inside);
    const what = nameOf(groups.describe(group));
    const ended = longest?.open ? ' and had not ended when the log did' : '';
    return {
      code: 'loop-held',
      severity: 'warning',
      message:
        `A callback of ${what} held the event loop for ${formatDuration(max)}${ended}` +
        `${inside === undefined ? '' : `, most of it inside ${nameOf(inside)}`}` +
        `${times === 1 ? '' : `; ${count(times, 'callback', 'callbacks')} of it took ${formatDuration(heldMs)} or more, ${formatDuration(total)} together`}.`,
      evidence: {
        ...groups.describe(group),
        count: times,
        total: round(total),
        max: round(max),
        threshold: heldMs,
        longest: longest === undefined ? null : loop.describe(longest),
      },
    };
  });
}

export function starvedFindings(loop: Loop, groups: Groups, starvedMs: number): Finding[] {
  const sums = [...loop.starved].sort(([, a], [, b]) => b.worst.elapsed - a.worst.elapsed);
  return limited(sums, ([group, { count: times, total, worst }]) => ({
    code: 'loop-starved',
    severity: 'warning',
    message:
      `${count(worst.count, 'callback', 'callbacks')} of ticks and promises in a row, ${chainName(worst, groups)}, ` +
      `kept the event loop from turning for ${formatDuration(worst.elapsed)}${times === 1 ? '' : `; ${times.toLocaleString('en-US')} such chains took ${formatDuration(total)} together`}.`,
    evidence: {
      ...(group < 0
        ? { op: null, area: null, kind: null, site: null, inherited: false }
        : groups.describe(group)),
      count: times,
      total: round(total),
      worst: { run: worst.run, time: worst.start, elapsed: round(worst.elapsed), callbacks: worst.count },
      threshold: starvedMs,
    },
  }));
}

function chainName(chain: Chain, groups: Groups): string {
  return chain.group < 0 ? 'from many places' : `most of them of ${nameOf(groups.describe(chain.group))}`;
}

/**
 * A fan-out of reads brings one of promises and ticks with it; of those that start at one place only the first that is
 * neither is told.
 */
export function fanOutFindings(fanOuts: FanOuts, groups: Groups, threshold: number): Finding[] {
  const rank = (group: number) => Number(groups.kind[group] === 'promise' || groups.kind[group] === 'tick');
  const found = [...fanOuts.found].sort(([a, x], [b, y]) => rank(a) - rank(b) || y.most - x.most);
  const places = new Set<string>();
  const distinct = found.filter(([group, { exec }]) => {
    const { frame } = groups.siteFor(group) ?? {};
    const place = frame === undefined ? `in ${exec}` : siteText(frame);
    const followsAnother = places.has(place) || (rank(group) === 1 && places.has(`in ${exec}`));
    places.add(place).add(`in ${exec}`);
    return !followsAnother;
  });
  return limited(distinct, ([group, { times, most, exec }]) => ({
    code: 'fan-out',
    severity: 'warning',
    message:
      `One execution of operation ${exec} started ${count(most, 'operation', 'operations')} of ${nameOf(groups.describe(group))} at once` +
      `${times === 1 ? '' : `, and ${times.toLocaleString('en-US')} executions started ${threshold.toLocaleString('en-US')} or more`}; a limit on how many are open at a time keeps memory and queues short.`,
    evidence: { ...groups.describe(group), most, times, exec, threshold },
  }));
}

export function growthFindings(growth: Growth, groups: Groups): Finding[] {
  const grown = [...growth.grown].sort((a, b) => b.end - a.end);
  return limited(grown, ({ group, run, middle, end, over }: Grown) => ({
    code: 'growth',
    severity: 'warning',
    message: `The unfinished operations of ${nameOf(groups.describe(group))} grew all the time, from ${middle.toLocaleString('en-US')} to ${end.toLocaleString('en-US')} in the last ${formatDuration(over)}.`,
    evidence: { ...groups.describe(group), run, middle, end, over },
  }));
}

const LEAKS: Partial<Record<Kind, { code: FindingCode; tell: (row: LeakRow) => string }>> = {
  handle: {
    code: 'handle-open',
    tell: (row) => `${named(row)} ${row.count === 1 ? 'was' : 'were'} never closed; ${age(row)}`,
  },
  object: {
    code: 'handle-open',
    tell: (row) => `${named(row)} ${row.count === 1 ? 'was' : 'were'} never closed; ${age(row)}`,
  },
  timer: {
    code: 'timer-running',
    tell: (row) =>
      `${named(row)} ${row.count === 1 ? 'was' : 'were'} still running at the end of the log; ${age(row)}`,
  },
  request: {
    code: 'request-pending',
    tell: (row) => `${named(row)} had not been answered at the end of the log; ${age(row)}`,
  },
  promise: {
    code: 'promise-pending',
    tell: (row) =>
      `${named(row)} never settled${row.collected ? ', and what awaited it is gone' : ''}; ${age(row)}`,
  },
};

/**
 * One finding for each row that is a leak, and for promises that never settled whether they were freed or not: when the
 * garbage collector runs must not decide what is found.
 */
export function leakFindings(rows: readonly LeakRow[]): Finding[] {
  const findings: Finding[] = [];
  for (const kind of ['handle', 'object', 'timer', 'request', 'promise'] as const) {
    const { code, tell } = LEAKS[kind]!;
    findings.push(
      ...limited(
        rows.filter(
          (row) => (row.verdict === 'leak' || (row.collected && row.site !== null)) && row.kind === kind,
        ),
        (row) => {
          const { op, area, site, inherited, count: number, oldest, youngest, opids, stack, reason } = row;
          return {
            code,
            severity: 'warning',
            message: `${tell(row)}.`,
            evidence: {
              op,
              area,
              kind,
              site,
              inherited,
              count: number,
              oldest,
              youngest,
              opids,
              stack,
              reason,
            },
          };
        },
      ),
    );
  }
  return findings;
}

function named(row: LeakRow): string {
  return `${count(row.count, '', '')}${nameOf(row)}`;
}

function age(row: LeakRow): string {
  return `${row.count === 1 ? 'it' : 'the oldest'} was ${row.atLeast ? 'at least ' : ''}${formatDuration(row.oldest)} old`;
}

/** The findings of at most `MAX_OF_A_CODE` items, the last of which tells of the rest. */
function limited<T>(items: readonly T[], toFinding: (item: T) => Finding): Finding[] {
  const findings = items.slice(0, MAX_OF_A_CODE).map(toFinding);
  const rest = items.length - findings.length;
  if (rest > 0) {
    const last = findings[findings.length - 1];
    last.message += ` The same holds for ${rest} more.`;
    last.evidence['more'] = rest;
  }
  return findings;
}

/** A group in a sentence: "Timeout from poll (/app/poll.js:3:5)". */
export function nameOf({ op, site, inherited }: OpGroup): string {
  const name = op ?? 'an operation whose init is not in the log';
  if (site === null) {
    return name;
  }
  return `${name} ${inherited ? 'under' : 'from'} ${siteText(site)}`;
}

export function count(number: number, one: string, many: string): string {
  return `${number.toLocaleString('en-US')} ${number === 1 ? one : many}`;
}
