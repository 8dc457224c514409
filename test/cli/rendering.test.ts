import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { formatDuration } from '../../lib/analyze/report/duration';
import { examples, withoutTypes } from '../../lib/cli/arguments/help';
import { formatFrame, formatSite } from '../../lib/cli/render/call-site';
import { flagOf, splitWords, standsAlone, traceFlags, variablesOf } from '../../lib/cli/run/trace-flags';
import { formatBytes, formatCount, formatCountOf, formatShare } from '../../lib/cli/terminal/numbers';
import { describeProgress, startProgress } from '../../lib/cli/terminal/progress';
import { type Screen, screenOf } from '../../lib/cli/terminal/screen';
import { renderTable } from '../../lib/cli/terminal/table';
import { beginningOf, clean, endOf, widthOf, wrap } from '../../lib/cli/terminal/text';
import { OPTIONS, variableOf } from '../../lib/trace/options';

describe('a duration', () => {
  const cases: [number | null, string][] = [
    [null, '-'],
    [0, '0'],
    [0.0005, '500 ns'],
    [0.001, '1 us'],
    [0.0123456, '12.3 us'],
    [0.9996, '1 ms'],
    [0.9994, '999 us'],
    [1.2345, '1.23 ms'],
    [999.6, '1 s'],
    [12_345, '12.3 s'],
    [119_400, '119 s'],
    [120_000, '2 min'],
    [7_200_000, '2 h'],
    [1e9, '278 h'],
  ];
  for (const [ms, text] of cases) {
    it(`of ${ms} ms is ${text}`, () => assert.equal(formatDuration(ms), text));
  }
});

describe('figures', () => {
  it('have separators, nouns and units', () => {
    assert.equal(formatCount(1234567), '1,234,567');
    assert.equal(formatCount(null), '-');
    assert.deepEqual([formatCountOf(1, 'run'), formatCountOf(0, 'run')], ['1 run', '0 runs']);
    assert.deepEqual([0, 0.0001, 0.0123, 0.0994, 0.0996, 1].map(formatShare), [
      '0.0 %',
      '<0.1 %',
      '1.2 %',
      '9.9 %',
      '10 %',
      '100 %',
    ]);
    assert.deepEqual([0, 999, 1000, 999_600, 2.5e9].map(formatBytes), [
      '0 B',
      '999 B',
      '1 kB',
      '1 MB',
      '2.5 GB',
    ]);
  });
});

describe('text in columns', () => {
  it('takes what could move the cursor out', () => {
    assert.equal(clean('a\x1b[2J\tb\u202ec\x7f'), 'a\ufffd[2J\ufffdb\ufffdc\ufffd');
  });

  it('knows wide characters, marks without width, and colours', () => {
    assert.deepEqual(['abc', '日本', 'e\u0301', '\x1b[31mx\x1b[39m', 'a→b'].map(widthOf), [3, 4, 1, 1, 3]);
  });

  it('cuts to the width, at either end', () => {
    assert.deepEqual([endOf('abcdef', 4), beginningOf('abcdef', 4)], ['…def', 'abc…']);
    assert.deepEqual([endOf('abcdef', 6), beginningOf('abcdef', 6)], ['abcdef', 'abcdef']);
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.integer({ min: 1, max: 20 }), (text, width) => {
        assert.ok(widthOf(endOf(text, width)) <= width);
        assert.ok(widthOf(beginningOf(text, width)) <= width);
      }),
    );
  });

  it('breaks lines at spaces', () => {
    assert.equal(wrap('aa bb cc dd', 5, '  '), 'aa bb\n  cc\n  dd');
    assert.equal(wrap('a verylongword b', 4, ''), 'a\nverylongword\nb');
  });
});

describe('a call site', () => {
  const frame = { function: 'serve', file: '/app/lib/server.js', line: 12, column: 5 };
  it('is relative to the folder, and gives up the name before the path', () => {
    assert.equal(formatFrame(frame, '/app'), 'serve (lib/server.js:12:5)');
    assert.equal(formatFrame(frame, '/app', 22), 'lib/server.js:12:5');
    assert.equal(formatFrame(frame, '/app', 15), '…server.js:12:5');
    assert.equal(formatFrame(frame, '/other'), 'serve (/app/lib/server.js:12:5)');
  });

  it('may be a URL, a module of Node.js, or without a name', () => {
    assert.equal(formatFrame({ ...frame, file: 'file:///app/a%20b.mjs' }, '/app'), 'serve (a b.mjs:12:5)');
    assert.equal(
      formatFrame({ ...frame, file: 'node:net', function: '' }, '/app'),
      '<anonymous> (node:net:12:5)',
    );
    assert.equal(formatFrame({ ...frame, file: 'file://%' }, '/app'), 'serve (file://%:12:5)');
  });

  it('that is taken from the cause says so', () => {
    assert.equal(formatSite({ site: frame, inherited: true }, '/app'), 'under serve (lib/server.js:12:5)');
    assert.equal(formatSite({ site: null, inherited: false }, '/app'), '');
  });
});

function screen(width: number): Screen {
  return { ...screenOf({}, {}), width };
}

describe('a table', () => {
  const columns = [
    { head: 'op', align: 'left' as const, cell: (row: string[]) => row[0] },
    { head: 'count', cell: (row: string[]) => row[1] },
    { head: 'p95', cell: (row: string[]) => row[2], dropRank: 1 },
  ];
  const rows = [
    ['Timeout', '7', '1.2 ms', 'poll (a/long/path/poll.js:12:3)'],
    ['TCP', '1,000', '-', ''],
  ];
  const wide = { head: 'from', cell: (row: string[], width: number) => endOf(row[3], width) };

  it('has its call sites beside the figures where there is room', () => {
    assert.equal(
      renderTable(columns, rows, screen(80), wide),
      'op       count     p95  from\nTimeout      7  1.2 ms  poll (a/long/path/poll.js:12:3)\nTCP      1,000       -\n',
    );
  });

  it('has them on lines of their own where there is little, and gives up what can be spared', () => {
    assert.equal(
      renderTable(columns, rows, screen(20), wide),
      'op       count\nTimeout      7\n    …h/poll.js:12:3)\nTCP      1,000\n',
    );
  });

  it('is nothing without rows', () => assert.equal(renderTable(columns, [], screen(80), wide), ''));

  it('fits any width from 40 on', () => {
    const cell = fc.string({ maxLength: 12 });
    fc.assert(
      fc.property(
        fc.array(fc.tuple(cell, cell, cell, fc.string({ maxLength: 90 })), { minLength: 1 }),
        fc.integer({ min: 40, max: 200 }),
        (cells, width) => {
          const lines = renderTable(
            columns,
            cells.map((row) => row.map(clean)),
            screen(width),
            wide,
          ).split('\n');
          assert.ok(lines.every((line) => widthOf(line) <= width));
        },
      ),
    );
  });
});

describe('a screen', () => {
  it('is as wide as the terminal, as COLUMNS, or without limit', () => {
    assert.equal(screenOf({ isTTY: true, columns: 91 }, { COLUMNS: '50' }).width, 91);
    assert.equal(screenOf({}, { COLUMNS: '50' }).width, 50);
    assert.equal(screenOf({}, {}).width, Number.POSITIVE_INFINITY);
    assert.equal(screenOf({}, { COLUMNS: '3' }).width, 40);
  });

  const colours: [boolean, NodeJS.ProcessEnv, boolean][] = [
    [true, {}, true],
    [true, { TERM: 'dumb' }, false],
    [true, { NO_COLOR: '1' }, false],
    [true, { NO_COLOR: '' }, true],
    [false, {}, false],
    [false, { FORCE_COLOR: '1' }, true],
    [true, { FORCE_COLOR: '0' }, false],
    [false, { FORCE_COLOR: '1', NO_COLOR: '1' }, false],
  ];
  for (const [isTTY, environment, expected] of colours) {
    it(`has ${expected ? '' : 'no '}colours ${isTTY ? 'in' : 'outside of'} a terminal with ${JSON.stringify(environment)}`, () => {
      assert.equal(screenOf({ isTTY }, environment).colors.isColorSupported, expected);
    });
  }
});

describe('progress', () => {
  it('tells share, rate and time left; without a size the rate', () => {
    const progress = { bytes: 250_000_000, totalBytes: 1_000_000_000, records: 2_000_000 };
    assert.equal(describeProgress(progress, 2000), '25 % of 1 GB  1,000,000 records/s  6 s left');
    assert.equal(
      describeProgress({ ...progress, totalBytes: undefined }, 2000),
      '250 MB  2,000,000 records  1,000,000 records/s',
    );
  });

  it('is not drawn where standard error is no terminal', () => {
    assert.equal(startProgress({ isTTY: false } as NodeJS.WriteStream).onProgress, undefined);
  });
});

describe('the flags of run', () => {
  it('are those of the table, one for one', () => {
    assert.deepEqual(
      Object.keys(traceFlags('x')),
      OPTIONS.map(({ name }) => flagOf(name)),
    );
    assert.equal(flagOf('flushInterval'), 'flush-interval');
  });

  it('come out as the variables that mean the same', () => {
    const given = { stacks: '5', 'flush-interval': '20', include: ['net', 'fs'], header: 'false' };
    assert.deepEqual(variablesOf(given, {}), {
      ASYNC_TRACER_STACKS: '5',
      ASYNC_TRACER_FLUSH_INTERVAL: '20',
      ASYNC_TRACER_INCLUDE: 'net,fs',
      ASYNC_TRACER_HEADER: 'false',
    });
    for (const { name } of OPTIONS) {
      assert.match(variableOf(name), /^ASYNC_TRACER_[A-Z_]+$/);
    }
  });

  it('are checked together with the variables that are there already', () => {
    assert.throws(() => variablesOf({ resolve: 'true' }, { ASYNC_TRACER_PROMISES: 'no' }), {
      code: 'ERR_ASYNC_TRACER_OPTION',
    });
  });

  const values = ['-o', '--output', '--for'];
  const cases: [string, string[], string[]][] = [
    ['app.js', [], ['app.js']],
    ['app.js --stacks', [], ['app.js', '--stacks']],
    ['--stacks app.js', ['--stacks=true'], ['app.js']],
    ['--stacks=3 app.js', ['--stacks=3'], ['app.js']],
    ['--header false app.js', ['--header=false'], ['app.js']],
    ['--contexts {"depth":3} app.js', ['--contexts={"depth":3}'], ['app.js']],
    ['--header -- true', ['--header=true'], ['true']],
    ['--no-promises app.js', ['--promises=false'], ['app.js']],
    ['--clock coarse app.js', ['--clock', 'coarse'], ['app.js']],
    ['-o a.log app.js -o b', ['-o', 'a.log'], ['app.js', '-o', 'b']],
    ['--for 2s --summary app.js', ['--for', '2s', '--summary'], ['app.js']],
    ['--stacks -- --import x app.ts', ['--stacks=true'], ['--import', 'x', 'app.ts']],
    ['-- npm test', [], ['npm', 'test']],
    ['--unknown app.js', ['--unknown'], ['app.js']],
    ['--clock', ['--clock'], []],
    ['', [], []],
  ];
  for (const [line, flags, program] of cases) {
    it(`"${line}" is taken apart`, () => {
      assert.deepEqual(splitWords(line === '' ? [] : line.split(' '), values), { flags, program });
    });
  }

  it('stand alone where they may be true', () => {
    const alone = OPTIONS.filter(standsAlone).map(({ name }) => name);
    assert.ok(alone.includes('stacks') && alone.includes('contexts') && alone.includes('mkdir'));
    assert.ok(!alone.includes('clock') && !alone.includes('prefix') && !alone.includes('bufferSize'));
  });
});

describe('help', () => {
  it('has examples in two columns, long ones in two lines', () => {
    const long = `x ${'y'.repeat(60)}`;
    assert.equal(
      examples([
        ['a b', 'one'],
        ['a', 'two'],
        [long, 'three'],
      ]),
      `Examples:\n  a b  one\n  a    two\n  ${long}\n    three`,
    );
  });

  it('leaves out the types of flags', () => {
    assert.equal(
      withoutTypes('  --a  does a      [boolean]\n  --b  b  [default: 1]\n'),
      '  --a  does a\n  --b  b  [default: 1]',
    );
  });
});
