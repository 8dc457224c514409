import type { Finding } from '../report/finding';
import type { OpGroup } from '../report/operation';
import { frameText } from '../site/frame';

/** At most this many findings of one code are listed; the last one says how many more there are. */
const MAX_OF_A_CODE = 10;

/** The findings of at most `MAX_OF_A_CODE` items. The message of the last one gives the number of those left out. */
export function findingsOf<T>(items: readonly T[], toFinding: (item: T) => Finding): Finding[] {
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
  return `${name} ${inherited ? 'under' : 'from'} ${frameText(site)}`;
}

/** A number with its noun: "1 callback", "2,000 callbacks". */
export function count(number: number, one: string, many: string): string {
  return `${number.toLocaleString('en-US')} ${number === 1 ? one : many}`;
}
