/** How many operation records are in lines that will never arrive. Off the hot path: called where something failed. */

const LOST = /"phase":"lost","count":(\d+)/;
const NO_OPERATION = /^\{.*?"phase":"(?:start|end)",/;

/** Whole lines, the first perhaps without its beginning: that one counts, it is of no use without it. */
export function countRecords(lines: Buffer): number {
  let records = 0;
  for (const line of lines.toString('latin1').split('\n')) {
    if (line === '' || NO_OPERATION.test(line)) {
      continue;
    }
    const lost = LOST.exec(line);
    records += lost === null ? 1 : Number(lost[1]);
  }
  return records;
}
