/** The first lines of every answer: what the log is, and what is missing from it. */
import type { LogReport, RunReport } from '../../analyze';
import { formatDuration } from '../../analyze/report/duration';
import { asking, isName, knownNames, meantBy } from '../arguments/known-names';
import { formatCount, formatCountOf } from './numbers';
import type { Screen } from './screen';
import { clean, wrap } from './text';

function endOfRun({ end, exitcode, error, node }: RunReport): string {
  if (error !== null) {
    return `, ended by ${clean(error.name)}: ${clean(error.message.split('\n', 1)[0])}`;
  }
  if (end === 'exit' || end === 'error') {
    return `, exit code ${exitcode ?? 0}`;
  }
  return end === null && node !== null ? ', without an end record: killed, cut or still going' : '';
}

function runOf(run: RunReport): string {
  const { pid, thread, node } = run;
  const who =
    pid === null ? '' : ` of pid ${pid}${thread === 0 || thread === null ? '' : ` thread ${thread}`}`;
  return `${who}${node === null ? '' : ` on Node ${clean(node)}`}${endOfRun(run)}`;
}

/** Whether two runs may be one, read in the wrong order. Where both have a header, they are told apart by it. */
function goesBack(before: RunReport, after: RunReport): boolean {
  return after.from < before.from && (before.node === null || after.node === null);
}

/** What of the log is known to be missing, in words; of operations that a filter left out nothing is. */
export function missingOf({ lost, cut, damaged, runs }: LogReport): string[] {
  const incomplete = runs.filter(({ complete }) => complete === false).length;
  return [
    ...(lost > 0 ? [`${formatCountOf(lost, 'record')} lost`] : []),
    ...(cut > 0 ? [`${formatCountOf(cut, 'line')} cut off`] : []),
    ...damaged.map(({ source }) => `${clean(source)} read in part only`),
    ...(incomplete > 0 ? [`${formatCountOf(incomplete, 'run')} not whole`] : []),
  ];
}

/** A string among `include` stands in the log as the expression that was made of it. */
function asGiven(pattern: string): string {
  const glob = /^\/\^(.*)\$\/s$/s.exec(pattern);
  return glob === null
    ? pattern
    : glob[1].replace(/\\(.)|\.\*|\./gs, (part, escaped) => escaped ?? (part === '.*' ? '*' : '?'));
}

/** Of the first name that is none of Node's. */
function meantInstead(include: readonly string[]): string {
  const known = knownNames();
  const strange = include.map(asGiven).find((name) => isName(name) && !known.includes(name));
  return strange === undefined ? '' : asking(meantBy(strange, known));
}

/** What to say where nothing was found: `none`, unless there was nothing to look at, or not all that there was. */
export function noneOf(none: string, log: LogReport): string {
  const { operationRecords, runs } = log;
  if (operationRecords > 0) {
    const missing = missingOf(log);
    return missing.length === 0
      ? none
      : `${none.replace(/\.$/, '')} in what there is of the log: ${missing.join(', ')}.`;
  }
  const filtered = runs.find(({ include, exclude }) => include.length + exclude.length > 0);
  const filters = (['include', 'exclude'] as const)
    .filter((name) => filtered !== undefined && filtered[name].length > 0)
    .map((name) => `${name} ${filtered?.[name].map(asGiven).map(clean).join(', ')}`);
  const why =
    filters.length > 0
      ? `: it was traced with ${filters.join(' and ')}`
      : runs.some(({ end, node }) => end === null && node !== null)
        ? ': its run is still going, or was killed before it wrote one'
        : '';
  return `The log holds no operation${why}.${meantInstead(filtered?.include ?? [])}`;
}

/** Always says how many records were lost, unreadable or without their init, also that none were. */
export function renderPreface(log: LogReport, { width, colors }: Screen): string {
  const { records, runs, runCount, foreign, cut, damaged, sources, lost, withoutInit, forgotten } = log;
  const unreadable = foreign + cut;
  const who = runCount === 1 ? `1 run${runOf(runs[0])}` : formatCountOf(runCount, 'run');
  const lines = [`${formatCountOf(records, 'record')} in ${formatDuration(log.elapsed)}, ${who}`];
  const missing = `${formatCount(lost)} lost, ${formatCount(unreadable)} unreadable, ${formatCount(withoutInit)} without init`;
  lines.push(lost > 0 || unreadable > 0 ? colors.yellow(missing) : colors.dim(missing));
  for (const { source, message } of damaged) {
    lines.push(colors.yellow(`${clean(source)} could be read in part only: ${clean(message)}`));
  }
  const incomplete = runs.filter((run) => run.complete === false).length;
  const order = 'if the files are pieces of a rotated log, name the oldest first';
  if (incomplete > 0) {
    lines.push(
      colors.yellow(
        `${formatCountOf(incomplete, 'run')} whose end record counts other records than those here: parts of the log are missing${sources > 1 ? `; ${order}` : ''}`,
      ),
    );
  } else if (sources > 1 && runs.some((run, i) => i > 0 && goesBack(runs[i - 1], run))) {
    lines.push(
      colors.yellow(`A later file begins before an earlier one, with ids that begin anew: ${order}`),
    );
  }
  if (forgotten > 0) {
    lines.push(colors.dim(`${formatCountOf(forgotten, 'promise')} given up to bound memory`));
  }
  return `${lines.map((line) => wrap(line, width, '  ')).join('\n')}\n`;
}
