import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { before, describe, it } from 'node:test';
import { event, init, run } from '../analyze/lines';
import { command, temporaryFolder } from './command';

describe('tree --roots', () => {
  const log = path.join(temporaryFolder(), 'server.ndjson');
  const request = (opid: number, atMs: number) => [
    event('before', 7, 'HTTPINCOMINGMESSAGE', atMs),
    init(opid, 'FSREQCALLBACK', atMs + 1, {
      parentopid: 7,
      stack: [
        'readFile:node:fs:1:1',
        'answer:/app/server.js:9:1',
        'parserOnHeadersComplete:node:_http_common:1:1',
      ],
    }),
    event('after', 7, 'HTTPINCOMINGMESSAGE', atMs + 2),
    run(7, 'HTTPINCOMINGMESSAGE', atMs + 2, atMs + 2),
    run(opid, 'FSREQCALLBACK', atMs + opid, atMs + opid + 1),
  ];
  before(() => {
    const lines = [
      init(5, 'TCPSERVER', 0, { stack: ['listen:node:net:1:1', 'serve:/app/server.js:3:5'] }),
      init(6, 'TCP', 1, { parentopid: 5, execopid: 0, stack: [] }),
      init(7, 'HTTPINCOMINGMESSAGE', 1, { parentopid: 6, execopid: 0, stack: [] }),
      ...request(20, 100),
      ...request(30, 200),
      ...request(40, 300),
    ];
    writeFileSync(log, `${lines.join('\n')}\n`);
  });

  function lines(...args: string[]): string[] {
    const { status, stdout, stderr } = command(['tree', ...args, log], { env: { COLUMNS: '120' } });
    assert.deepEqual([status, stderr], [0, '']);
    return stdout.split('\n').map((line) => line.replace(/ +/g, ' ').trim());
  }

  it('prints the kinds with percentiles, then the roots, the longest first', () => {
    const shown = lines('--roots', '--top', '2');
    const kind = shown.findIndex((line) => line.startsWith('HTTPINCOMINGMESSAGE 3 31 ms 41 ms '));
    assert.equal(shown[kind + 1], 'under serve (/app/server.js:3:5)');
    assert.deepEqual(
      shown.filter((line) => /^HTTPINCOMINGMESSAGE 7 /.test(line)).map((line) => line.split(' ').slice(2, 8)),
      [
        ['3', '+300', 'ms', '41', 'ms', '7.3'],
        ['2', '+200', 'ms', '31', 'ms', '9.7'],
      ],
    );
    assert.ok(shown.includes('and 2 roots more: --top 4'));
  });

  it('takes an order, and gives the report as JSON', () => {
    const { stdout } = command(['tree', '--roots', '--sort', 'start', '--json', log]);
    const { report, roots, count } = JSON.parse(stdout);
    assert.deepEqual([report, count, roots.length], ['roots', 4, 4]);
    assert.deepEqual(
      roots.map((root: { opid: number; request: number | null }) => [root.opid, root.request]),
      [
        [1, null],
        [7, 1],
        [7, 2],
        [7, 3],
      ],
    );
  });

  it('is followed by --root, which lists the requests, and by --request, which shows what one started', () => {
    const listed = lines('--root', '7');
    assert.ok(
      listed[3].startsWith(
        'Operation 7, HTTPINCOMINGMESSAGE under serve (/app/server.js:3:5), carried 3 requests',
      ),
    );
    assert.deepEqual(
      listed.filter((line) => /^\d \+/.test(line)).map((line) => line[0]),
      ['3', '2', '1'],
    );
    const one = lines('--root', '7', '--request', '2');
    assert.ok(one[3].startsWith('Request 2 of operation 7, HTTPINCOMINGMESSAGE'), one[3]);
    assert.ok(one.some((line) => line.startsWith('FSREQCALLBACK answer (/app/server.js:9:1) 30 1 ')));
  });

  it('refuses flags that do not go together, and a request that is not there', () => {
    const cases: [string[], number, RegExp][] = [
      [['--roots', '--root', '7'], 2, /--roots and --root were both given/],
      [['--request', '2'], 2, /--request needs --root/],
      [['--sort', 'ran'], 2, /--sort needs --roots/],
      [['--roots', '--sort', 'size'], 2, /--sort must be time, ran, queued, waited, operations or start/],
      [['--root', '7', '--request', '9'], 1, /there is no request 9 of an operation 7 in the log/],
    ];
    for (const [args, code, message] of cases) {
      const { status, stderr } = command(['tree', ...args, log]);
      assert.equal(status, code, args.join(' '));
      assert.match(stderr.replace(/\s+/g, ' '), message);
    }
  });
});
