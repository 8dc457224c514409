/** What stands above every answer. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { LogReport, RunReport } from '../../lib/analyze';
import { nothingFound, renderLogSummary } from '../../lib/cli/render/log-summary';
import { screenOf } from '../../lib/cli/terminal/screen';

describe('preface', () => {
  const screen = screenOf({}, {});

  function run(fields: Partial<RunReport> = {}): RunReport {
    return {
      pid: 12,
      thread: 0,
      node: 'v20.20.2',
      from: 0,
      to: 1500,
      elapsed: 1500,
      records: 10,
      include: [],
      exclude: [],
      end: 'close',
      exitcode: null,
      error: null,
      complete: true,
      ...fields,
    };
  }

  function log(fields: Partial<LogReport> = {}): LogReport {
    const runs = fields.runs ?? [run()];
    return {
      records: 10,
      foreign: 0,
      cut: 0,
      damaged: [],
      sources: 1,
      lost: 0,
      from: 0,
      to: 1500,
      elapsed: 1500,
      operationRecords: 10,
      withoutInit: 0,
      forgotten: 0,
      unpaired: 0,
      runCount: runs.length,
      ...fields,
      runs,
    } as LogReport;
  }

  function linesOf(fields: Partial<LogReport>): string[] {
    const text = renderLogSummary(log(fields), screen);
    assert.ok(text.endsWith('\n'));
    return text.slice(0, -1).split('\n');
  }

  const firstLines: [string, Partial<RunReport>, string][] = [
    ['closed', {}, '1 run of pid 12 on Node v20.20.2'],
    ['exited', { end: 'exit', exitcode: 3 }, '1 run of pid 12 on Node v20.20.2, exit code 3'],
    ['exited without a code', { end: 'exit' }, '1 run of pid 12 on Node v20.20.2, exit code 0'],
    [
      'ended by an error',
      { end: 'error', error: { name: 'RangeError', message: 'far\nout', stack: [] } },
      '1 run of pid 12 on Node v20.20.2, ended by RangeError: far',
    ],
    [
      'without an end',
      { end: null, thread: 4 },
      '1 run of pid 12 thread 4 on Node v20.20.2, without an end record: killed, cut or still going',
    ],
    ['without a header', { pid: null, thread: null, node: null, end: null }, '1 run'],
  ];
  for (const [title, fields, expected] of firstLines) {
    it(`a run ${title} begins: ${expected}`, () => {
      assert.deepEqual(linesOf({ runs: [run(fields)] }), [
        `10 records in 1.5 s, ${expected}`,
        '0 lost, 0 unreadable, 0 without init',
      ]);
    });
  }

  it('counts what is missing, and names what could be read in part only', () => {
    assert.deepEqual(
      linesOf({
        lost: 1200,
        foreign: 1,
        cut: 2,
        withoutInit: 4,
        forgotten: 1,
        damaged: [{ source: 'a.gz', message: 'unexpected end' }],
      } as Partial<LogReport>),
      [
        '10 records in 1.5 s, 1 run of pid 12 on Node v20.20.2',
        '1,200 lost, 3 unreadable, 4 without init',
        'a.gz could be read in part only: unexpected end',
        '1 promise given up to bound memory',
      ],
    );
  });

  const ORDER = 'if the files are pieces of a rotated log, name the oldest first';
  const INCOMPLETE =
    '1 run whose end record counts other records than those here: parts of the log are missing';
  for (const [sources, expected] of [
    [1, INCOMPLETE],
    [2, `${INCOMPLETE}; ${ORDER}`],
  ] as const) {
    it(`says that parts are missing, of ${sources} file(s)`, () => {
      const runs = [run({ complete: false }), run()];
      assert.deepEqual(linesOf({ runs, sources }), [
        '10 records in 1.5 s, 2 runs',
        '0 lost, 0 unreadable, 0 without init',
        expected,
      ]);
    });
  }

  it('says where a later file begins before an earlier one, unless both have a header', () => {
    const runs = [run({ from: 100 }), run({ from: 50, node: null })];
    assert.deepEqual(linesOf({ runs, sources: 2 }).slice(2), [
      `A later file begins before an earlier one, with ids that begin anew: ${ORDER}`,
    ]);
    assert.deepEqual(linesOf({ runs: [run({ from: 100 }), run({ from: 50 })], sources: 2 }).slice(2), []);
  });

  it('an answer of none is given as it is where the log is whole, and explained where it is not or holds no operation', () => {
    assert.equal(nothingFound('No leak.', log()), 'No leak.');
    assert.equal(
      nothingFound('No leak.', log({ lost: 1, cut: 2, damaged: [{ source: 'a.gz', message: 'x' }] })),
      'No leak in what there is of the log: 1 record lost, 2 lines cut off, a.gz read in part only.',
    );
    assert.equal(nothingFound('No leak.', log({ operationRecords: 0 })), 'The log holds no operation.');
    const runs = [run({ include: ['/^fs$/', 'net'], exclude: ['dns'] })];
    assert.equal(
      nothingFound('No leak.', log({ operationRecords: 0, runs })),
      'The log holds no operation: it was traced with include /^fs$/, net and exclude dns.',
    );
  });

  const spelt: [string[], string][] = [
    [['/^timer$/s'], 'include timer. Is timers meant?'],
    [['/^TCPWRAP$/s'], 'include TCPWRAP. Is TCP meant?'],
    [['/^a\\.b.*$/s', '/^.$/s'], 'include a.b*, ?.'],
    [['/^tim/', '/^MyPool$/s', '/^net$/s'], 'include /^tim/, MyPool, net.'],
  ];
  for (const [include, expected] of spelt) {
    it(`names what it was traced with as it was given: ${expected}`, () => {
      assert.equal(
        nothingFound('No leak.', log({ operationRecords: 0, runs: [run({ include })] })),
        `The log holds no operation: it was traced with ${expected}`,
      );
    });
  }
});
