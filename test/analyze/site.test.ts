import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseFrame } from '../../lib/analyze/site/frame';
import { siteOf } from '../../lib/analyze/site/site';

describe('frames', () => {
  it('are parsed from both ends, so that a file name may hold colons', () => {
    const cases: Record<string, [string, string, number, number]> = {
      'listen:/app/server.js:12:5': ['listen', '/app/server.js', 12, 5],
      'run:file:///app/a:b.mjs:1:2': ['run', 'file:///app/a:b.mjs', 1, 2],
      'get x:C:\\app\\index.js:3:14': ['get x', 'C:\\app\\index.js', 3, 14],
      'a%3Ab:node:internal/timers:9:9': ['a:b', 'node:internal/timers', 9, 9],
      'a%253Ab 100%:/app/x.js:1:1': ['a%3Ab 100%', '/app/x.js', 1, 1],
      ':/app/x.js:1:1': ['', '/app/x.js', 1, 1],
    };
    for (const [text, [name, file, line, column]] of Object.entries(cases)) {
      assert.deepEqual(parseFrame(text), { function: name, file, line, column }, text);
    }
  });

  it('are undefined for any text of another form', () => {
    for (const text of ['', 'a', 'a:b', 'a:1:2', 'a:b.js:x:2', 'a:b.js:1:'])
      assert.equal(parseFrame(text), undefined, text);
  });
});

describe('call sites', () => {
  const own = 'handler:/app/routes.js:10:3';
  const packaged = 'query:/app/node_modules/pg/lib/client.js:5:1';
  const node = 'listenInCluster:node:net:2000:12';

  it('are the first frame of the own code, not of Node and not of a package', () => {
    assert.deepEqual(siteOf([node, packaged, own]).frame, parseFrame(own));
    assert.deepEqual(siteOf([node, 'f:C:\\app\\node_modules\\x\\i.js:1:1', own]).frame, parseFrame(own));
  });

  it('are the first frame of a package where no own frame exists', () => {
    assert.deepEqual(siteOf([node, packaged]).frame, parseFrame(packaged));
  });

  it("are none where all frames are Node's own", () => {
    assert.deepEqual(siteOf([node]), { frame: undefined, via: 'node', inherited: false });
  });

  it("are not in WebAssembly that Node calls, as fetch does its parser; in the user's own they are", () => {
    const wasm = ['helper:wasm://wasm/00036472:1:11', '<anonymous>:wasm://wasm/00036472:1:8072'];
    const parser = ['wasm_on_message_complete:node:internal/deps/undici/undici:1:1', ...wasm];
    const execute = 'execute:node:internal/deps/undici/undici:2:1';
    assert.equal(siteOf([...parser, execute]).via, 'node');
    assert.deepEqual(siteOf([...parser, execute, own]).frame, parseFrame(own));
    assert.equal(siteOf([...parser, execute, own]).via, 'call');
    assert.deepEqual(siteOf([node, ...wasm, own]).frame, parseFrame(wasm[0]));
  });

  it('show what Node did in between: a standard stream, a signal, a resolver, a timer of its own', () => {
    const cases: [string[], string][] = [
      [
        [
          'getStdout:node:internal/bootstrap/switches/is_main_thread:1:1',
          'get:node:internal/bootstrap/x:1:1',
          own,
        ],
        'stdio',
      ],
      [['getStdin:node:internal/bootstrap/switches/is_main_thread:1:1', own], 'stdin'],
      [['startListeningIfSignal:node:internal/process/signal:1:1', 'emit:node:events:1:1', own], 'signal'],
      [['ResolverBase:node:internal/dns/utils:1:1', 'lookup:node:dns:1:1', own], 'resolver'],
      [
        [
          'Timeout:node:internal/timers:1:1',
          'setUnrefTimeout:node:internal/timers:1:1',
          'cache:node:internal/http:1:1',
          own,
        ],
        'call',
      ],
      [['Timeout:node:internal/timers:1:1', 'setTimeout:node:timers:1:1', own], 'user'],
      [['setTimeout:node:timers:1:1', packaged, 'x:node:events:1:1', own], 'user'],
    ];
    for (const [stack, via] of cases) assert.equal(siteOf(stack).via, via, stack[0]);
  });
});
