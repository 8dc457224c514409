import assert from 'node:assert/strict';
import * as asyncHooks from 'node:async_hooks';
import { describe, it } from 'node:test';
import { AREAS, areaOf, opOf } from '../../lib/log/area';

// Missing in @types/node 20, present since Node 17.2.
const { asyncWrapProviders } = asyncHooks as unknown as { asyncWrapProviders: Record<string, number> };

/** The number 0 of the list: what has no provider. It is never the type of an operation. */
const NO_PROVIDER = 'NONE';

/**
 * The types that Node's JavaScript gives to the resources it makes itself, read from its sources in the running binary:
 * `new AsyncResource('X')`, `emitInit(id, 'X'`, and `super('X')` in a class that extends AsyncResource.
 */
function typesInNodesJavaScript(): Set<string> {
  const { emitWarning } = process;
  process.emitWarning = () => {};
  const natives = (process as unknown as { binding(name: string): Record<string, unknown> }).binding(
    'natives',
  );
  process.emitWarning = emitWarning;
  const types = new Set<string>();
  for (const source of Object.values(natives)) {
    if (typeof source !== 'string' || !source.includes('AsyncResource')) continue;
    for (const [, type] of source.matchAll(/new AsyncResource\(\s*['"]([^'"]+)['"]/g)) types.add(type);
    for (const [, type] of source.matchAll(/emitInit\w*\(\s*\w+,\s*['"]([^'"]+)['"]/g)) types.add(type);
    for (const [, body] of source.matchAll(/extends AsyncResource([\s\S]{0,4000}?super\([^)]*\))/g)) {
      const type = /super\(\s*['"]([^'"]+)['"]/.exec(body);
      if (type !== null) types.add(type[1]);
    }
  }
  return types;
}

/** Resources of Node's test and benchmark runners: JavaScript that describes tests, not work of an area. */
const RUNNER_TYPES = new Set(['Test', 'TestReporterScope', 'BenchSuite', 'Benchmark']);

describe('areaOf', () => {
  it(`gives every type in Node's own list an area other than custom, on ${process.version}`, () => {
    const missing = Object.keys(asyncWrapProviders).filter(
      (type) => type !== NO_PROVIDER && areaOf(opOf(type, true)) === 'custom',
    );
    assert.deepEqual(missing, []);
  });

  it(`gives every type that Node's JavaScript makes an area other than custom, on ${process.version}`, () => {
    const types = typesInNodesJavaScript();
    assert.ok(
      types.has('QueuedRequest') && types.has('Microtask') && types.has('UNDICI_REQUEST'),
      'sources are read',
    );
    const missing = [...types].filter((type) => !RUNNER_TYPES.has(type) && areaOf(type) === 'custom');
    assert.deepEqual(missing, []);
  });

  it('groups one op of each area as the design says', () => {
    const ops = {
      TCPSERVER: 'net',
      HTTPINCOMINGMESSAGE: 'http',
      HTTP2STREAM: 'http2',
      TLS: 'tls',
      GETADDRINFOREQ: 'dns',
      FSREQCALLBACK: 'fs',
      WRITE: 'streams',
      Timeout: 'timers',
      TickObject: 'ticks',
      PROMISE: 'promises',
      PROCESS: 'process',
      RANDOMBYTESREQUEST: 'crypto',
      ZLIB: 'zlib',
      MESSAGEPORT: 'worker',
      UDPSEND: 'dgram',
      TTY: 'tty',
      HEAPSNAPSHOT: 'inspector',
      GIFTWRAP: 'custom',
    };
    assert.deepEqual(Object.fromEntries(Object.keys(ops).map((op) => [op, areaOf(op)])), ops);
    assert.deepEqual([...new Set(Object.values(ops))].sort(), [...AREAS].sort(), 'every area is asked for');
  });

  for (const name of ['constructor', '__proto__', 'toString', 'hasOwnProperty', '']) {
    it(`calls the type ${JSON.stringify(name)} custom, as it does every name it does not know`, () => {
      assert.equal(areaOf(name), 'custom');
    });
  }
});

describe('opOf', () => {
  it('takes a final WRAP from the names in the list of Node', () => {
    assert.deepEqual(
      ['TCPSERVERWRAP', 'GETADDRINFOREQWRAP', 'TTYWRAP', 'FSEVENTWRAP', 'FSREQCALLBACK'].map((type) =>
        opOf(type, true),
      ),
      ['TCPSERVER', 'GETADDRINFOREQ', 'TTY', 'FSEVENT', 'FSREQCALLBACK'],
    );
  });

  it('leaves WRAP in a name that is the program’s own', () => {
    assert.equal(opOf('GIFTWRAP', false), 'GIFTWRAP');
  });

  it('leaves WRAP where it is not at the end, or is all there is', () => {
    assert.equal(opOf('WRAPPER', true), 'WRAPPER');
    assert.equal(opOf('WRAP', true), 'WRAP');
  });

  it(`never makes one op of two types in Node's list, on ${process.version}`, () => {
    const types = Object.keys(asyncWrapProviders);
    assert.equal(new Set(types.map((type) => opOf(type, true))).size, types.length);
  });
});
