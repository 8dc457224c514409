import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { after, before, describe, it } from 'node:test';
import { createContext, runInContext } from 'node:vm';
import { TracerError } from '../lib/errors';
import { asyncTracer } from '../lib/trace';
import { OPTIONS, optionsFromEnvironment, resolveOptions, variableOf } from '../lib/trace/options';

let folder: string;
before(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'async-tracer-options-'));
});
after(() => rmSync(folder, { recursive: true }));

const call = asyncTracer as (...given: unknown[]) => ReturnType<typeof asyncTracer>;

/** What a refusal might leave behind. */
function state(): unknown {
  return {
    files: readdirSync(folder),
    exit: process.listenerCount('exit'),
    monitor: process.listenerCount('uncaughtExceptionMonitor'),
    descriptors: readdirSync('/proc/self/fd').length,
  };
}

function assertRefused(given: unknown[], code: string, message: RegExp): void {
  const left = state();
  assert.throws(
    () => call(...given),
    (error) => {
      assert.ok(error instanceof TracerError, String(error));
      assert.equal(error.code, code);
      assert.match(error.message, message);
      return true;
    },
  );
  assert.deepEqual(state(), left);
}

const cycle: Record<string, unknown> = {};
cycle['itself'] = cycle;

describe('options that are refused, leaving no file, listener or descriptor', () => {
  const refused: [options: unknown, message: RegExp][] = [
    [{ append: 'yes' }, /'append' must be true or false; got "yes"/],
    [{ autostart: 1 }, /'autostart' must be true or false; got 1/],
    [{ stacks: 0 }, /'stacks' must be true, false or a number from 1 to Infinity; got 0/],
    [{ stacks: -1 }, /got -1/],
    [{ stacks: Number.NaN }, /got NaN/],
    [{ stacks: 1.5 }, /got 1.5/],
    [{ stacks: '10' }, /got "10"/],
    [{ contexts: { depth: 0 } }, /'contexts' must be .*\(depth is 0\)/],
    [{ contexts: { breadth: Number.NaN } }, /'contexts' must be .*\(breadth is NaN\)/],
    [{ contexts: { redact: [7] } }, /'contexts' must be .*\(redact is 7\)/],
    [{ contexts: { redact: [['pin']] } }, /'contexts' must be .*\(redact is an array\)/],
    [{ contexts: { redact: [undefined] } }, /'contexts' must be .*\(redact is undefined\)/],
    [{ contexts: { width: 3 } }, /it has no field 'width'/],
    [{ contexts: { redact: 'x' } }, /redact must be an array/],
    [{ contexts: null }, /got null/],
    [{ bufferSize: 0 }, /'bufferSize' must be a whole number from 1/],
    [{ bufferSize: 1.5 }, /got 1.5/],
    [{ bufferSize: 10n }, /got 10n/],
    [{ flushInterval: -1 }, /got -1/],
    [{ flushInterval: Number.POSITIVE_INFINITY }, /got Infinity/],
    [{ maxBuffer: -1 }, /'maxBuffer' must be a whole number from 0/],
    [{ overflow: 'wait' }, /'overflow' must be 'drop' or 'block'; got "wait"/],
    [{ clock: 'fast' }, /'clock' must be 'precise' or 'coarse'/],
    [{ mode: 0o10000 }, /'mode' must be a whole number from 0 to 0o7777/],
    [{ include: '' }, /'include' must be an op/],
    [{ include: [Symbol('x'), 'net'] }, /a symbol is neither/],
    [{ include: [''] }, /"" is neither/],
    [
      { include: [] },
      /'include' must be an op.*; got an array \(it is empty: nothing would be recorded\)\.$/,
    ],
    [{ exclude: 7 }, /got 7/],
    [{ prefix: 'text' }, /'prefix' must be a plain object; got "text"/],
    [{ prefix: [] }, /got an array/],
    [{ prefix: new Map() }, /got an object of a class/],
    [{ prefix: cycle }, /it cannot be written as JSON/],
    [{ suffix: { big: 1n } }, /it cannot be written as JSON/],
    [
      { prefix: { opid: 1 } },
      /^The option 'prefix' cannot be taken: the field 'opid' is one of the log's own\.$/,
    ],
    [{ suffix: { toJSON: () => ({ time: 1 }) } }, /the field 'time' is one of the log's own/],
    [{ suffix: { toJSON: () => 7 } }, /its toJSON gives something else/],
    [{ prefix: { app: 1 }, suffix: { app: 2 } }, /'app' stands in both prefix and suffix/],
    [{ resolve: true, promises: false }, /exclude each other/],
  ];
  for (const [options, message] of refused) {
    it(`${message}`, () => {
      assertRefused([path.join(folder, 'log'), options], 'ERR_ASYNC_TRACER_OPTION', message);
    });
  }

  it("overflow 'block' with a stream, naming the descriptor to give instead", () => {
    const message = /'overflow' cannot be 'block' for a stream.* Give its descriptor, 2, or a path instead/;
    assertRefused([process.stderr, { overflow: 'block' }], 'ERR_ASYNC_TRACER_OPTION', message);
    const nameless = /Give its descriptor or a path instead/;
    assertRefused([new PassThrough(), { overflow: 'block' }], 'ERR_ASYNC_TRACER_OPTION', nameless);
  });

  it('a chunk for which there is no memory', () => {
    // In a process of its own: the package takes Node's functions when it loads.
    const program = `
      const { allocUnsafeSlow } = Buffer;
      Buffer.allocUnsafeSlow = (size) => {
        if (size > 2 ** 29) throw new RangeError('Array buffer allocation failed');
        return allocUnsafeSlow(size);
      };
      const { readdirSync } = require('node:fs');
      const asyncTracer = require(${JSON.stringify(path.join(__dirname, '../lib/main.js'))});
      const left = () => [readdirSync('/proc/self/fd').length, process.listenerCount('exit')];
      asyncTracer('/dev/null').close();
      const before = left();
      try {
        asyncTracer(process.argv[1], { bufferSize: 2 ** 30 });
      } catch ({ name, code, message, cause }) {
        console.log(JSON.stringify({ name, code, message, cause: cause.message, before, after: left() }));
      }`;
    const log = path.join(folder, 'unbegun');
    const { before, after, ...error } = JSON.parse(
      execFileSync(process.execPath, ['-e', program, log], { encoding: 'utf8' }),
    );
    assert.deepEqual(error, {
      name: 'TracerError',
      code: 'ERR_ASYNC_TRACER_OPTION',
      message:
        'There is no memory for a chunk of 1073741824 bytes: Array buffer allocation failed. Give a smaller bufferSize.',
      cause: 'Array buffer allocation failed',
    });
    assert.deepEqual(after, before);
    rmSync(log);
  });

  it('options that are no plain object', () => {
    for (const options of [null, 7, 'text', [], new Date()]) {
      assertRefused([path.join(folder, 'log'), options], 'ERR_ASYNC_TRACER_OPTION', /must be a plain object/);
    }
  });

  it('an option that does not exist, with the one that is meant', () => {
    const given = [path.join(folder, 'log'), { flush_interval: 7 }];
    assertRefused(
      given,
      'ERR_ASYNC_TRACER_UNKNOWN_OPTION',
      /no option 'flush_interval'\. Is 'flushInterval' meant\?/,
    );
    assertRefused([{ stcks: true }], 'ERR_ASYNC_TRACER_UNKNOWN_OPTION', /Is 'stacks' meant\?/);
  });
});

describe('destinations that are refused, leaving no file, listener or descriptor', () => {
  const code = 'ERR_ASYNC_TRACER_DESTINATION';

  it('a path in a missing folder', () => {
    assertRefused(
      [path.join(folder, 'none', 'log')],
      code,
      /The folder does not exist: make it, or give the option mkdir: true \(the variable ASYNC_TRACER_MKDIR=true\)/,
    );
  });

  it('a folder', () => assertRefused([folder], code, /It is a folder: give the path of a file in it/));

  it('an empty path and one with a null byte', () => {
    assertRefused([''], code, /must be a path; got ""/);
    assertRefused(['a\0b'], code, /must be a path/);
  });

  it('a path below a file', () => {
    const inside = mkdtempSync(path.join(tmpdir(), 'async-tracer-options-file-'));
    writeFileSync(path.join(inside, 'file'), '');
    assertRefused([path.join(inside, 'file', 'log')], code, /A part of the path is not a folder/);
    rmSync(inside, { recursive: true });
  });

  it('a FIFO that nobody reads', () => {
    const inside = mkdtempSync(path.join(tmpdir(), 'async-tracer-options-fifo-'));
    execFileSync('mkfifo', [path.join(inside, 'fifo')]);
    assertRefused(
      [path.join(inside, 'fifo')],
      code,
      /It is a FIFO that nobody reads: start its reader first/,
    );
    rmSync(inside, { recursive: true });
  });

  it('a path without permission', (context) => {
    if (process.getuid?.() === 0) {
      context.skip('root may write anywhere');
      return;
    }
    assertRefused(['/etc/async-tracer.ndjson'], code, /This user may not write there/);
  });

  it('a descriptor that is closed', () => {
    const fd = openSync('/dev/null', 'w');
    closeSync(fd);
    assertRefused([fd], code, /It is not open, or not for writing/);
  });

  it('a descriptor that is open for reading alone', () => {
    const fd = openSync('/dev/null', 'r');
    assertRefused([fd], code, /It is not open, or not for writing/);
    closeSync(fd);
  });

  it('a descriptor of a folder', () => {
    const fd = openSync(folder, 'r');
    assertRefused([fd], code, /is a folder: it cannot be written/);
    closeSync(fd);
  });

  it('numbers that are no descriptor', () => {
    for (const fd of [-1, 1.5, Number.NaN, 2 ** 31])
      assertRefused([fd], code, /must be a whole number from 0/);
  });

  it('a stream that is destroyed, ended, in object mode, or no stream', () => {
    assertRefused([new PassThrough().destroy()], code, /must be open; this PassThrough is destroyed/);
    assertRefused([new PassThrough().end()], code, /must be writable; this PassThrough has ended/);
    assertRefused(
      [new PassThrough({ objectMode: true })],
      code,
      /must take bytes; this PassThrough is in object mode/,
    );
    assertRefused(
      [{ write() {} }],
      code,
      /must be an EventEmitter, with a method 'on'; this Object has none/,
    );
    assertRefused([{ write() {}, on() {} }], code, /with a method 'once'/);
  });

  it('a URL, with the call that makes a path of it', () => {
    const message = /destination must be .*; got a URL \(give fileURLToPath\(url\)\)\.$/;
    assertRefused([new URL('file:///tmp/log')], code, message);
    assertRefused([new URL('file:///tmp/log'), { append: true }], code, message);
  });

  it('a stream that can only be read', () => {
    assertRefused([new Readable()], code, /destination must be .*; got a stream that can only be read\.$/);
  });

  it('an object of a class, which is no options either', () => {
    assertRefused([new Date()], code, /destination must be .*; got an object of a class\.$/);
  });

  it('a path in a folder that is there and takes no new file', { skip: process.platform !== 'linux' }, () => {
    assertRefused(
      ['/proc/async-tracer.ndjson'],
      code,
      /The folder exists, but no file can be created in it\.$/,
    );
  });

  it('a symbolic link into a missing folder', () => {
    const inside = mkdtempSync(path.join(tmpdir(), 'async-tracer-options-link-'));
    symlinkSync(path.join(inside, 'none', 'log'), path.join(inside, 'link'));
    assertRefused(
      [path.join(inside, 'link')],
      code,
      /It is a symbolic link into a folder that does not exist\.$/,
    );
    rmSync(inside, { recursive: true });
  });

  it('values of other types', () => {
    for (const value of [null, true, 7n, Symbol('x'), () => {}, []]) {
      assertRefused([value], code, /must be a writable stream, a path, a file descriptor or nothing/);
    }
  });
});

describe('options that are taken', () => {
  it('undefined counts as not given', () => {
    assert.deepEqual(resolveOptions({ stacks: undefined, prefix: undefined }), resolveOptions(undefined));
  });

  it('an empty prefix adds nothing', () => {
    assert.equal(resolveOptions({ prefix: {} }).prefix, '');
  });

  it('a plain object of another realm is one', () => {
    const options = runInContext('({ prefix: { app: 1 }, include: /net/ })', createContext());
    assert.equal(resolveOptions(options).prefix, '"app":1');
  });

  it('an empty exclude leaves nothing out', () => {
    assert.deepEqual(resolveOptions({ exclude: [] }), resolveOptions(undefined));
  });

  it('stacks: true is without limit', () => {
    assert.equal(resolveOptions({ stacks: true }).stacks, Number.POSITIVE_INFINITY);
  });

  it('prefix is captured at the call', () => {
    const prefix = { app: 'before' };
    const { prefix: text } = resolveOptions({ prefix });
    prefix.app = 'after';
    assert.equal(text, '"app":"before"');
  });

  it('mkdir makes missing folders', async () => {
    const log = path.join(folder, 'made', 'here', 'log');
    await asyncTracer(log, { mkdir: true }).close();
    assert.deepEqual(readdirSync(path.dirname(log)), ['log']);
  });

  it('every option has a variable, and its default parses to itself', () => {
    for (const { name, parse, default: fallback } of OPTIONS) {
      assert.match(variableOf(name), /^ASYNC_TRACER_[A-Z_]+$/);
      if (!['none', 'all'].includes(fallback)) resolveOptions({ [name]: parse(fallback) });
    }
  });

  it('variables give what the call would', () => {
    const environment = {
      ASYNC_TRACER_STACKS: '10',
      ASYNC_TRACER_FLUSH_INTERVAL: '50',
      ASYNC_TRACER_EXCLUDE: 'PROMISE,/^Tick/',
      ASYNC_TRACER_PREFIX: '{"app":1}',
      ASYNC_TRACER_CONTEXTS: 'true',
      ASYNC_TRACER_SEND: '0',
    };
    assert.deepEqual(optionsFromEnvironment(environment), {
      stacks: 10,
      flushInterval: 50,
      exclude: ['PROMISE', /^Tick/],
      prefix: { app: 1 },
      contexts: true,
      send: false,
    });
  });

  for (const text of ['600', '0600', '0o600']) {
    it(`the variable of mode reads ${text} as octal`, () => {
      assert.deepEqual(optionsFromEnvironment({ ASYNC_TRACER_MODE: text }), { mode: 0o600 });
    });
  }

  const stacks: [string, unknown][] = [
    ['1', 1],
    ['0', false],
    ['true', true],
    ['no', false],
    ['Infinity', Number.POSITIVE_INFINITY],
  ];
  for (const [text, value] of stacks) {
    it(`the variable of stacks reads ${text} as ${value}`, () => {
      assert.deepEqual(optionsFromEnvironment({ ASYNC_TRACER_STACKS: text }), { stacks: value });
    });
  }

  it('an empty variable counts as not set', () => {
    const environment = Object.fromEntries(OPTIONS.map(({ name }) => [variableOf(name), '']));
    assert.deepEqual(optionsFromEnvironment(environment), {});
  });
});

describe('variables that are refused', () => {
  const refused: [string, string, RegExp][] = [
    ['STACKS', 'ten', /^ASYNC_TRACER_STACKS must be true, false or a number of frames from 1; got "ten"\.$/],
    ['MODE', '698', /^ASYNC_TRACER_MODE must be octal digits .*; got "698"\.$/],
    ['MODE', '77777', /got "77777"/],
    ['CLOCK', 'late', /^ASYNC_TRACER_CLOCK must be precise or coarse; got "late"\.$/],
    ['PREFIX', '{', /^ASYNC_TRACER_PREFIX must be a JSON object.*; got "\{"/],
    ['PREFIX', '{"op":1}', /^ASYNC_TRACER_PREFIX cannot be taken: the field 'op'/],
    [
      'INCLUDE',
      ',',
      /^ASYNC_TRACER_INCLUDE must be ops.*; got "," \(it is empty: nothing would be recorded\)\.$/,
    ],
    ['INCLUDE', '/(/', /^ASYNC_TRACER_INCLUDE must be ops.*\(Invalid regular expression/],
  ];
  for (const [name, text, message] of refused) {
    it(`ASYNC_TRACER_${name}=${text}`, () => {
      const environment = { [`ASYNC_TRACER_${name}`]: text };
      assert.throws(() => optionsFromEnvironment(environment), { code: 'ERR_ASYNC_TRACER_OPTION', message });
    });
  }
});
