/** The first lines of every answer: what the log holds and what is missing from it. */
import type { LogReport, RunReport } from '../../analyze';
import { formatDuration } from '../../analyze/report/duration';
import { isName, knownNames, nearestName, suggestion } from '../arguments/known-names';
import { formatCount, formatCountOf } from '../terminal/numbers';
import type { Screen } from '../terminal/screen';
import { clean, wrap } from '../terminal/text';

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

/** Whether two runs may be one that was read in the wrong order. Where both have a header, they are two. */
function goesBack(before: RunReport, after: RunReport): boolean {
  return after.from < before.from && (before.node === null || after.node === null);
}

/** The known losses of the log, in words. Operations that a filter left out are no loss. */
export function lossesOf({ lost, cut, damaged, runs }: LogReport): string[] {
  const incomplete = runs.filter(({ complete }) => complete === false).length;
  return [
    ...(lost > 0 ? [`${formatCountOf(lost, 'record')} lost`] : []),
    ...(cut > 0 ? [`${formatCountOf(cut, 'line')} cut off`] : []),
    ...damaged.map(({ source }) => `${clean(source)} read in part only`),
    ...(incomplete > 0 ? [`${formatCountOf(incomplete, 'run')} not whole`] : []),
  ];
}

/** A string of `include` as the user gave it: the log holds the regular expression that was made of it. */
function asGiven(pattern: string): string {
  const glob = /^\/\^(.*)\$\/s$/s.exec(pattern);
  return glob === null
    ? pattern
    : glob[1].replace(/\\(.)|\.\*|\./gs, (part, escaped) => escaped ?? (part === '.*' ? '*' : '?'));
}

/** For the first name that is no op and no area of Node.js. */
function suggestionFor(include: readonly string[]): string {
  const known = knownNames();
  const unknown = include.map(asGiven).find((name) => isName(name) && !known.includes(name));
  return unknown === undefined ? '' : suggestion(nearestName(unknown, known));
}

/** The text where nothing was found: `none`, unless the log holds no operation or is not whole. */
export function nothingFound(none: string, log: LogReport): string {
  const { operationRecords, runs } = log;
  if (operationRecords > 0) {
    const missing = lossesOf(log);
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
  return `The log holds no operation${why}.${suggestionFor(filtered?.include ?? [])}`;
}

/** Always shows how many records were lost, unreadable or without their init, also where there are none. */
export function renderLogSummary(log: LogReport, { width, colors }: Screen): string {
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
