import assert from 'node:assert/strict';
import { AsyncResource, createHook } from 'node:async_hooks';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext, runInThisContext } from 'node:vm';
import fc from 'fast-check';
import { createLiteral } from '../lib/trace/payload/literal';
import type { Payload } from '../lib/trace/payload/payload';
import { PayloadBuffer } from '../lib/trace/payload/payload-buffer';
import { captureContext } from '../lib/trace/stack/callsites';
import { FRAME_TABLE_COUNT, type Frame, FrameTable } from '../lib/trace/stack/frame-table';
import { FILE_NAME_MAX, FUNCTION_NAME_MAX, frameText } from '../lib/trace/stack/frame-text';
import { createStackPayload, EXTRA_FRAMES } from '../lib/trace/stack/stack';

const FIXTURES = join(__dirname, '../../test/fixtures/stack');
const TYPE = 'STACK_TEST';

interface Capture {
  /** What the payload wrote at the init of the first resource of our type. */
  frames: string[];
  /** The same stack as V8 prints it, frame by frame, without the frames to be left out. */
  printed: string[];
}

/** Runs the program and captures, in an init hook, as a tracer does. The hook's own frame is taken off. */
function capture(limit: number, program: (start: () => void) => void): Capture {
  const payload = createStackPayload(limit === Number.POSITIVE_INFINITY ? limit : limit + 1);
  let result: Capture | undefined;
  const hook = createHook({
    init(_id, type) {
      if (type !== TYPE || result !== undefined) return;
      const buffer = new PayloadBuffer(0);
      buffer.append(createLiteral('###'));
      const length = payload.append(buffer, undefined);
      assert.equal(buffer.length, length + 3);
      assert.equal(buffer.bytes.toString('utf8', 0, 3), '###');
      result = {
        frames: JSON.parse(buffer.bytes.toString('utf8', 3, buffer.length)).slice(1),
        printed: printedStack().slice(1),
      };
    },
  }).enable();
  try {
    program(() => new AsyncResource(TYPE));
  } finally {
    hook.disable();
  }
  assert.ok(result, 'no resource was made');
  return result;
}

function printedStack(): string[] {
  const { prepareStackTrace, stackTraceLimit } = Error;
  Error.stackTraceLimit = Number.POSITIVE_INFINITY;
  Error.prepareStackTrace = (_error, sites) =>
    sites.filter((site) => !/^node:(internal\/)?async_hooks$/.test(site.getFileName() ?? '')).map(String);
  const printed = new Error().stack as unknown as string[];
  Error.prepareStackTrace = prepareStackTrace;
  Error.stackTraceLimit = stackTraceLimit;
  return printed.slice(1);
}

/** A printed frame in the log's form; names with a colon are tested by themselves. */
function inLogForm(printed: string): string {
  const parts = /^(?:(.*) \()?(.*):(\d+):(\d+)\)?$/s.exec(printed);
  if (parts !== null) {
    if (parts[1] === undefined && parts[2].startsWith('async ')) {
      return `async <anonymous>:${parts[2].slice(6)}:${parts[3]}:${parts[4]}`;
    }
    return `${parts[1] ?? '<anonymous>'}:${parts[2]}:${parts[3]}:${parts[4]}`;
  }
  return `${printed.replace(/ \(<anonymous>\)$/, '')}:<anonymous>:0:0`;
}

function assertAsPrinted({ frames, printed }: Capture): void {
  assert.deepEqual(frames, printed.map(inLogForm));
}

describe('stack: frames', () => {
  it('are those that V8 prints, without the tracer and async_hooks, for functions, methods and constructors', () => {
    class Maker {
      constructor(start: () => void) {
        this.make(start);
      }
      make(start: () => void) {
        [1].forEach(function each() {
          start();
        });
      }
    }
    function top(start: () => void) {
      new Maker(start);
    }
    const { frames, printed } = capture(Number.POSITIVE_INFINITY, top);
    assertAsPrinted({ frames, printed });
    assert.deepEqual(
      frames.slice(0, 6).map((frame) => frame.split(':')[0]),
      ['<anonymous>', 'each', 'Array.forEach', 'Maker.make', 'new Maker', 'top'],
    );
  });

  it('name the receiver of each call, also where another was seen at the same place before', () => {
    class Base {
      run(start: () => void) {
        start();
      }
    }
    class Left extends Base {}
    class Right extends Base {}
    const names = [new Left(), new Right(), new Left()].map(
      (object) => capture(2, (start) => object.run(start)).frames[1].split(':')[0],
    );
    assert.deepEqual(names, ['Left.run', 'Right.run', 'Left.run']);
  });

  it('tell a call from a construction at the same place', () => {
    const both = runInThisContext('(function Both(start) { start(); })', { filename: '/app/both.js' });
    const call = capture(2, (start) => both(start)).frames[1];
    const made = capture(2, (start) => new both(start)).frames[1];
    assert.equal(call, 'Both:/app/both.js:1:25');
    assert.equal(made, 'new Both:/app/both.js:1:25');
  });

  it('are exact where two scripts of one name hold different code', () => {
    const one = runInThisContext('(function one(start) { start(); })', { filename: '/app/same.js' });
    const two = runInThisContext('(function two(start) { start(); })', { filename: '/app/same.js' });
    assert.equal(capture(2, (start) => one(start)).frames[1], 'one:/app/same.js:1:24');
    assert.equal(capture(2, (start) => two(start)).frames[1], 'two:/app/same.js:1:24');
  });

  it('include those of async functions that wait', async () => {
    let result: Capture | undefined;
    async function inner() {
      await 1;
      result = capture(Number.POSITIVE_INFINITY, (start) => start());
    }
    async function outer() {
      await inner();
    }
    await outer();
    assertAsPrinted(result!);
    assert.match(
      result!.frames.find((frame) => frame.startsWith('async outer'))!,
      /^async outer:.*stack\.test\.js:\d+:\d+$/,
    );
  });

  it('include Promise.all, which has no place of its own', async () => {
    let result: Capture | undefined;
    async function part() {
      await 1;
      result = capture(Number.POSITIVE_INFINITY, (start) => start());
    }
    async function whole() {
      await Promise.all([part()]);
    }
    await whole();
    assert.ok(result!.frames.includes('async Promise.all (index 0):<anonymous>:0:0'));
  });

  it('of eval and new Function say where the eval stands', () => {
    // biome-ignore lint/security/noGlobalEval: what is tested
    const evaluate = globalThis.eval;
    const evaluated = capture(2, (start) => evaluate('(start) => start()')(start));
    assert.match(evaluated.frames[1], /^eval:eval at .*, <anonymous>:1:12$/);
    const made = capture(2, (start) => new Function('start', 'start()')(start));
    assert.match(made.frames[1], /^eval:eval at .*, <anonymous>:3:1$/);
  });

  it('of code with a sourceURL carry it', () => {
    const run = new Function('start', 'start()\n//# sourceURL=/app/made.js');
    assert.equal(capture(2, (start) => run(start)).frames[1], 'eval:/app/made.js:3:1');
  });

  for (const filename of [
    '/app/a "quoted" \\ name.js',
    '/app/line\nfeed\u2028.js',
    '/app/a:b:c.js',
    'C:\\app\\server.js',
    'file:///app/server.mjs',
    '/app/größe/日本語/😀.js',
    '/app/(in) parentheses).js',
    '/lib/trace/stack/stack.js',
  ]) {
    it(`carry the file name ${JSON.stringify(filename)} as it is`, () => {
      const run = runInThisContext('(function run(start) { start(); })', { filename });
      assert.equal(capture(2, (start) => run(start)).frames[1], `run:${filename}:1:24`);
    });
  }

  it('carry half a surrogate pair as U+FFFD', () => {
    const run = runInThisContext('(function run(start) { start(); })', { filename: '/app/\ud800.js' });
    assert.equal(capture(2, (start) => run(start)).frames[1], 'run:/app/\ufffd.js:1:24');
  });

  it('write a colon in the name of a function as %3A', () => {
    const object = {
      'a:b "c"\n'(start: () => void) {
        start();
      },
    };
    const { frames, printed } = capture(2, (start) => object['a:b "c"\n'](start));
    const name = printed[1].slice(0, printed[1].lastIndexOf(' ('));
    assert.match(name, /a:b "c"\n$/);
    assert.equal(frames[1].split(':')[0], name.replace(':', '%3A'));
  });

  it('are at most `limit`, counted without those left out', () => {
    function deep(levels: number, start: () => void): void {
      if (levels === 0) start();
      else deep(levels - 1, start);
    }
    const whole = capture(Number.POSITIVE_INFINITY, (start) => deep(40, start)).frames;
    for (const limit of [1, 2, 10, 39]) {
      const { frames } = capture(limit, (start) => deep(40, start));
      assert.equal(frames.length, limit);
      // `capture` itself is called from another line.
      assert.deepEqual(frames, whole.slice(0, limit));
    }
    assert.ok(whole.length > 40);
  });

  it('of functions in other realms are seen', () => {
    const { frames } = capture(2, (start) =>
      runInNewContext('(function other() { start(); })()', { start }, { filename: '/app/other.js' }),
    );
    assert.equal(frames[1], 'other:/app/other.js:1:21');
  });
});

describe('stack: text of a frame', () => {
  it('can be taken apart from both ends, whatever the name of the function', () => {
    const name = fc.oneof(
      fc.string({ maxLength: 40 }),
      fc
        .array(fc.constantFrom('%', '3', 'A', '2', '5', ':', '%3A', '%25', 'x'), { maxLength: 12 })
        .map((s) => s.join('')),
    );
    fc.assert(
      fc.property(
        name,
        fc.string({ maxLength: 40 }),
        fc.nat(),
        fc.nat(),
        (functionName, fileName, line, column) => {
          const text = frameText({ functionName, fileName, lineNumber: line, columnNumber: column });
          const [, encoded, file, atLine, atColumn] = /^([^:]*):(.*):(\d+):(\d+)$/s.exec(text)!;
          const decoded = encoded.replace(/%(3A|25)/g, (_all, code) => (code === '25' ? '%' : ':'));
          assert.deepEqual([decoded, file, +atLine, +atColumn], [functionName, fileName, line, column]);
        },
      ),
    );
  });

  it('leaves a percent sign alone where it cannot be mistaken', () => {
    const location = { fileName: 'f.js', lineNumber: 1, columnNumber: 2 };
    assert.equal(frameText({ ...location, functionName: '100% sure' }), '100% sure:f.js:1:2');
    assert.equal(frameText({ ...location, functionName: '%3A' }), '%253A:f.js:1:2');
  });

  it('cuts names that are very long', () => {
    const text = frameText({
      functionName: 'f'.repeat(10_000),
      fileName: 'n'.repeat(10_000),
      lineNumber: 1,
      columnNumber: 2,
    });
    assert.equal(text, `${'f'.repeat(FUNCTION_NAME_MAX)}...:${'n'.repeat(FILE_NAME_MAX)}...:1:2`);
  });
});

describe('stack: the program', () => {
  for (const [name, expected] of [
    ['untouched', 'untouched'],
    ['frozen', 'frozen'],
    ['accessors', 'accessors'],
    ['deleted', 'deleted'],
    ['limit-zero', 'limit-zero'],
    ['own-prepare', 'own-prepare'],
    ['patched', 'patched'],
    ['replaced', 'replaced'],
  ]) {
    for (const flags of [[], ['--enable-source-maps']]) {
      it(`finds Error as it left it: ${name} ${flags.join(' ')}`, () => {
        const child = spawnSync(process.execPath, [...flags, join(FIXTURES, 'error.js'), name], {
          encoding: 'utf8',
        });
        assert.equal(child.stderr, '');
        assert.equal(child.stdout, `${expected}: same Error, frames start, program\n`);
        assert.equal(child.status, 0);
      });
    }
  }

  it('may start async work while it prepares a stack of its own', () => {
    const { prepareStackTrace } = Error;
    let result: Capture | undefined;
    function preparing(start: () => void) {
      start();
    }
    let calls = 0;
    Error.prepareStackTrace = (error) => {
      calls++;
      const { printed, frames } = captureText(preparing);
      result = { printed, frames };
      return String(error);
    };
    try {
      assert.equal(new Error('outer').stack, 'Error: outer');
    } finally {
      Error.prepareStackTrace = prepareStackTrace;
    }
    assert.equal(calls, 1);
    assert.match(result!.frames[1], /^preparing:.*stack\.test\.js:\d+:\d+$/);
    assert.ok(result!.frames.every((frame) => !/async_hooks|lib.trace/.test(frame)));
  });

  it('gets all frames of a text, also those that error-stack-parser drops', () => {
    const { prepareStackTrace } = Error;
    let frames: string[] = [];
    Error.prepareStackTrace = () => {
      frames = captureText((start) => [1].map(() => start())).frames;
    };
    try {
      void new Error('outer').stack;
    } finally {
      Error.prepareStackTrace = prepareStackTrace;
    }
    assert.deepEqual(
      frames.slice(1, 4).map((frame) => frame.replace(/:[^:]*stack\.test\.js:\d+:\d+$/, ':HERE')),
      ['<anonymous>:HERE', 'Array.map:<anonymous>:0:0', '<anonymous>:HERE'],
    );
  });

  it('can come to the end of its stack: what is thrown there is thrown by the program, and all works on', () => {
    const payload = createStackPayload(10);
    const buffer = new PayloadBuffer(0);
    let deepest = 0;
    function dive(depth: number): void {
      deepest = depth;
      payload.append(buffer, undefined);
      dive(depth + 1);
    }
    assert.throws(() => dive(0), RangeError);
    assert.ok(deepest > 100);
    assert.ok(capture(3, (start) => start()).frames.length === 3);
  });

  it('has its objects collected: no CallSite is kept', async () => {
    setFlagsFromString('--expose-gc');
    const gc = runInNewContext('gc') as () => void;
    const payload = createStackPayload(10);
    const buffer = new PayloadBuffer(0);
    const held = (() => {
      const receiver = {
        big: new Array(1000).fill(0),
        capture() {
          payload.append(buffer, undefined);
        },
      };
      receiver.capture();
      return new WeakRef(receiver);
    })();
    for (let i = 0; i < 20 && held.deref() !== undefined; i++) {
      await new Promise((resolve) => setImmediate(resolve));
      gc();
    }
    assert.equal(held.deref(), undefined);
  });
});

/** As `capture`, where V8 is formatting a stack already and cannot be asked to print another. */
function captureText(program: (start: () => void) => void): Capture {
  const payload = createStackPayload(50);
  let frames: string[] = [];
  const hook = createHook({
    init(_id, type) {
      if (type !== TYPE) return;
      const buffer = new PayloadBuffer(0);
      payload.append(buffer, undefined);
      frames = JSON.parse(buffer.bytes.toString('utf8', 0, buffer.length)).slice(1);
    },
  }).enable();
  program(() => new AsyncResource(TYPE));
  hook.disable();
  return { frames, printed: [] };
}

describe('stack: the frames of the tracer', () => {
  function taken(payload: Payload, code: number, caller?: () => unknown): string[] {
    const buffer = new PayloadBuffer(0);
    const length = payload.append(buffer, undefined, code, caller);
    return JSON.parse(buffer.bytes.toString('utf8', 0, length));
  }

  it('are left out by the function that is told, wherever that stands on the stack', () => {
    const payload = createStackPayload(2);
    function outer(): string[] {
      return inner(outer);
    }
    function inner(caller: () => unknown): string[] {
      return taken(payload, 1, caller);
    }
    function program(): string[] {
      return outer();
    }
    assert.match(program()[0], /^program:/);
    // As to what it is asked for, nothing is short.
    assert.equal(program().length, 2);
  });

  it('stand in the stack, but for those of our own files, where that function does not', () => {
    const payload = createStackPayload(2);
    function program(): string[] {
      return taken(payload, 1, () => {});
    }
    assert.match(program()[0], /^taken:/);
    assert.match(program()[1], /^program:/);
  });

  it('are counted for each op, so that the others do not pay for one that has many', () => {
    const payload = createStackPayload(1);
    const buffer = new PayloadBuffer(0);
    const { runInAsyncScope } = AsyncResource.prototype;
    const scope = new AsyncResource('SCOPE');
    let call: () => unknown = payload.append.bind(payload, buffer, undefined, 5, undefined);
    for (let i = 0; i < 2 * EXTRA_FRAMES; i++) call = runInAsyncScope.bind(scope, call, undefined);
    call();
    const frames: string[] = JSON.parse(buffer.bytes.toString('utf8', 0, buffer.length));
    assert.equal(frames.length, 1);
    assert.match(frames[0], /stack\.test\.js/);
    const { VmError } = captureContext();
    assert.ok(VmError.stackTraceLimit > 1 + 2 * EXTRA_FRAMES);
    taken(payload, 6);
    assert.equal(VmError.stackTraceLimit, 1 + EXTRA_FRAMES);
  });
});

describe('stack: the table of frames', () => {
  it('stays bounded while a program makes functions without end, and right', () => {
    const { VmError, sites } = captureContext();
    const table = new FrameTable(sites);
    const limit = VmError.stackTraceLimit;
    VmError.stackTraceLimit = 3;
    const trace = () => new VmError().stack as unknown as NodeJS.CallSite[];
    let first: [NodeJS.CallSite, Frame] | undefined;
    for (let i = 0; i < FRAME_TABLE_COUNT + 1_000; i++) {
      const run = runInThisContext(`(function f${i}(trace) { return trace(); })`, {
        filename: `/app/${i}.js`,
      });
      const [, site] = run(trace);
      const frame = table.find(site, table.top, false);
      const text = Buffer.from(frame.literal.words.buffer, 0, frame.literal.length).toString();
      assert.equal(text, `"f${i}:/app/${i}.js:1:${29 + String(i).length}",`);
      assert.equal(table.find(site, table.top, false), frame);
      first ??= [site, frame];
    }
    VmError.stackTraceLimit = limit;
    const [site, frame] = first!;
    assert.notEqual(table.find(site, table.top, false), frame, 'the table was emptied on the way');
  });
});
