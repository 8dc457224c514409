import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { gzipSync } from 'node:zlib';
import type { LeaksReport, PathReport, StatsReport } from '../../lib/analyze';
import { end, event, init, run, start } from '../analyze/lines';
import { command, environment, FIXTURES, MAIN, ROOT, temporaryFolder } from './command';

const LOG = path.join(FIXTURES, 'app.ndjson');
const COMMANDS = ['stats', 'leaks', 'tree', 'slow'];

describe('the commands that read logs', () => {
  for (const name of COMMANDS) {
    it(`${name} gives the same answer from a file, a .gz, standard input and a pipe without a name`, () => {
      const gz = path.join(temporaryFolder(), 'a.gz');
      writeFileSync(gz, gzipSync(readFileSync(LOG)));
      const input = readFileSync(LOG);
      const whole = command([name, LOG]).stdout;
      assert.match(whole, /^126 records in /);
      assert.equal(command([name, gz]).stdout, whole);
      assert.equal(command([name, '-'], { input }).stdout, whole);
      assert.equal(command([name], { input }).stdout, whole);
    });

    it(`${name} --json prints the report, and nothing else`, () => {
      const { status, stdout, stderr } = command([name, '--json', LOG]);
      assert.deepEqual([status, stderr], [0, '']);
      const report = JSON.parse(stdout) as StatsReport;
      assert.equal(report.report, name);
      assert.equal(report.log.records, 126);
      assert.equal(report.log.lost, 3);
    });

    it(`${name} says what is wrong with a log that is not there`, () => {
      const { status, stdout, stderr } = command([name, 'missing.ndjson']);
      assert.deepEqual([status, stdout], [1, '']);
      assert.match(stderr, /^async-tracer: .*missing\.ndjson.*ENOENT.*\[ERR_ASYNC_TRACER_INPUT\]\n$/);
    });
  }

  for (const name of COMMANDS) {
    it(`${name} refuses what is no log, by its name`, () => {
      const script = path.join(FIXTURES, 'clean.js');
      const lines = readFileSync(script, 'utf8')
        .split('\n')
        .filter((line) => line.trim() !== '').length;
      const cases: [string[], string][] = [
        [[], 'standard input is empty, and no log was named'],
        [['-'], 'standard input is empty'],
        [['/dev/null'], '/dev/null is empty'],
        [[script], `${script} is no log of async-tracer: none of its ${lines} lines is a record`],
        [
          [script, script],
          `${script}, ${script} are no logs of async-tracer: none of their ${2 * lines} lines is a record`,
        ],
      ];
      for (const [logs, message] of cases) {
        assert.deepEqual(command([name, ...logs], { input: '' }), {
          status: 1,
          signal: null,
          stdout: '',
          stderr: `async-tracer: ${message} [ERR_ASYNC_TRACER_INPUT]\n`,
        });
      }
    });

    it(`${name} says so where a log holds no operation, and what it was limited to`, () => {
      const whole = start(0, { options: { include: null, exclude: [] } });
      const some = start(0, { options: { include: ['net', 'tls'], exclude: ['/^TCP/'] } });
      const answerTo = (line: string) => command([name, '-'], { input: `${line}\n` });
      const { status, stdout } = answerTo(`${whole}\n${end(9)}`);
      assert.equal(status, 0);
      assert.match(stdout, /\nThe log holds no operation\.\n$/);
      assert.match(
        answerTo(whole).stdout,
        /\nThe log holds no operation: its run is still going, or was killed before it wrote one\.\n$/,
      );
      assert.match(
        answerTo(some).stdout,
        /\nThe log holds no operation: it was traced with include net, tls and exclude \/\^TCP\/\.\n$/,
      );
    });
  }

  it('reads several logs as one', () => {
    const { log } = JSON.parse(command(['stats', '--json', LOG, LOG]).stdout) as StatsReport;
    assert.deepEqual([log.sources, log.runCount, log.records], [2, 2, 252]);
  });

  it('gives one answer to a rotated log whichever way its files are named', () => {
    const lines = readFileSync(LOG, 'utf8').split(/(?<=\n)/);
    const folder = temporaryFolder();
    const pieces = [lines.slice(0, 40), lines.slice(40, 90), lines.slice(90)].map((piece, i) => {
      const log = path.join(folder, ['app.ndjson.2', 'app.ndjson.1', 'app.ndjson'][i]);
      writeFileSync(log, piece.join(''));
      return log;
    });
    const whole = command(['leaks', LOG]).stdout;
    assert.equal(command(['leaks', ...pieces]).stdout, whole);
    assert.equal(command(['leaks', ...pieces.toReversed()]).stdout, whole);
  });

  it('tells that files may be in the wrong order where their names do not', () => {
    const folder = temporaryFolder();
    const log = (name: string, ...more: string[]) => {
      const file = path.join(folder, name);
      writeFileSync(file, `${more.join('\n')}\n`);
      return file;
    };
    const counts = { init: 2, before: 0, after: 0, destroy: 0, resolve: 0 };
    const first = log('b', start(0), init(5, 'TCP', 1));
    const second = log('a', init(6, 'TCP', 2), end(3, { counts }));
    const advice = /if the files are pieces of a rotated log, name the\s+oldest first/;
    assert.match(command(['stats', second, first]).stdout, advice);
    assert.doesNotMatch(command(['stats', first, second]).stdout, advice);
    const [bare, later] = [log('c', init(5, 'TCP', 1)), log('d', init(500, 'TCP', 2))];
    assert.match(command(['stats', later, bare]).stdout, advice);
    assert.doesNotMatch(command(['stats', bare, later]).stdout, advice);
    assert.doesNotMatch(command(['stats', second]).stdout, advice);
  });

  it('uses colours where they are forced, and never with NO_COLOR', () => {
    const colour = '\x1b[';
    assert.ok(!command(['leaks', LOG]).stdout.includes(colour));
    assert.ok(command(['leaks', LOG], { env: { FORCE_COLOR: '1' } }).stdout.includes(colour));
    const both = { FORCE_COLOR: '1', NO_COLOR: '1' };
    assert.ok(!command(['leaks', LOG], { env: both }).stdout.includes(colour));
  });

  it('lets nothing in a log reach the terminal but text', () => {
    const file = path.join(temporaryFolder(), 'a.ndjson');
    const record = { opid: 5, op: 'A\x1b[2J\u202e', phase: 'init', area: 'custom', parentopid: 1, time: 1.5 };
    writeFileSync(file, `${JSON.stringify({ ...record, stack: ['f\x07:/a\x1b]0;x:1:1'] })}\n`);
    for (const name of COMMANDS) {
      // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
      assert.doesNotMatch(command([name, file]).stdout, /[\x00-\x09\x0b-\x1f\u202e]/, name);
    }
  });

  it('ends without a word where its reader has enough', async () => {
    const child = spawn(process.execPath, [MAIN, 'stats', '--json', LOG], {
      env: environment(),
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    child.stdout.destroy();
    let stderr = '';
    child.stderr.on('data', (chunk) => {
      stderr += chunk;
    });
    const [code, signal] = await once(child, 'close');
    assert.deepEqual([code, signal, stderr], [0, null, '']);
  });

  it('fails with --fail also where its reader has enough', async () => {
    const child = spawn(process.execPath, [MAIN, 'leaks', '--fail', '--json', LOG], {
      env: environment(),
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    child.stdout.destroy();
    assert.deepEqual(await once(child, 'close'), [1, null]);
  });

  const full = existsSync('/dev/full') ? false : 'no /dev/full';
  it('says that the answer could not be written, without a stack trace', { skip: full }, () => {
    for (const words of [['stats', LOG], ['leaks', '--json', LOG], ['--help'], ['run', '--help']]) {
      const output = openSync('/dev/full', 'w');
      const { status, stderr } = command(words, { stdio: ['ignore', output, 'pipe'] });
      closeSync(output);
      assert.deepEqual(
        [status, stderr],
        [
          1,
          'async-tracer: standard output could not be written: ENOSPC: no space left on device, write [ERR_ASYNC_TRACER_DESTINATION]\n',
        ],
      );
    }
  });

  it('lets nothing in the name of a file reach the terminal but text', () => {
    const { stderr } = command(['stats', 'no\n\x1b[2Jlog']);
    assert.equal(
      stderr,
      'async-tracer: the log no\ufffd\ufffd[2Jlog could not be opened: ENOENT: no such file or directory [ERR_ASYNC_TRACER_INPUT]\n',
    );
  });

  it('prints a script for completion, and completes the flags of a command', () => {
    const { status, stdout } = command(['completion']);
    assert.equal(status, 0);
    assert.match(stdout, /complete .* async-tracer$/m);
    const words = command(['--get-yargs-completions', 'async-tracer', 'run', '--']).stdout.split('\n');
    for (const flag of ['--stacks', '--flush-interval', '--output', '--summary']) {
      assert.ok(words.includes(flag), flag);
    }
  });

  it('prints the script for the shell that is named, or that of the login', () => {
    const isZsh = (words: string[], SHELL: string) =>
      command(['completion', ...words], { env: { SHELL } }).stdout.startsWith('#compdef async-tracer\n');
    assert.deepEqual(
      [
        isZsh([], '/bin/zsh'),
        isZsh([], '/bin/bash'),
        isZsh(['zsh'], '/bin/bash'),
        isZsh(['bash'], '/bin/zsh'),
      ],
      [true, false, true, false],
    );
  });

  it('prints its version', () => {
    const { version } = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8'));
    assert.equal(command(['--version']).stdout, `${version}\n`);
  });
});

describe('async-tracer stats', () => {
  it('orders its rows as it is told, and shows as many', () => {
    const { ops } = JSON.parse(command(['stats', '--json', LOG]).stdout) as StatsReport;
    const most = [...ops].sort((a, b) => b.count - a.count)[0];
    const lines = command(['stats', '--sort', 'count', '--top', '1', LOG], {
      env: { COLUMNS: '80' },
    }).stdout.split('\n');
    assert.match(lines[4], new RegExp(`^${most.op} +${most.count} `));
    assert.equal(lines[6], `and ${ops.length - 1} rows more: --top ${ops.length}`);
  });
});

describe('async-tracer leaks', () => {
  const leaks = (...flags: string[]): LeaksReport =>
    JSON.parse(command(['leaks', '--json', ...flags, LOG]).stdout) as LeaksReport;

  it('fails with --fail where there is a leak, and only then', () => {
    assert.equal(command(['leaks', LOG]).status, 0);
    assert.equal(command(['leaks', '--fail', LOG]).status, 1);
    const allow = [...new Set(leaks().rows.flatMap(({ op, verdict }) => (verdict === 'leak' ? [op] : [])))];
    const flags = allow.flatMap((op) => ['--allow', String(op)]);
    // Without the line that says that records were lost, and without that which is cut.
    const input = readFileSync(LOG, 'utf8')
      .replace(/^.*"phase":"lost".*\n/m, '')
      .replace(/[^\n]+$/, '');
    const { status, stdout, stderr } = command(['leaks', '--fail', ...flags, '-'], { input });
    assert.deepEqual([status, stderr], [0, '']);
    assert.match(stdout, /^10 operations left out by --allow$/m);
  });

  const whole = [start(0), init(5, 'Timeout', 1), event('destroy', 5, 'Timeout', 2)];
  const counts = { init: 1, before: 0, after: 0, destroy: 1, resolve: 0 };
  const lost = JSON.stringify({ phase: 'lost', count: 2, time: 1_764_486_000_001 });
  const untold: [string, string | Buffer, string][] = [
    ['holds no operation', `${start(0)}\n`, 'it holds no operation'],
    ['lost records', `${[...whole, lost].join('\n')}\n`, '2 records lost'],
    ['is cut', `${whole.join('\n')}\n{"opid":6,"op":"Tim`, '1 line cut off'],
    [
      'is no whole gzip',
      gzipSync(`${whole.join('\n')}\n`).subarray(0, -4),
      'standard input read in part only',
    ],
    [
      'is not all that its end tells of',
      `${[...whole, end(3, { counts: { ...counts, init: 9 } })].join('\n')}\n`,
      '1 run not whole',
    ],
  ];
  for (const [what, input, why] of untold) {
    it(`fails with --fail where the log ${what}, since it cannot tell of a leak, and says so`, () => {
      const { status, stderr } = command(['leaks', '--fail', '-'], { input });
      assert.deepEqual(
        [status, stderr],
        [1, `async-tracer: no leak was found, but the log cannot tell: ${why}\n`],
      );
      const json = command(['leaks', '--fail', '--json', '-'], { input });
      assert.deepEqual([json.status, json.stderr], [1, stderr]);
      assert.equal(command(['leaks', '-'], { input }).status, 0);
    });
  }

  it('passes with --fail where the end of the log tells of all that is there', () => {
    const input = `${[...whole, end(3, { counts })].join('\n')}\n`;
    const { status, stdout, stderr } = command(['leaks', '--fail', '-'], { input });
    assert.deepEqual([status, stderr], [0, '']);
    assert.match(stdout, /\nNo leaks\.\n$/);
  });

  it('fails with --fail where the log holds no operation, of which nothing can be told', () => {
    const { status, stdout } = command(['leaks', '--fail', '-'], { input: `${start(0)}\n` });
    assert.equal(status, 1);
    assert.match(stdout, /The log holds no operation: /);
  });

  it('names the flags that make the log tell more, and says whether promises are counted', () => {
    const listener = { stack: ['listen:node:net:1:1'] };
    const lines = [start(0), init(5, 'PROMISE', 0), init(6, 'TCPSERVER', 1, listener), init(7, 'Timeout', 1)];
    const screen = (more: string[]) =>
      command(['leaks', '-'], { input: [...lines, ...more, end(9), ''].join('\n') }).stdout;
    const plain = screen([]);
    assert.match(plain, /^\d operations live at the end \(promises are not counted\), and no leak: --all/m);
    assert.match(plain, /trace with contexts \(--contexts\)/);
    assert.match(plain, /trace with resolve \(--resolve\)/);
    assert.match(
      screen([event('resolve', 5, 'PROMISE', 2)]),
      /^\d operations live at the end \(of promises only those that never settled are counted\), and/m,
    );
    const bare = command(['leaks', '-'], { input: `${init(6, 'TCPSERVER', 1)}\n` }).stdout;
    assert.match(bare, /trace with stacks \(--stacks\)/);
    assert.doesNotMatch(bare, /promises/);
  });

  it('shows ages as the least where the log has no end record', () => {
    const lines = [
      start(0),
      init(5, 'TCPSERVER', 0),
      init(6, 'TCPSERVER', 1),
      init(7, 'TCP', 2),
      init(8, 'Timeout', 9),
    ];
    const { stdout } = command(['leaks', '-'], { input: [...lines, ''].join('\n') });
    assert.match(stdout, /^ {2}2 TCPSERVER, at least 9 ms the oldest$/m);
    assert.match(stdout, /^ {2}1 TCP, at least 7 ms old$/m);
    const ended = command(['leaks', '-'], {
      input: [...lines, end(10, { reason: 'close' }), ''].join('\n'),
    }).stdout;
    assert.match(ended, /^ {2}2 TCPSERVER, 10 ms the oldest$/m);
  });

  it('leaves out what is allowed by call site, and what is too young', () => {
    const count = (report: LeaksReport) => report.rows.filter(({ verdict }) => verdict === 'leak').length;
    assert.equal(count(leaks()), 5);
    assert.equal(count(leaks('--allow', 'app.js:9:')), 3);
    assert.equal(count(leaks('--min-age', '145ms')), 2);
  });
});

describe('async-tracer slow', () => {
  it('says of an operation without an op that it was started before the trace, as do stats and tree', () => {
    const input = [start(0), run(5, undefined, 10, 90), init(6, 'Timeout', 95), end(100), ''].join('\n');
    const cases: [string[], RegExp][] = [
      [['slow'], /^\? +5 +\+10 ms +80 ms +\(started before the trace\)$/m],
      [['stats'], /^\? .* \(started before the trace\)$/m],
      [['tree', '--root', '5'], /^Operation 5, \? \(started before the trace\), led to 0 operations/m],
    ];
    for (const [words, line] of cases) {
      assert.match(command([...words, '-'], { input }).stdout, line);
    }
  });
});

describe('async-tracer tree', () => {
  it('says so where there is no such operation', () => {
    for (const flag of ['--op', '--root']) {
      const { status, stdout, stderr } = command(['tree', flag, '999', LOG]);
      assert.deepEqual([status, stdout], [1, '']);
      assert.match(stderr, /there is no operation 999 in the log: async-tracer tree LOG shows/);
    }
  });
});

describe('async-tracer tree --op', () => {
  it('shows of a long way the first step and the last 99, and counts those between', () => {
    const lines = Array.from({ length: 150 }, (_, i) => init(5 + i, 'TCP', i, { parentopid: 4 + i }));
    const stdout = (...flags: string[]) =>
      command(['tree', '--op', '154', ...flags, '-'], { input: `${lines.join('\n')}\n` }).stdout;
    const rows = stdout().split('\n').slice(5);
    assert.deepEqual(
      [rows[0], rows[1], rows[99], rows[100]].map((row) => Number.parseInt(row, 10)),
      [5, 56, 154, 50],
    );
    assert.equal(rows[100], '50 steps behind the first not shown: --json has them');
    assert.equal((JSON.parse(stdout('--json')) as PathReport).paths[0].steps.length, 150);
  });
});

describe('words that mean nothing', () => {
  const cases: [string, RegExp][] = [
    ['', /A command is needed\. The commands are run, stats, leaks, tree, slow, report, view, completion\./],
    ['sats', /no command "sats"\. Is stats meant\?/],
    ['xyzzy', /no command "xyzzy"\. The commands are/],
    [LOG, /A command must stand before the file, as in: async-tracer stats .*app\.ndjson/],
    [path.join(FIXTURES, 'clean.js'), /as in: async-tracer run .*clean\.js/],
    ['--bogus', /no option --bogus\./],
    ['stats --jsno x', /no option --jsno for stats\. Is --json meant\?/],
    ['stats --foo x', /no option --foo for stats\. \[/],
    ['stats --top 3 --top 4 x', /--top was given 2 times; once is enough\./],
    ['leaks --min-age 1s --min-age 2s x', /--min-age was given 2 times/],
    ['run -o a -o b x', /--output was given 2 times/],
    ['run --after 1s --after 2s x', /--after was given 2 times/],
    ['run -x app.js', /There is no option -x for run\. \[/],
    ['stats --top', /The option --top needs a value/],
    ['stats --top 0 x', /--top must be a whole number from 1; got "0"/],
    ['stats --sort size x', /--sort must be run, wait, count or live; got "size"/],
    ['stats --threshold 5 x', /--threshold must be a duration/],
    ['slow --top many x', /--top must be .*"many"/],
    ['leaks --min-age old x', /--min-age must be a duration.*"old"/],
    ['tree --op -1 x', /--op must be an opid/],
    ['tree --op 1 --root 2 x', /--op and --root were both given/],
    ['completion fish', /completion for bash and zsh; got "fish"/],
    ['tree --by magic x', /--by must be trigger or execution; got "magic"/],
  ];
  for (const [words, message] of cases) {
    it(`"${path.basename(words)}" is a mistake that is explained, with exit code 2`, () => {
      const { status, stdout, stderr } = command(words === '' ? [] : words.split(' '));
      assert.match(stderr, message);
      assert.deepEqual([status, stdout], [2, '']);
      assert.match(
        stderr,
        /^async-tracer: .*\[ERR_ASYNC_TRACER_(USAGE|OPTION)\]\nTry: async-tracer .*--help\n$/,
      );
    });
  }
});
