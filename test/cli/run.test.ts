import assert from 'node:assert/strict';
import { type ChildProcessWithoutNullStreams, spawn, spawnSync } from 'node:child_process';
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { constants, tmpdir } from 'node:os';
import path from 'node:path';
import { describe, it } from 'node:test';
import { nodeOptions } from '../../lib/cli/run/program';
import {
  command,
  environment,
  FIXTURES,
  MAIN,
  REGISTER,
  ROOT,
  recordsOf,
  startsOf,
  temporaryFolder,
} from './command';

const fixture = (name: string): string => path.join(FIXTURES, name);

/** A program that is spoken to while it runs. */
function start(args: readonly string[], cwd: string): ChildProcessWithoutNullStreams {
  return spawn(process.execPath, [MAIN, 'run', ...args], { cwd, env: environment() });
}

/** Resolves when what matches `pattern` has come. */
function heard(child: ChildProcessWithoutNullStreams, pattern: RegExp): Promise<RegExpExecArray> {
  let all = '';
  return new Promise((resolve, reject) => {
    child.stdout.on('data', (chunk) => {
      all += chunk;
      const match = pattern.exec(all);
      if (match !== null) resolve(match);
    });
    child.once('close', () => reject(new Error(`ended without ${pattern}: ${JSON.stringify(all)}`)));
  });
}

function ended(
  child: ChildProcessWithoutNullStreams,
): Promise<{ code: number | null; signal: NodeJS.Signals | null; stdout: string; stderr: string }> {
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (chunk) => {
    stdout += chunk;
  });
  child.stderr.on('data', (chunk) => {
    stderr += chunk;
  });
  return new Promise((resolve) =>
    child.once('close', (code, signal) => resolve({ code, signal, stdout, stderr })),
  );
}

describe('async-tracer run', () => {
  it('traces a script and says where its log is', () => {
    const cwd = temporaryFolder();
    const { status, stdout, stderr } = command(['run', '-o', 'a.ndjson', fixture('clean.js')], { cwd });
    assert.deepEqual([status, stdout, stderr], [0, '', 'async-tracer: the log is a.ndjson\n']);
    const records = recordsOf(path.join(cwd, 'a.ndjson'));
    assert.equal(records[0].phase, 'start');
    const end = records.at(-1);
    assert.ok(end?.phase === 'end' && end['reason'] === 'exit' && end['lost'] === 0);
  });

  it('says nothing with --quiet', () => {
    const { stderr } = command(['run', '-q', '-o', '/dev/null', fixture('clean.js')]);
    assert.equal(stderr, '');
  });

  it('traces an ES module and hands on its arguments, whatever they look like', () => {
    const cwd = temporaryFolder();
    const args = ['--stacks', '-o', 'x', '--', '--help', 'a b', ''];
    const { status, stdout } = command(['run', '-o', 'a.ndjson', fixture('module.mjs'), ...args], { cwd });
    assert.deepEqual([status, stdout], [0, `${args.join(' ')}\n`]);
    assert.deepEqual([...startsOf(cwd).keys()], ['a.ndjson']);
  });

  it('hands flags that follow -- to node', () => {
    const cwd = temporaryFolder();
    const flags = ['--import', fixture('hooks.mjs'), '--no-deprecation'];
    const { status, stdout } = command(['run', '-q', '--', ...flags, fixture('module.mjs'), 'x'], { cwd });
    assert.deepEqual([status, stdout], [0, 'x\n']);
    assert.equal(startsOf(cwd).size, 1);
  });

  it('runs a command of the PATH, and gives the plain name to the first program of Node.js alone', () => {
    const cwd = temporaryFolder();
    const node = JSON.stringify(process.execPath);
    const shell = `${node} -e "setTimeout(() => {}, 1)" && ${node} -e "0"`;
    const { status, stderr } = command(['run', '-o', 'a.ndjson', '--', 'sh', '-c', shell], { cwd });
    assert.equal(status, 0);
    const starts = startsOf(cwd);
    assert.equal(starts.size, 2);
    const [second] = [...starts.keys()].filter((file) => file !== 'a.ndjson');
    assert.equal(second, `a.${starts.get(second)?.pid}-0.ndjson`);
    assert.equal(stderr, `async-tracer: the 2 logs are a.ndjson, ${second}\n`);
  });

  it('traces what npm runs, and not npm', () => {
    const cwd = temporaryFolder();
    const scripts = { test: `node ${fixture('family.js')}` };
    writeFileSync(path.join(cwd, 'package.json'), JSON.stringify({ name: 'app', version: '1.0.0', scripts }));
    const args = ['run', '-q', '-o', 'a.ndjson', '--', 'npm', 'test', '--silent'];
    const { status, stderr } = command(args, { cwd });
    assert.deepEqual([status, stderr], [0, '']);
    const starts = startsOf(cwd);
    assert.equal(starts.size, 4);
    assert.equal(new Set([...starts.values()].map(({ pid }) => pid)).size, 2);
    assert.ok(starts.has('a.ndjson'));
  });

  it('hands options on as flags, in both spellings, and negated', () => {
    const cwd = temporaryFolder();
    const flags = ['--stacks=2', '--flush-interval', '50', '--no-promise-destroy', '--contexts'];
    command(
      ['run', '-q', ...flags, '--include', 'net', '--include=fs', '-o', 'a.ndjson', fixture('clean.js')],
      {
        cwd,
      },
    );
    const [{ options }] = startsOf(cwd).values();
    assert.deepEqual(
      [options['stacks'], options['flushInterval'], options['promiseDestroy'], options['include']],
      [2, 50, false, ['/^net$/s', '/^fs$/s']],
    );
    assert.deepEqual(options['contexts'], { depth: 2, breadth: 10, redact: [] });
  });

  it('takes a number that follows --stacks for its value, and any other word for the program', () => {
    const cases: [string[], number | true][] = [
      [['--stacks', '10'], 10],
      [['--stacks', '1'], 1],
      [['--stacks=1'], 1],
      [['--stacks'], true],
    ];
    for (const [flags, expected] of cases) {
      const cwd = temporaryFolder();
      const { stderr } = command(['run', '-q', ...flags, '--mode', '600', fixture('clean.js')], { cwd });
      assert.equal(stderr, '');
      const [[file, { options }]] = startsOf(cwd);
      assert.equal(options['stacks'], expected, flags.join(' '));
      assert.equal(statSync(path.join(cwd, file)).mode & 0o777, 0o600);
    }
  });

  it('names the variable that is wrong', () => {
    const { status, stderr } = command(['run', 'a.js'], { env: { ASYNC_TRACER_STACKS: 'ten' } });
    assert.equal(status, 2);
    assert.match(stderr, /^async-tracer: ASYNC_TRACER_STACKS must be .*"ten"/);
  });

  it('takes options from variables where no flag says otherwise', () => {
    const cwd = temporaryFolder();
    const env = { ASYNC_TRACER_STACKS: '5', ASYNC_TRACER_CLOCK: 'coarse', ASYNC_TRACER_OUTPUT: 'b.ndjson' };
    command(['run', '-q', '--stacks=3', fixture('clean.js')], { cwd, env });
    const [{ options }] = startsOf(cwd).values();
    assert.deepEqual([options['stacks'], options['clock']], [3, 'coarse']);
    assert.ok(existsSync(path.join(cwd, 'b.ndjson')));
  });

  it('keeps the NODE_OPTIONS of the person, and works from a folder with spaces and quotes in its name', () => {
    const cwd = temporaryFolder();
    const strange = path.join(cwd, 'a "b" c');
    mkdirSync(strange);
    symlinkSync(path.join(ROOT, 'dist'), path.join(strange, 'dist'));
    const main = path.join(strange, 'dist/lib/cli/main.js');
    const args = ['--preserve-symlinks-main', '--preserve-symlinks', main, 'run', '-q', '-o', 'a.ndjson'];
    const program = ['--', process.execPath, '-p', 'process.stdout.write(process.env.NODE_OPTIONS); 7'];
    // What the tracer needs of its package is beside dist.
    for (const name of ['package.json', 'node_modules']) {
      symlinkSync(path.join(ROOT, name), path.join(strange, name));
    }
    const env = environment({ NODE_OPTIONS: '--max-old-space-size=333' });
    const { status, stdout, stderr } = spawnSync(process.execPath, [...args, ...program], {
      cwd,
      env,
      encoding: 'utf8',
    });
    assert.deepEqual([status, stderr], [0, '']);
    const preload = path.join(strange, 'dist/lib/register.js');
    assert.equal(stdout, `${nodeOptions(preload, '--max-old-space-size=333')}7\n`);
    assert.match(stdout, /^--require ".*" --max-old-space-size=333/);
    assert.deepEqual([...startsOf(cwd).keys()], ['a.ndjson']);
  });

  for (const code of [0, 1, 42, 255]) {
    it(`ends with exit code ${code} as the program does`, () => {
      assert.equal(
        command(['run', '-q', '-o', '/dev/null', fixture('endings.js'), String(code)]).status,
        code,
      );
    });
  }

  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGKILL', 'SIGQUIT', 'SIGUSR2'] as const) {
    it(`ends by ${signal} as the program does, and says so`, () => {
      const cwd = temporaryFolder();
      const outcome = command(['run', '-o', 'a.ndjson', fixture('endings.js'), signal], { cwd });
      assert.deepEqual([outcome.status, outcome.signal], [null, signal]);
      assert.match(outcome.stderr, new RegExp(`^async-tracer: the program was ended by ${signal}: `, 'm'));
    });
  }

  it('ends with 128 and the number of a signal that Node.js itself ignores', () => {
    const program = ['sh', '-c', 'kill -PIPE $$'];
    const { status, signal } = command(['run', '-q', '-o', '/dev/null', '--', ...program]);
    assert.deepEqual([status, signal], [128 + constants.signals.SIGPIPE, null]);
  });

  it('hands on signals', async () => {
    const cwd = temporaryFolder();
    const child = start(['-q', fixture('interrupt.js')], cwd);
    const end = ended(child);
    await heard(child, /ready/);
    child.kill('SIGINT');
    await heard(child, /interrupt 1/);
    child.stdin.write('\n');
    const { code, stdout } = await end;
    assert.deepEqual([code, stdout], [0, `ready under ${child.pid}.\ninterrupt 1\ntotal 1\n`]);
  });

  const hasScript = spawnSync('script', ['--version']).status === 0;
  it('lets Ctrl-C in a terminal reach the program once', { skip: !hasScript && 'no script(1)' }, async () => {
    const cwd = temporaryFolder();
    const words = [process.execPath, MAIN, 'run', '-q', fixture('interrupt.js')];
    // script(1) starts this by $SHELL, whatever shell that is, and the terminal interrupts the shell too: dash then ends
    // with 130, bash with what its command ended with. By the trap it goes on.
    const line = `trap : INT; ${words.map((word) => `'${word}'`).join(' ')}; exit $?`;
    const child = spawn('script', ['-qec', line, '/dev/null'], {
      cwd,
      env: environment({ TERM: 'xterm', SHELL: '/bin/sh' }),
    });
    const end = ended(child);
    const ready = await heard(child, /ready under (\d+)\./);
    // Stopped until the program has its interrupt: two that come at once may be one to it.
    process.kill(Number(ready[1]), 'SIGSTOP');
    child.stdin.write('\x03');
    await heard(child, /interrupt 1/);
    process.kill(Number(ready[1]), 'SIGCONT');
    child.stdin.write('\n');
    const { code, stdout } = await end;
    assert.match(stdout, /total 1\r?\n/);
    assert.equal(code, 0, stdout);
  });

  it('lets a signal to the whole process group reach the program, where there is no terminal', async () => {
    const child = spawn(process.execPath, [MAIN, 'run', '-q', fixture('interrupt.js')], {
      cwd: temporaryFolder(),
      env: environment(),
      detached: true,
    });
    const end = ended(child);
    await heard(child, /ready/);
    process.kill(-child.pid!, 'SIGINT');
    await heard(child, /interrupt 1/);
    child.stdin.write('\n');
    const { code, stdout } = await end;
    assert.equal(code, 0);
    // Once from the group, and perhaps once more from the command.
    assert.match(stdout, /total [12]\n$/);
  });

  it('hands on standard input, output and error', () => {
    const program = "process.stdin.pipe(process.stdout); console.error('err')";
    const { stdout, stderr } = command(
      ['run', '-q', '-o', '/dev/null', '--', process.execPath, '-e', program],
      {
        input: 'text',
      },
    );
    assert.deepEqual([stdout, stderr], ['text', 'err\n']);
  });

  it('prints a summary at the end, on standard error', () => {
    const cwd = temporaryFolder();
    const args = ['run', '--summary', '--stacks', '-o', 'a.ndjson', fixture('loop-held.js')];
    const { status, stdout, stderr } = command(args, { cwd });
    assert.deepEqual([status, stdout], [0, '']);
    assert.match(stderr, /^async-tracer: the log is a\.ndjson\n\d+ records in /);
    assert.match(stderr, /^0 lost, 0 unreadable, 0 without init$/m);
    assert.match(stderr, /loop-held: .* from .*loop-held\.js:7:1\) held the event loop for/);
  });

  it('ends as the program does where there can be no summary, and where standard error takes no more', () => {
    const cwd = temporaryFolder();
    const program = "require('node:fs').rmSync('a.ndjson'); process.exitCode = 3";
    const args = ['run', '--summary', '-o', 'a.ndjson', '--', process.execPath, '-e', program];
    const { status, stderr } = command(args, { cwd });
    assert.equal(status, 3);
    assert.match(stderr, /^async-tracer: there is no summary: .*a\.ndjson could not be opened: ENOENT/m);
    if (existsSync('/dev/full')) {
      const output = openSync('/dev/full', 'w');
      const full = command(['run', '-o', '/dev/null', fixture('endings.js'), '3'], {
        stdio: ['ignore', 'ignore', output],
      });
      closeSync(output);
      assert.equal(full.status, 3);
    }
  });

  it('says in the summary with which command all rows are shown', () => {
    const cwd = temporaryFolder();
    const program = `
      const { AsyncResource } = require('node:async_hooks');
      for (let i = 0; i < 20; i++) new AsyncResource('KIND' + i).emitDestroy();`;
    const args = ['run', '--summary', '-o', 'a.ndjson', '--', process.execPath, '-e', program];
    assert.match(command(args, { cwd }).stderr, /^and \d+ rows more: async-tracer stats --top \d+ LOG$/m);
  });

  it('traces a window of time alone', async () => {
    const cwd = temporaryFolder();
    const program = `
      const fs = require('node:fs');
      const step = () => fs.readFileSync('a.ndjson', 'utf8').includes('"phase":"end"') || setTimeout(step, 10);
      step();`;
    const args = ['run', '-q', '--after', '20ms', '--for', '50ms', '-o', 'a.ndjson', '--', process.execPath];
    assert.equal(command([...args, '-e', program], { cwd }).status, 0);
    const end = recordsOf(path.join(cwd, 'a.ndjson')).at(-1);
    assert.ok(end?.phase === 'end' && end['reason'] === 'close');
  });

  it('says how much may be missing after a signal', () => {
    const cwd = temporaryFolder();
    const program = "process.kill(process.pid, 'SIGKILL')";
    const args = ['run', '--flush-interval', '50', '-o', 'a.ndjson', '--', process.execPath, '-e', program];
    const { signal, stderr } = command(args, { cwd });
    assert.equal(signal, 'SIGKILL');
    assert.match(
      stderr,
      /^async-tracer: the program was ended by SIGKILL: .* missing: the last 50 ms \(--flush-interval\), or more where the event loop was held$/m,
    );
  });

  it('says so where no log was written', () => {
    const cwd = temporaryFolder();
    const { status, stderr } = command(['run', '--', 'sh', '-c', 'exit 3'], { cwd });
    assert.equal(status, 3);
    assert.equal(
      stderr,
      'async-tracer: no log was written: no program of Node.js ran, or it could not be traced and said so above.\n',
    );
    assert.deepEqual(readdirSync(cwd), []);
    const windowed = command(['run', '--for', '1s', '--', 'sh', '-c', ':'], { cwd });
    assert.match(windowed.stderr, /, or it began when the window of time was over\.\n$/);
  });

  const permission = ['--permission', '--experimental-permission'].find((flag) =>
    process.allowedNodeEnvironmentFlags.has(flag),
  );
  describe('under the permissions of Node.js', { skip: permission === undefined && 'it has none' }, () => {
    it('names the log of a program that may not write to the folder of the session', () => {
      const cwd = temporaryFolder();
      const flags = [permission as string, '--allow-fs-read=*', `--allow-fs-write=${cwd}/*`];
      const { status, stderr } = command(['run', '-o', 'a.ndjson', '--', ...flags, '-e', '0'], {
        cwd,
      });
      const [file] = startsOf(cwd).keys();
      assert.equal(status, 0);
      assert.match(stderr, new RegExp(`^async-tracer: the log is ${file}$`, 'm'));
      assert.match(file, /^a\.\d+-0\.ndjson$/);
    });

    it('gives the plain name to the first program that may write there', () => {
      const cwd = temporaryFolder();
      const folders = [`${cwd}/*`, `${tmpdir()}/async-tracer-*`].map(
        (folder) => `--allow-fs-write=${folder}`,
      );
      const flags = [permission as string, '--allow-fs-read=*', ...folders];
      command(['run', '-o', 'a.ndjson', '--', ...flags, '-e', '0'], { cwd });
      assert.deepEqual([...startsOf(cwd).keys()], ['a.ndjson']);
    });

    it('says what must be allowed where nothing can be written', () => {
      const cwd = temporaryFolder();
      const flags = [permission as string, '--allow-fs-read=*'];
      const { stderr } = command(['run', '-o', 'a.ndjson', '--', ...flags, '-e', '0'], { cwd });
      assert.match(
        stderr,
        /^async-tracer: The log cannot be written to .*[^.]\. \[ERR_ASYNC_TRACER_DESTINATION\]$/m,
      );
      assert.match(stderr, /^async-tracer: no log was written: /m);
      assert.ok(stderr.includes(`as in --allow-fs-read=${ROOT}/* --allow-fs-write=${cwd}/*\n`), stderr);
      assert.deepEqual(readdirSync(cwd), []);
    });

    it('says nothing of them where the flag is the program’s own word', () => {
      const cwd = temporaryFolder();
      const flag = permission as string;
      const script = path.join(cwd, 'app.js');
      writeFileSync(script, '');
      const programs: [string[], boolean][] = [
        [['sh', '-c', 'exit', flag], false],
        [['--no-warnings', script, flag], false],
        [['--', script, flag], false],
        [['--require', script, flag, script], true],
        [[process.execPath, flag, script], true],
      ];
      for (const [program, isFlag] of programs) {
        // A window that is over already: no log, whatever runs.
        const { stderr } = command(['run', '--for', '1ms', '--', ...program], {
          cwd,
          env: { ASYNC_TRACER_BEGAN: '1' },
        });
        assert.match(stderr, /no log was written: /);
        assert.equal(stderr.includes('under the permissions of Node.js'), isFlag, program.join(' '));
      }
    });
  });

  describe('names in include and exclude', () => {
    const program = `
      const { AsyncResource } = require('node:async_hooks');
      new AsyncResource('Timer').emitDestroy();
      setTimeout(() => {}, 1);`;
    const cases: [string[], string[]][] = [
      [['--include', 'timer'], ['--include timer matched no operation in the log. Is timers meant?']],
      [['--include', 'TCPWRAP'], ['--include TCPWRAP matched no operation in the log. Is TCP meant?']],
      [
        ['--include', 'net,MyPool,Tmeout*'],
        [
          '--include MyPool matched no operation in the log.',
          '--include Tmeout* matched no operation in the log. Is Timeout meant?',
        ],
      ],
      [['--include', 'Timer,/^Time/,dns,T*'], []],
      [['--include', 'timer', '--no-send'], []],
      [['--exclude', 'timer'], ['--exclude timer: Node.js has no such op or area. Is timers meant?']],
      [['--exclude', 'MyPool,Timer*,timers'], []],
    ];
    for (const [flags, expected] of cases) {
      it(`are told where they matched nothing: ${flags.join(' ')}`, () => {
        const cwd = temporaryFolder();
        const args = ['run', ...flags, '-o', 'a.ndjson', '--', process.execPath, '-e', program];
        const { status, stderr } = command(args, { cwd });
        assert.equal(status, 0);
        assert.deepEqual(
          stderr.split('\n'),
          ['the log is a.ndjson', ...expected].map((line) => `async-tracer: ${line}`).concat(''),
        );
      });
    }

    it('are told as the variables that they came from, and not where the log cannot be read again', () => {
      const cwd = temporaryFolder();
      const env = { ASYNC_TRACER_INCLUDE: 'timer' };
      const told = command(['run', '-o', 'a.ndjson', fixture('clean.js')], { cwd, env }).stderr;
      assert.match(told, /^async-tracer: ASYNC_TRACER_INCLUDE=timer matched no operation/m);
      const untold = command(['run', '-o', '/dev/null', fixture('clean.js')], { cwd, env }).stderr;
      assert.equal(untold, 'async-tracer: the log is /dev/null\n');
    });
  });

  it('makes the folder of the log where it is told to', () => {
    const cwd = temporaryFolder();
    command(['run', '-q', '--mkdir', '-o', 'x/y/a.ndjson', fixture('clean.js')], { cwd });
    assert.deepEqual(readdirSync(path.join(cwd, 'x/y')), ['a.ndjson']);
  });

  it('leaves nothing behind in the folder for temporary files', () => {
    const cwd = temporaryFolder();
    command(['run', '-q', '-o', '/dev/null', fixture('clean.js')], { env: { TMPDIR: cwd } });
    assert.deepEqual(readdirSync(cwd), []);
  });

  const refused: [string[], number, RegExp][] = [
    [[], 2, /run needs the program.*\[ERR_ASYNC_TRACER_USAGE\]\nTry: async-tracer run --help\n$/],
    [
      ['--for', 'a.js'],
      2,
      /run needs the program that is to run; "a\.js" was taken for the value of --for\. Give a duration first: async-tracer run --for 5s a\.js\./,
    ],
    [['--include=net'], 2, /run needs the program that is to run, as in:/],
    [['--stack', 'a.js'], 2, /no option --stack for run\. Is --stacks meant\?/],
    [['--stacks=x', 'a.js'], 2, /--stacks must be .*"x".*\[ERR_ASYNC_TRACER_OPTION\]/],
    [['--clock', 'late', 'a.js'], 2, /--clock must be precise or coarse; got "late"/],
    [['--clock', 'coarse', '--clock', 'precise', 'a.js'], 2, /--clock was given 2 times/],
    [['--stacks=', 'a.js'], 2, /The option --stacks needs a value/],
    [['--include', '/(/', 'a.js'], 2, /--include must be .*Invalid regular expression/],
    [['--after', '3', 'a.js'], 2, /--after must be a duration.*"3"/],
    [['-o', 'missing/x', 'a.js'], 1, /missing: there is no such folder; make it, or add --mkdir/],
    [['-o', 'a-%d', 'a.js'], 1, /%p stands for/],
    [['-o'], 2, /The option -o needs a value/],
    [['no-such-command'], 127, /"no-such-command" could not be started: .*PATH/],
  ];
  for (const [args, code, message] of refused) {
    it(`refuses "run ${args.join(' ')}" with exit code ${code}`, () => {
      const cwd = temporaryFolder();
      const { status, stdout, stderr } = command(['run', ...args], { cwd });
      assert.match(stderr, message);
      assert.match(stderr, /^async-tracer: /);
      assert.deepEqual([status, stdout], [code, '']);
      assert.deepEqual(readdirSync(cwd), []);
    });
  }
});

describe('NODE_OPTIONS', () => {
  const cases: [string, string | undefined, string][] = [
    ['/a/b.js', undefined, '--require /a/b.js'],
    ['/a/b.js', ' ', '--require /a/b.js'],
    ['/a/b.js', '--x', '--require /a/b.js --x'],
    ['/a b.js', '--x', '--require "/a b.js" --x'],
    ['C:\\a b\\"c"', undefined, '--require "C:\\\\a b\\\\\\"c\\""'],
  ];
  for (const [preload, given, expected] of cases) {
    it(`are ${expected}`, () => assert.equal(nodeOptions(preload, given), expected));
  }

  it('name a file that is there', () => assert.ok(existsSync(REGISTER)));
});
