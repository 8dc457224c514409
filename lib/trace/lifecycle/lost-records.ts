/** Counts the operation records in lines that will never arrive. Called after a failure only. */
import { uncurryThis } from '../runtime/intrinsics';

const TORN_LOST = /"phase":"lost","count":\d+,"time":/;
const MARKS = ['"phase":"lost","count":', '"phase":"start",', '"phase":"end",'];
const NEWLINE = 10;
// Taken at load: this may run inside a hook, and the program may have replaced them.
const { parse } = JSON;
const exec = uncurryThis(RegExp.prototype.exec);
const toText = uncurryThis(Buffer.prototype.toString);

const find = uncurryThis(Buffer.prototype.indexOf) as (
  bytes: Buffer,
  what: string | number,
  from: number,
) => number;

function hasMark(lines: Buffer): boolean {
  for (let i = 0; i < MARKS.length; i++) {
    if (find(lines, MARKS[i], 0) !== -1) {
      return true;
    }
  }
  return false;
}

/** Lines are whole; the first may lack its beginning. It counts as lost, since readers cannot use it. */
export function countLostRecords(lines: Buffer): number {
  // Almost always all lines are operation records, and counting lines is enough.
  const plain = !hasMark(lines);
  let records = 0;
  for (let begin = 0; begin < lines.length; ) {
    const newline = find(lines, NEWLINE, begin);
    const end = newline === -1 ? lines.length : newline;
    records += plain ? 1 : countLine(toText(lines, 'latin1', begin, end));
    begin = end + 1;
  }
  return records;
}

/**
 * Looks at the `phase` of the record itself: a prefix or a context may have nested fields of that name. The records that a
 * `lost` record counts were counted when they were lost, so its line counts as 0.
 */
function countLine(line: string): number {
  try {
    const { phase } = parse(line) as { phase?: unknown };
    return phase === 'lost' || phase === 'start' || phase === 'end' ? 0 : 1;
  } catch {
    return exec(TORN_LOST, line) === null ? 1 : 0;
  }
}
