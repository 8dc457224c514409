import assert from 'node:assert/strict';
import { createHook } from 'node:async_hooks';
import { spawnSync } from 'node:child_process';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { CONTEXT_BYTES_MAX, CONTEXT_FIELDS_MAX, createContextPayload } from '../lib/trace/context/context';
import { Redaction } from '../lib/trace/context/redaction';
import { CONTEXT_STRING_MAX } from '../lib/trace/context/scalar';
import { createLiteral } from '../lib/trace/payload/literal';
import type { Payload } from '../lib/trace/payload/payload';
import { PayloadBuffer } from '../lib/trace/payload/payload-buffer';

const FIXTURES = join(__dirname, '../../test/fixtures/context');

interface Options {
  depth?: number;
  breadth?: number;
  redact?: (string | RegExp)[];
}

/** What the payload appends; what stands before it must be left alone. */
function appended(payload: Payload, resource: object | undefined): string {
  const buffer = new PayloadBuffer(0);
  buffer.append(createLiteral('###'));
  const length = payload.append(buffer, resource);
  assert.equal(buffer.length, length + 3);
  assert.equal(buffer.bytes.toString('utf8', 0, 3), '###');
  return buffer.bytes.toString('utf8', 3, buffer.length);
}

/** The JSON text that stands in the record. */
function textOf(resource: object | undefined, options: Options = {}): string {
  const payload = createContextPayload({
    depth: options.depth ?? 2,
    breadth: options.breadth ?? 10,
    redact: options.redact ?? [],
  });
  return appended(payload, resource);
}

function contextOf(resource: object, options: Options = {}): unknown {
  return JSON.parse(textOf(resource, options));
}

/** A value that stands one level down, as JSON tells it. */
function shown(value: unknown, options?: Options): unknown {
  return (contextOf({ value }, options) as { value: unknown }).value;
}

describe('context: values', () => {
  class Socket {
    fd = 7;
  }
  class Failure extends TypeError {}
  function named() {}

  const cases: [string, unknown, unknown][] = [
    ['a string', 'text', 'text'],
    ['an empty string', '', ''],
    ['quotes and line feeds', 'a "b"\\\n\t\u0000\u007f', 'a "b"\\\n\t\u0000\u007f'],
    ['text beyond ASCII', 'größe 日本語 😀 \u2028', 'größe 日本語 😀 \u2028'],
    ['half a surrogate pair', 'a\ud800b\udc00', 'a\ufffdb\ufffd'],
    ['null', null, null],
    ['true', true, true],
    ['false', false, false],
    ['zero', 0, 0],
    ['minus zero', -0, 0],
    ['a whole number', 999_999_999, 999_999_999],
    ['a larger whole number', 1_000_000_000, 1_000_000_000],
    ['a large number', 1.5e300, 1.5e300],
    ['a negative number', -12, -12],
    ['a fraction', 1282.25, 1282.25],
    ['NaN', Number.NaN, 'NaN'],
    ['infinity', Number.NEGATIVE_INFINITY, '-Infinity'],
    ['a BigInt', 123n, '123n'],
    ['a BigInt of any length', 2n ** 100_000n, '[BigInt]'],
    ['a symbol', Symbol('mark'), 'Symbol(mark)'],
    ['a function', named, '[Function: named]'],
    ['a function without a name', (() => () => {})(), '[Function]'],
    ['a class', Socket, '[Function: Socket]'],
    ['a regular expression', /a\/"b"/giu, '/a\\/"b"/giu'],
    ['a date', new Date(0), '1970-01-01T00:00:00.000Z'],
    ['an invalid date', new Date(Number.NaN), 'Invalid Date'],
    ['a Map', new Map([[1, 2]]), '[Map(1)]'],
    ['a Set', new Set([1, 2]), '[Set(2)]'],
    ['a Buffer', Buffer.from('secret'), '[Buffer(6)]'],
    ['a typed array', new Float64Array(3), '[Float64Array(3)]'],
    ['an ArrayBuffer', new ArrayBuffer(5), '[ArrayBuffer(5)]'],
    ['a SharedArrayBuffer', new SharedArrayBuffer(5), '[SharedArrayBuffer(5)]'],
    ['a DataView', new DataView(new ArrayBuffer(5)), '[DataView]'],
    ['an error', new Failure('it broke'), '[Failure: it broke]'],
    ['an error without a message', new Error(), '[Error]'],
    ['a boxed number', Object(1), '[Number]'],
    ['a WeakMap', new WeakMap(), {}],
    ['a promise', Promise.resolve(1), {}],
    ['an object of a class', new Socket(), { fd: 7 }],
    ['an object without a prototype', Object.assign(Object.create(null), { a: 1 }), { a: 1 }],
    ['an array', [1, 'a', null, undefined, [1, 2]], [1, 'a', null, null, '[Array(2)]']],
    // biome-ignore lint/suspicious/noSparseArray: what is tested
    ['an array with holes', [1, , 3], [1, null, 3]],
    ['a regular expression of another realm', runInNewContext('/x/g'), '/x/g'],
    ['a map of another realm', runInNewContext('new Map()'), '[Map(0)]'],
    ['an object that only claims to be a Map', Object.create(Map.prototype), '[Map]'],
    ['an object that only claims to be a RegExp', Object.create(RegExp.prototype), '[RegExp]'],
  ];
  for (const [title, value, expected] of cases) {
    it(`show ${title}`, () => assert.deepEqual(shown(value), expected));
  }

  it('leave out undefined fields, fields under symbols and fields that are not enumerable', () => {
    const resource = { a: undefined, b: 1, [Symbol('c')]: 2 };
    Object.defineProperty(resource, 'd', { value: 3, enumerable: false });
    assert.equal(textOf(resource), '{"b":1}');
  });

  it('are none where there is no resource', () => assert.equal(textOf(undefined), ''));

  it('show the own data of a resource of any kind', () => {
    assert.equal(textOf({}), '{}');
    assert.equal(textOf([]), '[]');
    assert.equal(textOf([1, 2]), '[1,2]');
    assert.equal(textOf(Promise.resolve()), '{}');
    assert.equal(textOf(named), '"[Function: named]"');
    assert.equal(textOf(new Proxy({}, {})), '"[Proxy]"');
    assert.equal(textOf(/x/), '"/x/"');
  });

  it('of a module namespace are not read: a binding that is not there yet throws', () => {
    const child = spawnSync(process.execPath, [join(FIXTURES, 'namespace.mjs')], { encoding: 'utf8' });
    assert.equal(child.stderr, '');
    assert.equal(child.stdout, '"[Module]"\n{"self":"[Module]","after":1}\n');
  });
});

describe('context: code of the program', () => {
  it('is not run by getters, setters, toJSON, toString, valueOf and inspection', () => {
    let ran = 0;
    const trap = () => {
      ran++;
      throw new Error('run');
    };
    const resource = {
      get getter() {
        return trap();
      },
      set setter(_value: unknown) {
        trap();
      },
      toJSON: trap,
      toString: trap,
      valueOf: trap,
      [Symbol.toPrimitive]: trap,
      [Symbol.for('nodejs.util.inspect.custom')]: trap,
      array: Object.defineProperty([1, 2], 1, { get: trap }),
    };
    assert.deepEqual(contextOf(resource), {
      getter: '[Getter]',
      setter: '[Getter]',
      toJSON: '[Function: trap]',
      toString: '[Function: trap]',
      valueOf: '[Function: trap]',
      array: [1, '[Getter]'],
    });
    assert.equal(ran, 0);
  });

  it('is not run by Proxies, wherever they stand', () => {
    const traps = new Proxy(
      {},
      {
        get(_target, trap) {
          return () => {
            throw new Error(`the trap ${String(trap)} was run`);
          };
        },
      },
    );
    const proxy = new Proxy({}, traps);
    const callable = new Proxy(() => {}, traps);
    const inherits = Object.create(proxy);
    const madeBy = Object.create({ constructor: callable });
    assert.deepEqual(contextOf({ proxy, callable, inherits, madeBy, list: [proxy] }), {
      proxy: '[Proxy]',
      callable: '[Proxy]',
      inherits: {},
      madeBy: {},
      list: ['[Proxy]'],
    });
  });

  it('is not run by names of classes, functions and errors that are getters', () => {
    const trap = () => {
      throw new Error('run');
    };
    class Named {}
    Object.defineProperty(Named, 'name', { get: trap });
    const message = Object.defineProperty(new Error(), 'message', { get: trap });
    const constructed = Object.create(Object.defineProperty({}, 'constructor', { get: trap }));
    const flags = /x/g;
    Object.defineProperty(flags, 'flags', { get: trap });
    Object.defineProperty(flags, 'source', { get: trap });
    const lists = { list: [new Named(), message, constructed, flags, Named] };
    assert.deepEqual(contextOf(lists), { list: ['[Object]', '[Error]', '[Object]', '/x/g', '[Function]'] });
  });

  it('changes nothing by patching and polluting what it can after the load', () => {
    const child = spawnSync(process.execPath, [join(FIXTURES, 'patched.js')], { encoding: 'utf8' });
    assert.equal(child.stderr, '');
    assert.equal(child.stdout, 'same\n');
    assert.equal(child.status, 0);
  });
});

describe('context: bounds', () => {
  it('show two levels by default, and name what is deeper', () => {
    const resource = { a: { b: { c: { d: 1 } }, e: [[1]], f: [] } };
    assert.deepEqual(contextOf(resource), { a: { b: '[Object]', e: '[Array(1)]', f: '[Array(0)]' } });
    assert.deepEqual(contextOf(resource, { depth: 1 }), { a: '[Object]' });
    assert.deepEqual(contextOf(resource, { depth: 3 }), {
      a: { b: { c: '[Object]' }, e: ['[Array(1)]'], f: [] },
    });
    assert.deepEqual(contextOf(resource, { depth: 9 }), { a: { b: { c: { d: 1 } }, e: [[1]], f: [] } });
  });

  it('say how many fields and elements are not shown', () => {
    const fields = Object.fromEntries(Array.from({ length: 12 }, (_, i) => [`f${i}`, i]));
    assert.deepEqual(contextOf(fields, { breadth: 2 }), { f0: 0, f1: 1, '...': '10 more' });
    assert.deepEqual(contextOf(fields, { breadth: 12 }), fields);
    assert.deepEqual(contextOf([1, 2, 3, 4], { breadth: 3 }), [1, 2, 3, '... 1 more']);
    assert.deepEqual(contextOf(new Array(4_000_000_000), { breadth: 1 }), [null, '... 999999999 more']);
  });

  it('name an object that holds the one that holds it', () => {
    const resource: Record<string, unknown> = { name: 'r' };
    resource.self = resource;
    resource.child = { parent: resource, list: [resource] };
    assert.deepEqual(contextOf(resource, { depth: 9 }), {
      name: 'r',
      self: '[Circular]',
      child: { parent: '[Circular]', list: ['[Circular]'] },
    });
  });

  it('show an object twice that stands in two places', () => {
    const shared = { a: 1 };
    assert.deepEqual(contextOf({ one: shared, two: shared }), { one: { a: 1 }, two: { a: 1 } });
  });

  it('cut a long string and say by how much', () => {
    assert.equal(shown('x'.repeat(CONTEXT_STRING_MAX)), 'x'.repeat(CONTEXT_STRING_MAX));
    assert.equal(shown('x'.repeat(CONTEXT_STRING_MAX + 5)), `${'x'.repeat(CONTEXT_STRING_MAX)}... 5 more`);
    assert.equal(shown('x'.repeat(100_000_000)), `${'x'.repeat(CONTEXT_STRING_MAX)}... 99999744 more`);
  });

  it('end a context at its bytes with what is missing', () => {
    const resource = Object.fromEntries(
      Array.from({ length: 900 }, (_, i) => [`f${i}`, '\u{1f600}'.repeat(100)]),
    );
    const text = textOf(resource, { breadth: 1_000 });
    assert.ok(text.length <= CONTEXT_BYTES_MAX && text.length > CONTEXT_BYTES_MAX - 1_300, `${text.length}`);
    const context = JSON.parse(text);
    const fields = Object.keys(context).length - 1;
    assert.equal(context['...'], `${900 - fields} more`);
  });

  it('do not list an object with very many fields a second time', () => {
    const many = Object.fromEntries(Array.from({ length: CONTEXT_FIELDS_MAX + 1 }, (_, i) => [`f${i}`, i]));
    const payload = createContextPayload({ depth: 2, breadth: 1, redact: [] });
    const texts = [0, 1].map(() => appended(payload, many));
    assert.deepEqual(texts, [`{"f0":0,"...":"${CONTEXT_FIELDS_MAX} more"}`, '"[Object: too many fields]"']);
  });

  it('hold for any object, which gives valid JSON of exactly the measured length, and no secret', () => {
    const secret = 'hunter2-hunter2';
    const anything = fc.anything({
      withBigInt: true,
      withBoxedValues: true,
      withDate: true,
      withMap: true,
      withSet: true,
      withNullPrototype: true,
      withObjectString: true,
      withSparseArray: true,
      withTypedArray: true,
      withUnicodeString: true,
      maxDepth: 4,
      key: fc.oneof(
        fc.string(),
        fc.constantFrom('password', 'Set-Cookie', 'x-api-key', '__proto__', 'toJSON', ''),
      ),
      values: [
        fc.string({ unit: 'binary', maxLength: 400 }),
        fc.double(),
        fc.constantFrom(undefined, null, Symbol('s'), () => {}, /a"\n/g, new Error('e"\ud800')),
        fc.constantFrom(`Authorization: Bearer ${secret}`, `/x?token=${secret}`, `{"password":"${secret}"}`),
      ],
    } as fc.ObjectConstraints);
    fc.assert(
      fc.property(
        fc.dictionary(fc.string(), anything),
        fc.integer({ min: 1, max: 6 }),
        fc.integer({ min: 1, max: 40 }),
        fc.array(fc.constantFrom('proxy', 'getter', 'cycle'), { maxLength: 3 }),
        (object, depth, breadth, additions) => {
          const resource: Record<string, unknown> = { ...object, nested: { 'my-token': secret } };
          for (const addition of additions) {
            if (addition === 'cycle') resource.cycle = resource;
            if (addition === 'proxy')
              resource.proxy = new Proxy(resource, { ownKeys: () => assert.fail('trap') });
            if (addition === 'getter') {
              Object.defineProperty(resource, 'getter', {
                get: () => assert.fail('getter'),
                enumerable: true,
                configurable: true,
              });
            }
          }
          const text = textOf(resource, { depth, breadth });
          JSON.parse(text);
          assert.ok(text.length <= CONTEXT_BYTES_MAX);
          assert.ok(!text.includes(secret), text);
          assert.match(text, /^[\x20-\x7e]*$/);
        },
      ),
      { numRuns: 500 },
    );
  });
});

describe('context: secrets', () => {
  for (const name of [
    'password',
    'PASSWORD',
    'userPassword',
    'passwd',
    'passphrase',
    'accessToken',
    'authorization',
    'Proxy-Authorization',
    'auth',
    'cookie',
    'set-cookie',
    'x-api-key',
    'privateKey',
    'client_secret',
    'credentials',
    'session',
  ]) {
    it(`under the name ${name} are taken out, whatever they are`, () => {
      for (const value of [
        's3cret',
        42,
        true,
        ['s3cret'],
        { a: 's3cret' },
        Buffer.from('s3cret'),
        () => {},
      ]) {
        assert.deepEqual(contextOf({ [name]: value }), { [name]: '[Redacted]' });
      }
      assert.deepEqual(contextOf({ [name]: null }), { [name]: null });
    });
  }

  it('under names of the user are taken out: a name in any case, a glob, a RegExp', () => {
    const options = { redact: ['ssn', 'card*', /^x-(?:private|internal)$/g] };
    const resource = { SSN: 1, ssnCheck: 2, cardNumber: 3, discard: 4, 'x-private': 5, 'x-private-2': 6 };
    for (let i = 0; i < 2; i++) {
      assert.deepEqual(contextOf(resource, options), {
        SSN: '[Redacted]',
        ssnCheck: 2,
        cardNumber: '[Redacted]',
        discard: 4,
        'x-private': '[Redacted]',
        'x-private-2': 6,
      });
    }
  });

  it('in lists of names and values in turn are taken out', () => {
    assert.deepEqual(
      shown(['Host', 'a.example', 'Authorization', 'Bearer abc', 'Cookie', 'a=b', 'Accept', '*/*'], {
        breadth: 20,
      }),
      ['Host', 'a.example', 'Authorization', '[Redacted]', 'Cookie', '[Redacted]', 'Accept', '*/*'],
    );
    assert.deepEqual(shown(['node', '--password', 'hunter2', '--port', '80']), [
      'node',
      '--password',
      '[Redacted]',
      '--port',
      '80',
    ]);
  });

  const texts: [string, string][] = [
    [
      'HTTP/1.1 200 OK\r\nSet-Cookie: a=b; Path=/\r\nDate: Mon, 30 Nov 2026\r\n\r\n',
      'HTTP/1.1 200 OK\r\nSet-Cookie: [Redacted]\r\nDate: Mon, 30 Nov 2026\r\n\r\n',
    ],
    [
      'GET /a HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer a.b.c\r\nx-api-key:k\r\n\r\n',
      'GET /a HTTP/1.1\r\nHost: x\r\nAuthorization: [Redacted]\r\nx-api-key:[Redacted]\r\n\r\n',
    ],
    ['/login?user=ann&token=abc&next=%2F', '/login?user=ann&token=[Redacted]&next=%2F'],
    ['/login?access_token=abc#key=def', '/login?access_token=[Redacted]'],
    ['user[password]=x&a=1', 'user[password]=[Redacted]&a=1'],
    ['{"password":"a\\"b, c","n":1}', '{"password":[Redacted],"n":1}'],
    ['{\\"password\\":\\"x\\",\\"n\\":1}', '{\\"password\\":[Redacted],\\"n\\":1}'],
    ["{ secret: 'x' }", '{ secret: [Redacted]'],
    ['postgres://ann:pw@db.example/x', 'postgres://[Redacted]@db.example/x'],
    ['https://example.com/a?b=c@d', 'https://example.com/a?b=c@d'],
    ['sent Bearer abc.def, then Basic eHl6', 'sent Bearer [Redacted], then Basic [Redacted]'],
    ['bearer abc', 'bearer [Redacted]'],
    ['password = hunter2', 'password = [Redacted]'],
    ['time: 12:30, a=b', 'time: 12:30, a=b'],
    ['no secrets here', 'no secrets here'],
    ['ca:-----BEGIN PRIVATE KEY-----\nMIIE\n-----END PRIVATE KEY-----:x', 'ca:[Redacted]'],
    ['password=', 'password='],
  ];
  for (const [text, expected] of texts) {
    it(`in text are taken out: ${JSON.stringify(text)}`, () => {
      assert.equal(new Redaction([]).redactText(text), expected);
      assert.equal(shown(text), expected);
    });
  }

  it('in the names of fields are taken out, as in the keys under which an Agent keeps its sockets', () => {
    assert.equal(
      textOf({ 'host:443:-----BEGIN PRIVATE KEY-----\nMIIE': 1, 'token=abc': 2 }),
      '{"host:443:[Redacted]":"[Redacted]","token=[Redacted]":"[Redacted]"}',
    );
  });

  it('in text cost time in proportion to its length', () => {
    const redaction = new Redaction([]);
    const names: string[] = [
      'a'.repeat(100_000),
      ':'.repeat(100_000),
      '= '.repeat(50_000),
      'a:'.repeat(50_000),
    ];
    for (const text of names) assert.equal(redaction.redactText(text), text);
  });

  it('in the message of an error and in a pattern are taken out', () => {
    assert.equal(shown(new Error('bad token=abc')), '[Error: bad token=[Redacted]');
    assert.equal(shown(/token=abc/), '/token=[Redacted]');
  });
});

describe('context: resources of Node', () => {
  /** The resource of the first operation of a type that `start` begins. */
  function resourceOf(type: string, start: () => void): object {
    let found: object | undefined;
    const hook = createHook({
      init(_id, seen, _trigger, resource) {
        if (seen === type) found ??= resource;
      },
    }).enable();
    start();
    hook.disable();
    assert.ok(found);
    return found;
  }

  it("say of a timer and an immediate whether it is ref'd, and leave out the list it stands in", () => {
    let timer: NodeJS.Timeout;
    const resource = resourceOf('Timeout', () => {
      timer = setTimeout(function later() {}, 100_000);
      setTimeout(() => {}, 100_000).unref();
    });
    const context = contextOf(resource) as Record<string, unknown>;
    assert.equal(context.refed, true);
    assert.equal(context._idleTimeout, 100_000);
    assert.equal(context._onTimeout, '[Function: later]');
    assert.ok(!('_idleNext' in context) && !('_idlePrev' in context));
    timer!.unref();
    assert.equal((contextOf(resource) as Record<string, unknown>).refed, false);
    clearTimeout(timer!);
    const immediate = resourceOf('Immediate', () => setImmediate(() => {}).unref());
    assert.equal((contextOf(immediate) as Record<string, unknown>).refed, false);
  });

  it('of a whole HTTP exchange are valid, within the bounds, and without the secrets sent', async () => {
    const secret = 'hunter2hunter2';
    const texts: string[] = [];
    const payload = createContextPayload({ depth: 5, breadth: 100, redact: [] });
    const resources = new Map<number, WeakRef<object>>();
    const take = (id: number) => void texts.push(appended(payload, resources.get(id)?.deref()));
    const hook = createHook({
      init: (id, _type, _trigger, resource) => void resources.set(id, new WeakRef(resource)),
      before: take,
      after: take,
    }).enable();
    const server = createServer((_request, response) => {
      response.setHeader('Set-Cookie', `id=${secret}`);
      response.end('hello');
    }).listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    await new Promise<void>((resolve, reject) => {
      const { port } = server.address() as AddressInfo;
      const headers = { Authorization: `Bearer ${secret}`, Cookie: `id=${secret}` };
      request({ port, path: `/?token=${secret}`, headers }, (response) =>
        response.resume().on('end', resolve),
      )
        .on('error', reject)
        .end();
    });
    await new Promise((resolve) => server.close(resolve));
    hook.disable();
    assert.ok(texts.length > 20);
    for (const text of texts) {
      if (text !== '') JSON.parse(text);
      assert.ok(text.length <= CONTEXT_BYTES_MAX);
      assert.ok(!text.includes(secret), text);
    }
  });

  it('are collected: a payload holds none of them', async () => {
    setFlagsFromString('--expose-gc');
    const gc = runInNewContext('gc') as () => void;
    const payload = createContextPayload({ depth: 3, breadth: 10, redact: [] });
    const held = (() => {
      class Resource {
        child = { list: [() => this], map: new Map() };
      }
      const resource = new Resource();
      for (let i = 0; i < 20; i++) appended(payload, resource);
      return [new WeakRef(resource), new WeakRef(resource.child), new WeakRef(Resource)];
    })();
    for (let i = 0; i < 20 && held.some((ref) => ref.deref() !== undefined); i++) {
      await new Promise((resolve) => setImmediate(resolve));
      gc();
    }
    assert.deepEqual(
      held.map((ref) => ref.deref()),
      [undefined, undefined, undefined],
    );
  });
});
