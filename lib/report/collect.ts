import type { FindingOptions, LeaksReport, LogSource, OpGroup, ReadOptions, StatsRow } from '../analyze';
import { Decoder } from '../analyze/decode/decoder';
import { thresholds } from '../analyze/findings/thresholds';
import { Leaks } from '../analyze/leaks/leaks';
import { Operations } from '../analyze/model/operations';
import { visitModels } from '../analyze/model/visit-operations';
import { Visitors } from '../analyze/model/visitors';
import { SiteTable } from '../analyze/site/site-table';
import { Slow } from '../analyze/slow/slow';
import { Stats } from '../analyze/stats/stats';
import { Tree } from '../analyze/tree/tree';
import type { LeakData, OpRow, ReportData } from './data';
import { GroupIndex } from './group-index';
import { Requests } from './requests';
import { Timelines } from './timeline';
import { treeRows } from './tree-rows';

const MAX_OPS = 3000;
const MAX_CALLBACKS = 200;
const MAX_LEAKS = 1000;
const MAX_STACK_FRAMES = 30;
const MAX_RUNS = 100;

const { version }: { version: string } = require('../../../package.json');

export interface CollectOptions extends ReadOptions, Pick<FindingOptions, 'heldMs'> {
  /** Names of the logs for the title. */
  names: readonly string[];
  /** Paths in this folder are shown relative to it. */
  folder: string;
}

/**
 * Reads a log once and gives all that the page shows.
 *
 * Two models share the pass, because only `leaks` keeps apart what differs in `Site.via`.
 *
 * @throws TracerError as `readLog` does
 */
export async function collectReport(source: LogSource, options: CollectOptions): Promise<ReportData> {
  const { names, folder, heldMs, onProgress } = options;
  const limits = thresholds({ heldMs });
  const decoder = new Decoder();
  const sites = new SiteTable();
  const operations = new Operations(decoder, { sites });
  const stats = new Stats(operations, limits);
  const slow = new Slow(operations, { ...limits, top: MAX_CALLBACKS, all: false });
  const tree = new Tree(operations, 'trigger');
  const timelines = new Timelines(operations, limits.heldMs);
  const requests = new Requests(operations);
  operations.visitor = new Visitors([stats, slow, tree, timelines, requests]);
  const splitOperations = new Operations(decoder, { splitByVia: true, sites });
  const leaks = new Leaks(splitOperations);
  splitOperations.visitor = leaks;
  const log = await visitModels(source, { onProgress }, decoder, [operations, splitOperations]);

  const groups = new GroupIndex(folder);
  const { ops, areas, loop, findings } = stats.report(log);
  const leaksReport = leaks.report(log, () => false, 0);
  const { roots, nodes, folded } = tree.report(log);
  const describe = (group: number): number => groups.of(operations.groups.describe(group));
  const listed = [...ops].sort((a, b) => b.run.total - a.run.total || b.count - a.count).slice(0, MAX_OPS);
  // Findings of lost records are in both answers.
  const all = [...findings, ...leaksReport.findings.filter(({ code }) => code !== 'records-lost')];
  return {
    version,
    sources: [...names],
    log: { ...log, runs: log.runs.slice(0, MAX_RUNS) },
    findings: all.map(({ code, severity, message }) => ({
      code,
      severity,
      message: groups.shorten(message),
    })),
    loop,
    timelines: timelines.data(),
    ops: listed.map((row) => opRow(row, groups)),
    opsLeftOut: ops.length - listed.length,
    areas,
    tree: { ...treeRows(roots, groups), nodes, folded },
    requests: requests.data(describe),
    callbacks: slow
      .report(log)
      .callbacks.map((callback) => [
        groups.of(callback),
        callback.opid,
        callback.run,
        callback.time,
        callback.duration,
      ]),
    leaks: leakRows(leaksReport, groups),
    limitations: leaksReport.notes,
    groups: groups.groups,
    sites: groups.sites,
  };
}

function opRow(row: StatsRow, groups: GroupIndex): OpRow {
  const { count, live, wait, run } = row;
  return [
    groups.of(row),
    count,
    live,
    wait.count,
    wait.p50,
    wait.p95,
    wait.p99,
    wait.max,
    run.count,
    run.total,
    run.p50,
    run.p95,
    run.p99,
    run.max,
    run.share,
  ];
}

function leakRows({ rows }: LeaksReport, groups: GroupIndex): LeakData[] {
  return rows.slice(0, MAX_LEAKS).map((row) => ({
    group: groups.of(row as OpGroup),
    verdict: row.verdict,
    reason: row.reason,
    count: row.count,
    oldest: row.oldest,
    atLeast: row.atLeast,
    opids: row.opids,
    stack: row.stack?.slice(0, MAX_STACK_FRAMES).map((frame) => groups.shorten(frame)) ?? null,
  }));
}
