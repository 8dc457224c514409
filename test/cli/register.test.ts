import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { OPTIONS } from '../../lib/trace/options';
import { parseDuration } from '../../lib/trace/options/duration';
import { outputOf, resolveOutput } from '../../lib/trace/preload/output';
import { sourcesOf } from '../support/modules';
import { FIXTURES, node, REGISTER, recordsOf, startsOf, temporaryFolder } from './command';

const FAMILY = path.join(FIXTURES, 'family.js');

describe('async-tracer/register', () => {
  it('writes async-tracer-PID-THREAD.ndjson in the current folder, with header', () => {
    const cwd = temporaryFolder();
    const { status, stderr } = node(['-r', REGISTER, '-e', 'setTimeout(() => {}, 1)'], { cwd });
    assert.deepEqual([status, stderr], [0, '']);
    const [[file, start], ...others] = [...startsOf(cwd)];
    assert.equal(file, `async-tracer-${start.pid}-0.ndjson`);
    assert.deepEqual(others, []);
    const records = recordsOf(path.join(cwd, file));
    assert.deepEqual([records[0].phase, records.at(-1)?.phase], ['start', 'end']);
    assert.ok(records.some((record) => record.phase === 'init' && record.op === 'Timeout'));
  });

  it('says so and lets the program run where the clocks that it needs are gone', () => {
    const cwd = temporaryFolder();
    const mock = path.join(cwd, 'mock.js');
    writeFileSync(mock, 'process.hrtime = () => [0, 0];');
    const { status, stdout, stderr } = node(['-r', mock, '-r', REGISTER, '-p', '"ran"'], { cwd });
    assert.deepEqual([status, stdout], [0, 'ran\n']);
    assert.match(stderr, /^async-tracer: the program runs untraced\.$/m);
    assert.equal(startsOf(cwd).size, 0);
  });

  for (const flag of ['-r', '--import']) {
    it(`traces CommonJS and ES modules by ${flag}`, () => {
      for (const program of ['clean.js', 'module.mjs']) {
        const cwd = temporaryFolder();
        const { status } = node([flag, REGISTER, path.join(FIXTURES, program)], { cwd });
        assert.equal(status, 0, program);
        assert.equal(startsOf(cwd).size, 1, program);
      }
    });
  }

  it('gives every process and thread a log of its own where NODE_OPTIONS is inherited', () => {
    const cwd = temporaryFolder();
    const env = { NODE_OPTIONS: `--require ${REGISTER}`, ASYNC_TRACER_OUTPUT: 'trace.ndjson' };
    assert.equal(node([FAMILY], { cwd, env }).status, 0);
    const starts = startsOf(cwd);
    const main = starts.get('trace.ndjson');
    assert.equal(main?.thread, 0);
    const child = [...starts.values()].find(({ pid }) => pid !== main?.pid)?.pid;
    assert.deepEqual(
      [...starts.keys()].sort(),
      [
        'trace.ndjson',
        `trace.${main?.pid}-1.ndjson`,
        `trace.${child}-0.ndjson`,
        `trace.${child}-1.ndjson`,
      ].sort(),
    );
    for (const [file, { pid, thread }] of starts) {
      if (file !== 'trace.ndjson') {
        assert.equal(file, `trace.${pid}-${thread}.ndjson`);
      }
    }
  });

  it('reads each option from its variable', () => {
    const cwd = temporaryFolder();
    const env = {
      ASYNC_TRACER_OUTPUT: 'a.ndjson',
      ASYNC_TRACER_STACKS: '3',
      ASYNC_TRACER_PROMISES: 'no',
      ASYNC_TRACER_EXCLUDE: 'fs,/^Tick/',
      ASYNC_TRACER_FLUSH_INTERVAL: '50',
      ASYNC_TRACER_PREFIX: '{"app":"shop"}',
    };
    node(['-r', REGISTER, '-e', ''], { cwd, env });
    const [start] = startsOf(cwd).values();
    const { options } = start;
    assert.equal(start['app'], 'shop');
    assert.equal(options['stacks'], 3);
    assert.equal(options['promises'], false);
    assert.equal(options['flushInterval'], 50);
    assert.deepEqual(options['exclude'], ['/^fs$/s', '/^Tick/']);
  });

  for (const began of ['x', '-1', '1e300']) {
    it(`says that ASYNC_TRACER_BEGAN=${began} is none of its own, and does not trace`, () => {
      const cwd = temporaryFolder();
      const env = { ASYNC_TRACER_BEGAN: began, ASYNC_TRACER_FOR: '1m' };
      const { status, stderr } = node(['-r', REGISTER, '-e', ''], { cwd, env });
      assert.equal(status, 0);
      assert.match(
        stderr,
        /^async-tracer: ASYNC_TRACER_BEGAN is set by async-tracer, .*; got "[^"]*"\. Take it away\. \[ERR_ASYNC_TRACER_OPTION\]\nasync-tracer: the program runs untraced\.\n$/,
      );
      assert.deepEqual(readdirSync(cwd), []);
    });
  }

  it('takes an empty ASYNC_TRACER_BEGAN for one that is not set', () => {
    const cwd = temporaryFolder();
    const env = { ASYNC_TRACER_BEGAN: '', ASYNC_TRACER_FOR: '1m' };
    assert.equal(node(['-r', REGISTER, '-e', ''], { cwd, env }).status, 0);
    assert.equal(readdirSync(cwd).length, 1);
  });

  it('leaves the header out where it is told to', () => {
    const cwd = temporaryFolder();
    const env = { ASYNC_TRACER_OUTPUT: 'a.ndjson', ASYNC_TRACER_HEADER: 'false' };
    node(['-r', REGISTER, '-e', 'setTimeout(() => {}, 1)'], { cwd, env });
    const phases = new Set(recordsOf(path.join(cwd, 'a.ndjson')).map(({ phase }) => phase));
    assert.deepEqual([...phases].sort(), ['after', 'before', 'destroy', 'init']);
  });

  it('keeps to the folder in which the program began', () => {
    const cwd = temporaryFolder();
    mkdirSync(path.join(cwd, 'inner 100%'));
    const program =
      "process.chdir('inner 100%'); require('node:child_process').spawnSync(process.execPath, ['-e', ''])";
    const env = { NODE_OPTIONS: `--require ${REGISTER}`, ASYNC_TRACER_OUTPUT: 'a%%-%p.ndjson' };
    node(['-e', program], { cwd, env });
    assert.deepEqual(readdirSync(path.join(cwd, 'inner 100%')), []);
    const starts = startsOf(cwd);
    assert.equal(starts.size, 2);
    for (const [file, { pid }] of starts) {
      assert.equal(file, `a%-${pid}.ndjson`);
    }
  });

  it('begins after a time, and ends after another', () => {
    const cwd = temporaryFolder();
    const env = {
      ASYNC_TRACER_OUTPUT: 'a.ndjson',
      ASYNC_TRACER_AFTER: '40ms',
      ASYNC_TRACER_FOR: '200ms',
    };
    // Each 10 ms a timer, until the log has ended: its size is asked for, as no time is long enough for sure.
    const program = `
      const fs = require('node:fs');
      const step = () => fs.readFileSync('a.ndjson', 'utf8').includes('"phase":"end"') || setTimeout(step, 10);
      step();`;
    const began = Date.now();
    assert.equal(node(['-r', REGISTER, '-e', program], { cwd, env }).status, 0);
    const records = recordsOf(path.join(cwd, 'a.ndjson'));
    const end = records.at(-1);
    assert.ok(end?.phase === 'end' && end['reason'] === 'close');
    const first = records.find(({ phase }) => phase === 'init') as { time: number };
    // A timer may fire up to a millisecond early, and the clocks of both are rounded.
    assert.ok(first.time - began >= 38, 'nothing before the window');
    assert.ok(end.time - began >= 238, 'not shorter than asked for');
  });

  it('leaves a program alone that has closed the tracer before the window opens', () => {
    const cwd = temporaryFolder();
    const env = { ASYNC_TRACER_AFTER: '1ms' };
    const program = `
      require(${JSON.stringify(REGISTER)}).tracer.close();
      setTimeout(() => console.log('ran'), 5);`;
    const { status, stdout, stderr } = node(['-r', REGISTER, '-e', program], { cwd, env });
    assert.deepEqual([status, stdout, stderr], [0, 'ran\n', '']);
  });

  it('has one window for all processes: who starts after its end writes nothing', () => {
    const cwd = temporaryFolder();
    const env = {
      ASYNC_TRACER_OUTPUT: 'a.ndjson',
      ASYNC_TRACER_FOR: '1ms',
      ASYNC_TRACER_BEGAN: String(Date.now() - 10),
    };
    assert.equal(node(['-r', REGISTER, '-e', ''], { cwd, env }).status, 0);
    assert.deepEqual(readdirSync(cwd), []);
  });

  const wrong: [NodeJS.ProcessEnv, RegExp][] = [
    [{ ASYNC_TRACER_STACKS: 'many' }, /ASYNC_TRACER_STACKS must be .*"many".*\[ERR_ASYNC_TRACER_OPTION\]/],
    [{ ASYNC_TRACER_INCLUDE: '/(/' }, /Invalid regular expression/],
    [{ ASYNC_TRACER_OUTPUT: 'a-%x' }, /%p.*"a-%x".*\[ERR_ASYNC_TRACER_DESTINATION\]/],
    [{ ASYNC_TRACER_OUTPUT: 'missing/a' }, /missing.*folder.*\[ERR_ASYNC_TRACER_DESTINATION\]/],
    [{ ASYNC_TRACER_AFTER: '5' }, /ASYNC_TRACER_AFTER must be a duration.*"5"/],
    [
      { ASYNC_TRACER_AFTER: '400h', ASYNC_TRACER_FOR: '400h' },
      /ASYNC_TRACER_AFTER and ASYNC_TRACER_FOR must be at most 24 days together; got "400h" and "400h"/,
    ],
    [{ ASYNC_TRACER_FOR: 'ever' }, /ASYNC_TRACER_FOR must be a duration.*"ever"/],
  ];
  for (const [env, message] of wrong) {
    it(`says what is wrong with ${Object.entries(env)[0].join('=')}, and lets the program run untraced`, () => {
      const cwd = temporaryFolder();
      const { status, stdout, stderr } = node(['-r', REGISTER, '-e', 'console.log("ran")'], { cwd, env });
      assert.deepEqual([status, stdout], [0, 'ran\n']);
      const [first, second, rest] = stderr.split('\n');
      assert.match(first, /^async-tracer: /);
      assert.match(first, message);
      assert.deepEqual([second, rest], ['async-tracer: the program runs untraced.', '']);
      assert.deepEqual(readdirSync(cwd), []);
    });
  }

  it('says once that it does not know a variable, and traces', () => {
    const cwd = temporaryFolder();
    const env = { NODE_OPTIONS: `--require ${REGISTER}`, ASYNC_TRACER_STACK: '1' };
    const { stderr } = node([FAMILY], { cwd, env });
    assert.equal(
      stderr,
      'async-tracer: the variable ASYNC_TRACER_STACK is unknown and ignored. Is ASYNC_TRACER_STACKS meant?\n',
    );
    assert.equal(startsOf(cwd).size, 4);
  });

  it('takes an empty variable for one that is not set', () => {
    const cwd = temporaryFolder();
    const names = ['OUTPUT', 'AFTER', 'FOR', 'STACKS', 'CLOCK', 'HEADER', 'MKDIR'];
    const env = Object.fromEntries(names.map((name) => [`ASYNC_TRACER_${name}`, '']));
    const { stderr } = node(['-r', REGISTER, '-e', ''], { cwd, env });
    assert.equal(stderr, '');
    const [[file, { pid, options }]] = startsOf(cwd);
    assert.deepEqual([file, options['stacks']], [`async-tracer-${pid}-0.ndjson`, 0]);
  });

  it('does not trace npm itself, but what npm runs', () => {
    const cwd = temporaryFolder();
    const scripts = { go: 'node -e "0" && node -e "0"' };
    writeFileSync(path.join(cwd, 'package.json'), JSON.stringify({ name: 'app', scripts }));
    const npm = path.join(cwd, 'node_modules/npm/bin');
    mkdirSync(npm, { recursive: true });
    writeFileSync(
      path.join(npm, 'npm-cli.js'),
      "require('node:child_process').execSync(require('../../../package.json').scripts.go)",
    );
    const env = { NODE_OPTIONS: `--require ${REGISTER}` };
    assert.equal(node([path.join(npm, 'npm-cli.js')], { cwd, env }).status, 0);
    assert.equal(startsOf(cwd).size, 2);
  });

  it('does not trace the thread of module hooks', () => {
    const cwd = temporaryFolder();
    const flags = ['--no-deprecation', '-r', REGISTER, '--import', path.join(FIXTURES, 'hooks.mjs')];
    assert.equal(node([...flags, path.join(FIXTURES, 'module.mjs')], { cwd }).status, 0);
    const starts = [...startsOf(cwd).values()];
    assert.deepEqual(
      starts.map(({ thread }) => thread),
      [0],
    );
  });

  it('loads neither the command nor the read side', () => {
    const program = `console.log(JSON.stringify(Object.keys(require.cache)))`;
    const env = { ASYNC_TRACER_OUTPUT: '/dev/null' };
    const { stdout } = node(['-r', REGISTER, '-e', program], { env });
    const loaded = (JSON.parse(stdout) as string[]).flatMap(sourcesOf).join('\n');
    assert.doesNotMatch(loaded, /yargs|cli-|picocolors|lib\/(analyze|cli|testing)\//);
    assert.match(loaded, /lib\/trace\/tracer/);
  });

  it('gives the program its tracer', () => {
    const cwd = temporaryFolder();
    const env = { ASYNC_TRACER_OUTPUT: 'a.ndjson', ASYNC_TRACER_AUTOSTART: 'false' };
    const program = `const { tracer } = require(${JSON.stringify(REGISTER)}); console.log(tracer.enabled, tracer.enable().enabled)`;
    assert.equal(node(['-r', REGISTER, '-e', program], { cwd, env }).stdout, 'false true\n');
  });
});

describe('the pattern of the output', () => {
  const first = { pid: 7, thread: 0, first: true };
  const child = { pid: 8, thread: 0, first: false };
  const worker = { pid: 7, thread: 2, first: false };
  const cases: [string, string, string, string][] = [
    ['/a/x-%p-%t.log', '/a/x-7-0.log', '/a/x-8-0.log', '/a/x-7-2.log'],
    ['/a/x-%p.log', '/a/x-7.log', '/a/x-8.log', '/a/x-7.7-2.log'],
    ['/a/x-%t.log', '/a/x-0.log', '/a/x-0.8-0.log', '/a/x-2.7-2.log'],
    ['/a/x.log', '/a/x.log', '/a/x.8-0.log', '/a/x.7-2.log'],
    ['/a/x', '/a/x', '/a/x.8-0', '/a/x.7-2'],
    ['/a.b/%%p', '/a.b/%p', '/a.b/%p.8-0', '/a.b/%p.7-2'],
    ['/dev/null', '/dev/null', '/dev/null', '/dev/null'],
  ];
  for (const [pattern, ...expected] of cases) {
    it(`${pattern} gives ${expected.join(', ')}`, () => {
      assert.deepEqual(
        [first, child, worker].map((writer) => outputOf(pattern, writer)),
        expected,
      );
    });
  }

  it('is resolved against a folder whose name may hold a percent sign', () => {
    assert.equal(resolveOutput('x-%p', '/100%p'), '/100%%p/x-%p');
    assert.equal(resolveOutput('/x', '/y'), '/x');
  });

  for (const pattern of ['', '%', 'a%d', '%%%', 'a\0']) {
    it(`refuses ${JSON.stringify(pattern)}`, () => {
      assert.throws(() => resolveOutput(pattern, '/'), { code: 'ERR_ASYNC_TRACER_DESTINATION' });
    });
  }
});

describe('a duration', () => {
  const cases: [string, number][] = [
    ['500ms', 500],
    ['2s', 2000],
    ['1.5m', 90_000],
    ['1.5min', 90_000],
    ['1h', 3_600_000],
    ['0s', 0],
    [' 2s ', 2000],
  ];
  for (const [text, ms] of cases) {
    it(`${JSON.stringify(text)} is ${ms} ms`, () => assert.equal(parseDuration(text, 'x'), ms));
  }
  for (const text of ['', '2', 's', '-1s', '2 s', '1e3ms', '25d', '700h', 'Infinitys']) {
    it(`refuses ${JSON.stringify(text)}`, () => {
      assert.throws(() => parseDuration(text, '--for'), {
        code: 'ERR_ASYNC_TRACER_OPTION',
        message: /^--for must be a duration/,
      });
    });
  }
});

describe('the variables', () => {
  it('are named after the options, and those of register are none of them', () => {
    const names = OPTIONS.map(({ name }) => name as string);
    for (const own of ['output', 'after', 'for', 'began', 'session']) {
      assert.ok(!names.includes(own), own);
    }
  });
});
