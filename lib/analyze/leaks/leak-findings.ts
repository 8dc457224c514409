import { count, findingsOf, nameOf } from '../findings/wording';
import { formatDuration } from '../report/duration';
import type { Finding, FindingCode } from '../report/finding';
import type { Kind } from '../report/operation';
import type { LeakRow } from './report';

const SENTENCES: Partial<Record<Kind, { code: FindingCode; sentence: (row: LeakRow) => string }>> = {
  handle: {
    code: 'handle-open',
    sentence: (row) => `${numberAndName(row)} ${row.count === 1 ? 'was' : 'were'} never closed; ${age(row)}`,
  },
  object: {
    code: 'handle-open',
    sentence: (row) => `${numberAndName(row)} ${row.count === 1 ? 'was' : 'were'} never closed; ${age(row)}`,
  },
  timer: {
    code: 'timer-running',
    sentence: (row) =>
      `${numberAndName(row)} ${row.count === 1 ? 'was' : 'were'} still running at the end of the log; ${age(row)}`,
  },
  request: {
    code: 'request-pending',
    sentence: (row) => `${numberAndName(row)} had not been answered at the end of the log; ${age(row)}`,
  },
  promise: {
    code: 'promise-pending',
    sentence: (row) =>
      `${numberAndName(row)} never settled${row.collected ? ', and what awaited it is gone' : ''}; ${age(row)}`,
  },
};

/**
 * One finding for each row that is a leak, and for promises that never settled whether they were freed or not: the time of
 * a garbage collection must not change the findings.
 */
export function leakFindings(rows: readonly LeakRow[]): Finding[] {
  const findings: Finding[] = [];
  for (const kind of ['handle', 'object', 'timer', 'request', 'promise'] as const) {
    const { code, sentence } = SENTENCES[kind]!;
    findings.push(
      ...findingsOf(
        rows.filter(
          (row) => (row.verdict === 'leak' || (row.collected && row.site !== null)) && row.kind === kind,
        ),
        (row) => {
          const {
            op,
            area,
            site,
            inherited,
            count: number,
            oldest,
            youngest,
            opids,
            stack,
            reason,
            confirmed,
          } = row;
          return {
            code,
            severity: 'warning',
            message: `${sentence(row)}${byNode(row)}.`,
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
              ...(confirmed === null ? {} : { confirmed }),
            },
          };
        },
      ),
    );
  }
  return findings;
}

function numberAndName(row: LeakRow): string {
  return `${count(row.count, '', '')}${nameOf(row)}`;
}

function age(row: LeakRow): string {
  return `${row.count === 1 ? 'it' : 'the oldest'} was ${row.atLeast ? 'at least ' : ''}${formatDuration(row.oldest)} old`;
}

/** What Node said of them when the log ended; empty where the log does not tell it, or it is not sure of which it was said. */
function byNode({ confirmed, count: number }: LeakRow): string {
  if (confirmed === null || confirmed === 0) {
    return '';
  }
  return `; Node listed ${number === 1 ? 'it' : confirmed === number ? 'all of them' : `${count(confirmed, '', '').trim()} of them`} as active`;
}
