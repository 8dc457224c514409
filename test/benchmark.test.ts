import assert from 'node:assert/strict';
import { type ChildProcessWithoutNullStreams, spawn, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { PassThrough } from 'node:stream';
import { after, describe, it } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { check, checkEvents, RecordsLost } from '../benchmark/suite/check';
import { compare, verdict } from '../benchmark/suite/compare';
import { nsAnEvent, rateShare, ratio, timesCheaper } from '../benchmark/suite/cost';
import { countLog, LogCounter } from '../benchmark/suite/logcount';
import { createProgress, describeSeries, timeLeft } from '../benchmark/suite/progress';
import type { Answer, Result } from '../benchmark/suite/result';
import { quantile, spread } from '../benchmark/suite/statistics';
import { answerText, roundsText } from '../benchmark/suite/tables';
import { judge } from '../benchmark/suite/targets';
import { variantOf } from '../benchmark/variants/all';

const MAIN = path.join(__dirname, '../benchmark/main.js');
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'async-tracer-benchmark-test-'));
after(() => fs.rmSync(folder, { recursive: true }));

function benchmark(...args: string[]): { status: number | null; stdout: string; stderr: string } {
  return spawnSync(process.execPath, [MAIN, ...args], { encoding: 'utf8' });
}

function measured(name: string, ...args: string[]): Result {
  const file = path.join(folder, `${name}.json`);
  const { status, stderr, stdout } = benchmark('--short', '--json', file, ...args);
  assert.equal(status, 0, stdout + stderr);
  return JSON.parse(fs.readFileSync(file, 'utf8')) as Result;
}

/** Rows of a cost question, as rounds of [ns a unit, units a second, events a unit]. */
function cost(question: string, rows: Record<string, [number, number, number?][]>): Answer {
  return {
    question,
    title: question,
    kind: 'cost',
    eventsPerUnit: 4,
    metrics: [{ key: 'cpuNs', title: 'CPU', unit: 'ns', better: 'less' }],
    series: Object.entries(rows).map(([row, rounds]) => ({
      row,
      title: row,
      rounds: rounds.map(([cpuNs, rate, events]) => ({ cpuNs, rate, ...(events && { events, records: 1 }) })),
    })),
  };
}

const LINES = [
  '{"opid":2,"op":"TickObject","phase":"init","area":"ticks","parentopid":1,"time":1764486000123.456}',
  '{"opid":2,"op":"TickObject","phase":"before","area":"ticks","time":1764486000123.460}',
  '{"opid":2,"op":"TickObject","phase":"after","area":"ticks","time":1764486000123.470}',
  '{"opid":2,"op":"TickObject","phase":"destroy","area":"ticks","time":1764486000123.480}',
];

describe('the benchmark counts logs', () => {
  it('by phase, wherever the chunks are cut', () => {
    const bytes = Buffer.from(`${LINES.join('\n')}\n`);
    for (let cut = 0; cut <= bytes.length; cut++) {
      const counter = new LogCounter();
      counter.push(bytes.subarray(0, cut));
      counter.push(bytes.subarray(cut));
      assert.deepEqual(counter.end(), {
        counts: { init: 1, before: 1, after: 1, destroy: 1 },
        lost: 0,
        malformed: 0,
        bytes: bytes.length,
      });
    }
  });

  it('and finds the lines that are torn or no records', () => {
    const file = path.join(folder, 'torn');
    fs.writeFileSync(file, `${LINES[0]}\nno record\n{"phase":4}\n${LINES[1].slice(0, 50)}`);
    assert.equal(countLog(file).malformed, 3);
  });

  it('and sums the losses that the log itself tells of', () => {
    const file = path.join(folder, 'lost');
    fs.writeFileSync(
      file,
      '{"phase":"lost","count":3,"time":1.000}\n{"phase":"lost","count":4,"time":2.000}\n',
    );
    assert.equal(countLog(file).lost, 7);
  });
});

describe('the benchmark fails a run', () => {
  const counts = { init: 100, before: 100, after: 100, destroy: 100 };
  const ending = { counts, own: 0, ids: 100 };
  const found = { counts, lost: 0, malformed: 0, bytes: 1 };

  it('not, when the log holds all that was counted', () => {
    check(variantOf('traced'), ending, found);
  });

  it('when one record of the log is missing', () => {
    const less = { ...found, counts: { ...counts, after: 99 } };
    assert.throws(() => check(variantOf('traced'), ending, less), /1 of 100 after records are missing/);
  });

  it('when the log tells of lost records', () => {
    assert.throws(() => check(variantOf('traced'), ending, { ...found, lost: 1 }), RecordsLost);
  });

  it('when the tracer and its log agree but Node gave away more ids', () => {
    assert.throws(
      () => check(variantOf('traced'), { ...ending, ids: 200 }, found),
      /100 inits for 200 new ids/,
    );
  });

  it('when a filter that matches nothing writes a record', () => {
    assert.throws(
      () => check(variantOf('include-none'), ending, found),
      /400 records where none was selected/,
    );
  });

  it('when a variant sees fewer events a unit than the counting hook', () => {
    assert.throws(
      () => checkEvents(variantOf('traced'), 29, 40),
      /29.00 events a unit, the counting hook saw 40.00/,
    );
  });
});

describe('the statistics of the benchmark', () => {
  it('take quantiles between neighbours in proportion', () => {
    assert.equal(quantile([4, 1, 3, 2], 0.5), 2.5);
    assert.deepEqual(spread([5, 1, 4, 2, 3]), { median: 3, min: 1, max: 5, low: 2, high: 4 });
  });

  it('take ratios within a round, so that a slow minute does not count', () => {
    const http = cost('http', {
      off: [
        [10, 100],
        [100, 10],
        [10, 100],
      ],
      traced: [
        [20, 50, 5],
        [200, 5, 5],
        [20, 50, 5],
      ],
    });
    assert.deepEqual(ratio(http, 'traced', 'off'), [2, 2, 2]);
    assert.deepEqual(rateShare(http, 'traced', 'off'), [0.5, 0.5, 0.5]);
  });

  it('give ns an event over the empty hook by the events of the row, or by the counting hook where it writes nothing', () => {
    const ticks = cost('ticks', { empty: [[100, 1]], traced: [[600, 1, 5]], 'send-off': [[140, 1]] });
    assert.deepEqual(nsAnEvent(ticks, 'traced'), [100]);
    assert.deepEqual(nsAnEvent(ticks, 'send-off'), [10]);
  });

  it('set a rival against the trace by what both cost over the bare program', () => {
    const http = cost('http', { off: [[10, 1]], traced: [[15, 1, 5]], 'fs-write': [[310, 1, 5]] });
    assert.deepEqual(timesCheaper(http, 'fs-write'), [60]);
  });

  it('call two results different where no round of one lies among those of the other', () => {
    const before = spread([10, 11, 12, 13, 14]);
    assert.equal(verdict(before, spread([5, 6, 7, 8, 9]), 'less'), 'better');
    assert.equal(verdict(before, spread([15, 16, 17, 18, 19]), 'less'), 'worse');
    assert.equal(verdict(before, spread([15, 16, 17, 18, 19]), 'more'), 'better');
    assert.equal(verdict(before, spread([10, 11, 12, 13, 14]), 'less'), 'same');
    assert.equal(verdict(before, spread([13.5, 16, 17, 18, 19]), 'less'), 'perhaps worse');
  });
});

describe('the targets of the benchmark', () => {
  const answers = [
    cost('http', { off: [[10, 100]], empty: [[12, 90]], traced: [[17, 60, 40]], coarse: [[16, 70, 40]] }),
  ];
  const outcome = (target: string, node: string) =>
    judge(answers, node).find((each) => each.target.startsWith(target));

  it('are met or missed by the limit of the Node.js that was measured', () => {
    const target = 'HTTP: trace, CPU to the empty hook';
    assert.equal(outcome(target, '20.20.2')?.met, true);
    assert.equal(outcome(target, '24.22.3')?.met, false);
    assert.equal(outcome(target, '24.22.3')?.measured, 17 / 12);
  });

  it('say where the rounds stand on both sides of the limit', () => {
    const noisy = cost('http', {
      empty: [
        [10, 1],
        [10, 1],
        [10, 1],
      ],
      traced: [
        [14, 1, 5],
        [14, 1, 5],
        [16, 1, 5],
      ],
    });
    const [first] = judge([noisy], '20.20.2');
    assert.deepEqual([first.measured, first.range, first.met, first.certain], [1.4, [1.4, 1.6], true, false]);
  });

  it('have no verdict where no limit was set or nothing was measured', () => {
    assert.equal(outcome('HTTP: requests/s', '20.20.2')?.met, undefined);
    assert.equal(outcome('HTTP: requests/s', '20.20.2')?.measured, 70);
    assert.equal(outcome('await: trace', '20.20.2')?.measured, undefined);
  });
});

describe('the progress of the benchmark', () => {
  const answer = (): Answer =>
    cost('http', {
      off: [
        [1000, 1],
        [2000, 1],
        [4000, 1],
      ],
      traced: [[3000, 1, 4]],
      contexts: [],
    });

  it('describes a row by the median and the range of its rounds so far', () => {
    const http: Answer = { ...answer(), unit: 'request', scale: 'us' };
    assert.deepEqual(
      http.series.map((series) => describeSeries(http, series)),
      ['2 us CPU a request, 1-4 in 3 rounds', '3 us CPU a request', 'no figure'],
    );
    const startup: Answer = {
      ...answer(),
      kind: 'figures',
      metrics: [{ key: 'ms', title: 'require', unit: 'ms', better: 'less' }],
      series: [{ row: 'sonic-boom', title: 'sonic-boom', rounds: [{ ms: 9.1 }, { ms: 9.3 }] }],
    };
    assert.equal(describeSeries(startup, startup.series[0]), '9.20 ms require, 9.10-9.30 in 2 rounds');
    assert.equal(describeSeries(http, { ...http.series[2], unavailable: 'failed' }), 'failed');
  });

  it('takes the time left from the measurements that are done', () => {
    assert.equal(timeLeft(0, 37, 0, 100), '-');
    assert.equal(timeLeft(12, 36, 60_000, 0), '2 min left');
    assert.equal(timeLeft(12, 36, 60_000, 4000), '116 s left');
    assert.equal(timeLeft(12, 36, 60_000, 200_000), '0 left');
    assert.equal(timeLeft(35, 36, 140_000, 0), '4 s left');
  });

  it('is a bar in a terminal, and is gone after it', (context) => {
    const output = Object.assign(new PassThrough({ encoding: 'utf8' }), { isTTY: true, columns: 80 });
    context.after(() => output.destroy());
    const drawn = () => (output.read() as string | null) ?? '';
    const http: Answer = { ...answer(), unit: 'request', scale: 'us' };
    const progress = createProgress(output as unknown as NodeJS.WriteStream);
    progress.begin(http, 3);
    assert.equal(drawn(), 'http: 3 rows, 3 rounds\n');
    progress.measuring();
    assert.match(drawn(), /░{20} 0\/10 - {2}counting events/);
    progress.measured();
    progress.measuring(http.series[0]);
    assert.match(drawn(), /http: 4 events a request\n[\s\S]*██░{18} 1\/10 .* left {2}off/);
    progress.measured(http.series[0]);
    progress.stop();
    assert.match(drawn(), /http: round 3 of 3, off: 2 us CPU a request, 1-4 in 3 rounds\n$/);
  });

  it('ends in tables with the number of rounds of each row', () => {
    const text = answerText(answer());
    assert.match(text, /variant .*\n.* rounds /);
    assert.match(text, /│ off +│ +3 │/);
    assert.match(text, /│ traced +│ +1 │/);
    assert.match(text, /│ contexts +│ not measured/);
    assert.equal(roundsText(answer(), 5), 'the rows of http have 0 to 3 of 5 rounds');
  });
});

/** The children of a process, where the system has /proc. */
function childrenOf({ pid }: ChildProcessWithoutNullStreams): string[] {
  const list = fs.readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8');
  return list.split(' ').filter((child) => child !== '');
}

/** Whether it runs: a process that ended and was not waited for has no words. */
function isRunning(pid: string): boolean {
  try {
    return fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8') !== '';
  } catch {
    return false;
  }
}

async function until(condition: () => boolean, what: string): Promise<void> {
  for (const end = performance.now() + 30_000; !condition(); ) {
    assert.ok(performance.now() < end, `${what} did not come`);
    await pause(5);
  }
}

describe('an interrupt of the benchmark', () => {
  const commands: [string, string[]][] = [
    ['npm run benchmark-options', ['options', '--variants', 'off,empty']],
    ['npm run benchmark', ['--only', 'http', '--variants', 'off,empty']],
  ];
  for (const [command, args] of commands) {
    for (const [signal, code] of [
      ['SIGINT', 130],
      ['SIGTERM', 143],
    ] as const) {
      it(`${signal} of ${command} prints the rows so far and leaves no process and no file behind`, {
        skip: process.platform !== 'linux' && 'needs /proc',
      }, async () => {
        const temporary = fs.mkdtempSync(path.join(folder, 'tmp-'));
        const json = path.join(folder, `${signal}.json`);
        const child = spawn(
          process.execPath,
          [MAIN, ...args, '--short', '--rounds', '1000', '--json', json],
          { env: { ...process.env, TMPDIR: temporary }, detached: true },
        );
        let [stdout, stderr] = ['', ''];
        child.stdout.on('data', (text) => {
          stdout += text;
        });
        child.stderr.on('data', (text) => {
          stderr += text;
        });
        const closed = new Promise((resolve) => child.once('close', (...ending) => resolve(ending)));
        try {
          await until(() => /round 2 of 1000, .* in 2 rounds/.test(stderr), 'the second round');
          let children: string[] = [];
          await until(() => {
            children = childrenOf(child);
            return children.length > 0;
          }, 'a measured process');
          // Ctrl-C in a terminal goes to the whole group.
          process.kill(signal === 'SIGINT' ? -(child.pid as number) : (child.pid as number), signal);
          assert.deepEqual(await closed, [code, null]);
          await until(() => !children.some(isRunning), 'the end of the children');
        } finally {
          child.kill('SIGKILL');
        }
        assert.match(stdout, /│ off +│ +\d+ │ +[\d.]+ │/);
        assert.match(stdout, /Interrupted: the rows of \w+ have \d+ (?:to \d+ )?of 1000 rounds\.\n/);
        assert.doesNotMatch(stdout, /Failed:/);
        const result = JSON.parse(fs.readFileSync(json, 'utf8')) as Result;
        assert.equal(result.interrupted, true);
        assert.ok(result.answers[0].series.every(({ rounds }) => rounds.length > 0));
        assert.deepEqual(fs.readdirSync(temporary), []);
      });
    }
  }
});

describe('npm run benchmark -- --short', () => {
  it('prints a line for each row and round to standard error, and the tables to standard output', () => {
    const args = ['options', '--short', '--rounds', '2', '--variants', 'off,empty'];
    const { status, stdout, stderr } = benchmark(...args);
    assert.equal(status, 0);
    const figures = stderr.replace(/[\d.,]+(?:-[\d.,]+)?(?= us| in| events)/g, 'N');
    assert.deepEqual(figures.split('\n'), [
      'options: 2 rows, 2 rounds',
      'options: N events a request',
      'options: round 1 of 2, off: N us CPU a request',
      'options: round 1 of 2, empty hook: N us CPU a request',
      'options: round 2 of 2, empty hook: N us CPU a request, N in 2 rounds',
      'options: round 2 of 2, off: N us CPU a request, N in 2 rounds',
      '',
    ]);
    assert.match(stdout, /│ empty hook │ +2 │/);
  });

  it('measures the HTTP server, with every record of the rivals in their logs', () => {
    const rows = ['off', 'empty', 'trace-events', 'sonic-boom', 'fs-write'];
    const { answers } = measured('http', '--rounds', '1', '--only', 'http', '--variants', rows.join(','));
    assert.deepEqual(
      answers[0].series.map(({ row, rounds }) => [row, rounds.length]),
      rows.map((row) => [row, 1]),
    );
  });

  it('measures the tracer with every option and destination, with every record in its log', () => {
    const rows = [
      'traced',
      'coarse',
      'stacks-10',
      'contexts',
      'no-promise-destroy',
      'no-promises',
      'include-none',
      'send-off',
      'to-pipe',
      'to-stream',
    ];
    const args = ['--rounds', '1', '--only', 'immediates', '--variants', rows.join(',')];
    const { answers } = measured('traced', ...args);
    assert.deepEqual(
      answers[0].series.map(({ row, rounds, unavailable }) => [row, rounds.length, unavailable]),
      rows.map((row) => [row, 1, undefined]),
    );
  });

  it('measures start-up, memory and the rate of writing', () => {
    const names = ['startup', 'memory', 'growth', 'soak', 'disk', 'analyze', 'parts'];
    const { answers } = measured('figures', '--rounds', '1', '--only', names.join(','));
    assert.deepEqual(
      answers.map(({ question, series }) => [question, series.every(({ rounds }) => rounds.length === 1)]),
      names.map((name) => [name, true]),
    );
  });

  it('measures loops, and compares two results', () => {
    const names = ['await', 'ticks', 'timers', 'fs', 'stacks'];
    const args = ['--only', names.join(','), '--variants', 'off,empty'];
    const before = measured('before', '--rounds', '1', ...args);
    const later = measured('after', '--rounds', '2', ...args);
    assert.deepEqual(
      later.answers.map(({ question }) => question),
      names,
    );
    assert.ok(later.answers.every(({ series }) => series.every(({ rounds }) => rounds.length === 2)));
    assert.equal(compare(before, later).length, names.length * 2 * 2);
    const { status, stdout } = benchmark(
      'compare',
      path.join(folder, 'before.json'),
      path.join(folder, 'after.json'),
    );
    assert.equal(status, 0);
    assert.match(stdout, /await .* empty hook /);
  });

  it('refuses a question or a row that does not exist, by name', () => {
    assert.match(benchmark('--only', 'nosuch').stderr, /no question nosuch; there are http, await/);
    assert.match(benchmark('--variants', 'nosuch').stderr, /no variant nosuch; there are off, empty/);
    assert.equal(benchmark('--rounds', '0').status, 1);
    assert.equal(benchmark('--seconds', '0').status, 1);
  });

  it('refuses a --node that is none', () => {
    const { status, stderr } = benchmark('--node', '/nosuch/node', '--short');
    assert.equal(status, 1);
    assert.match(stderr, /--node \/nosuch\/node: /);
  });
});
