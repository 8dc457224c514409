/** How many operation records are in lines that will never arrive. Off the hot path: called where something failed. */
import { uncurryThis } from '../runtime/intrinsics';

const TORN_LOST = /"phase":"lost","count":\d+,"time":/;
const MARKS = ['"phase":"lost","count":', '"phase":"start",', '"phase":"end",'];
const NEWLINE = 10;
// Taken at load: this may run inside a hook, and the program may have put others in their place.
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

/** Whole lines, the first perhaps without its beginning: that one counts, it is of no use without it. */
export function countLostRecords(lines: Buffer): number {
  // Almost always there are operation records alone, and then it is enough to count lines.
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
 * By the record's own `phase`: a prefix or a context may hold fields of that name further in. What a `lost` record
 * tells of was counted when it was lost, so its line counts nothing.
 */
function countLine(line: string): number {
  try {
    const { phase } = parse(line) as { phase?: unknown };
    return phase === 'lost' || phase === 'start' || phase === 'end' ? 0 : 1;
  } catch {
    return exec(TORN_LOST, line) === null ? 1 : 0;
  }
}
