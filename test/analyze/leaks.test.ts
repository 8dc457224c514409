import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { analyzeLeaks, type LeaksOptions } from '../../lib/analyze';
import type { TracerError } from '../../lib/errors';
import { end, event, init, type LineFields, run, start, textOf } from './lines';

const leaks = (lines: string[], options?: LeaksOptions) => analyzeLeaks(textOf(lines), options);
/** [verdict, op, count] of each row. */
const rows = async (lines: string[], options?: LeaksOptions) =>
  (await leaks(lines, options)).rows.map(({ verdict, op, count }) => [verdict, op, count]);

const own = 'open:/app/a.js:3:5';
const through = (...frames: string[]): Partial<LineFields> => ({ stack: [...frames, own] });
const timer = through('Timeout:node:internal/timers:1:1', 'setTimeout:node:timers:1:1');
/** A run whose process.exit was called in a callback, so that the loop did not run out. */
const exited = [init(900, 'Timeout', 90, timer), event('before', 900, 'Timeout', 99), end(100)];

describe('leaks', () => {
  it('lists a server that was left open, with its site, stack and age, and not one that was closed', async () => {
    const stack = through('listen:node:net:1:1').stack;
    const report = await leaks([
      init(5, 'TCPSERVER', 10, { stack }),
      init(6, 'TCPSERVER', 30, { stack }),
      init(7, 'TCPSERVER', 40, { stack }),
      event('destroy', 7, 'TCPSERVER', 50),
      event('destroy', 7, undefined, 50),
      init(8, 'TickObject', 110),
      run(8, 'TickObject', 110, 110),
    ]);
    assert.equal(report.rows.length, 1);
    const [{ op, kind, site, verdict, count, oldest, youngest, opids, stack: told }] = report.rows;
    assert.deepEqual(
      [op, kind, verdict, count, oldest, youngest, opids, told],
      ['TCPSERVER', 'handle', 'leak', 2, 100, 80, [5, 6], stack],
    );
    assert.deepEqual(site, { function: 'open', file: '/app/a.js', line: 3, column: 5 });
    assert.deepEqual(
      report.findings.map(({ code, message }) => [code, message]),
      [
        [
          'handle-open',
          '2 TCPSERVER from open (/app/a.js:3:5) were never closed; the oldest was at least 100 ms old.',
        ],
      ],
    );
    assert.deepEqual(report.live, {
      handle: 2,
      object: 0,
      timer: 0,
      request: 0,
      promise: 0,
      tick: 1,
      resource: 0,
    });
  });

  it('lists an interval and a timeout that never fired, and not a timeout that fired', async () => {
    const lines = [
      init(5, 'Timeout', 0, timer),
      init(6, 'Timeout', 0, timer),
      init(7, 'Timeout', 0, timer),
      run(5, 'Timeout', 10, 11),
      run(5, 'Timeout', 20, 21),
      run(7, 'Timeout', 30, 31),
      event('destroy', 7, 'Timeout', 31),
      ...exited,
    ];
    assert.deepEqual(await rows(lines), [
      ['leak', 'Timeout', 2],
      ['unsure', 'Timeout', 1],
    ]);
    assert.deepEqual(
      (await leaks(lines)).findings.map(({ code, evidence }) => [code, evidence['opids']]),
      [['timer-running', [5, 6]]],
    );
  });

  it('recognises, by the frames between, what Node itself keeps', async () => {
    const lines = [
      init(
        5,
        'Timeout',
        0,
        through('setUnrefTimeout:node:internal/timers:1:1', 'cache:node:internal/http:1:1'),
      ),
      init(
        6,
        'PIPE',
        0,
        through('createWritableStdioStream:node:internal/bootstrap/switches/is_main_thread:1:1'),
      ),
      init(7, 'SIGNAL', 0, through('startListeningIfSignal:node:internal/process/signal:1:1')),
      init(8, 'DNSCHANNEL', 0, through('ResolverBase:node:internal/dns/utils:1:1')),
      init(9, 'PIPE', 0, { stack: ['setup:node:internal/main/worker:1:1'] }),
      init(10, 'HTTPINCOMINGMESSAGE', 0, through('onconnection:node:_http_server:1:1')),
      init(11, 'TCP', 0, through('connect:node:net:1:1')),
    ];
    assert.deepEqual(await rows(lines), [
      ['leak', 'TCP', 1],
      ...['Timeout', 'PIPE', 'SIGNAL', 'DNSCHANNEL', 'PIPE', 'HTTPINCOMINGMESSAGE'].map((op) => [
        'kept',
        op,
        1,
      ]),
    ]);
  });

  it('is unsure of a connection in the pool of an HTTP agent or of fetch, but not of the request on it', async () => {
    const agent = ['Agent.createSocket:node:_http_agent:1:1', 'Agent.addRequest:node:_http_agent:2:1'];
    const fetch = ['Client.connect:node:internal/deps/undici/undici:1:1'];
    const lines = [
      init(5, 'TCP', 0, through('Socket.connect:node:net:1:1', ...agent)),
      init(6, 'TCP', 0, { stack: ['connect:node:net:1:1', 'connect:node:internal/deps/undici/undici:1:1'] }),
      init(7, 'TCP', 0, through('Socket.connect:node:net:1:1', ...fetch)),
      init(8, 'TCP', 0, through('Socket.connect:node:net:1:1', 'get:node:_http_client:1:1')),
      init(9, 'HTTPCLIENTREQUEST', 0, through('tickOnSocket:node:_http_client:1:1')),
      init(10, 'PROMISE', 0, through(...fetch)),
      event('resolve', 11, undefined, 1),
      ...exited,
    ];
    const told = (await leaks(lines)).rows.filter(({ op }) => op !== 'Timeout');
    assert.deepEqual(
      told.map(({ verdict, op, opids, reason }) => [verdict, op, opids, reason.split(' ', 3).join(' ')]),
      [
        ['leak', 'TCP', [8], 'it was never'],
        ['leak', 'HTTPCLIENTREQUEST', [9], 'it was asked'],
        ['unsure', 'TCP', [5], 'an HTTP agent'],
        ['unsure', 'TCP', [6], 'fetch keeps it,'],
        ['unsure', 'TCP', [7], 'fetch keeps it,'],
        ['unsure', 'PROMISE', [10], 'Node made the'],
      ],
    );
  });

  it('takes the age at the last record as the least where no end record shows when the run was over', async () => {
    const lines = [
      init(5, 'TCPSERVER', 10, through('listen:node:net:1:1')),
      event('after', 4, undefined, 40),
    ];
    const told = async (more: string[]) => {
      const {
        rows: [{ oldest, atLeast }],
        findings: [{ message }],
        notes,
      } = await leaks([...lines, ...more]);
      return [
        oldest,
        atLeast,
        message.split('; ')[1],
        notes.some((note) => note.includes('after the last record')),
      ];
    };
    assert.deepEqual(await told([]), [30, true, 'it was at least 30 ms old.', true]);
    assert.deepEqual(await told([end(100, { reason: 'close' })]), [90, false, 'it was 90 ms old.', false]);
  });

  it('has one row for what it names alike and judges alike, and two where the verdicts differ', async () => {
    const lines = [
      init(5, 'TCP', 0, through('connect:node:net:1:1')),
      init(6, 'TCP', 0, through()),
      init(7, 'SIGNAL', 0, through('startListening:node:internal/process/signal:1:1')),
      init(8, 'SIGNAL', 0, through()),
      ...exited,
    ];
    const told = (await rows(lines)).filter(([, op]) => op !== 'Timeout');
    assert.deepEqual(told, [
      ['leak', 'TCP', 2],
      ['leak', 'SIGNAL', 1],
      ['kept', 'SIGNAL', 1],
    ]);
  });

  it('counts promises that live and promises that were collected separately, also without stacks', async () => {
    const report = await leaks([
      init(5, 'PROMISE', 0),
      init(6, 'PROMISE', 0),
      init(7, 'PROMISE', 0),
      init(8, 'PROMISE', 0),
      event('resolve', 8, 'PROMISE', 1),
      event('destroy', 7, 'PROMISE', 50),
      ...exited,
    ]);
    const promises = report.rows.filter(({ op }) => op === 'PROMISE');
    assert.deepEqual(
      promises.map(({ verdict, op, count, collected }) => [verdict, op, count, collected]),
      [
        ['unsure', 'PROMISE', 2, false],
        ['unsure', 'PROMISE', 1, true],
      ],
    );
  });

  it('counts connections of a server as leaks under the line that opened the server', async () => {
    const report = await leaks([
      init(5, 'TCPSERVER', 0, through('listen:node:net:1:1')),
      init(6, 'TCP', 1, { parentopid: 5, execopid: 0, stack: [] }),
    ]);
    assert.deepEqual(
      report.rows.map(({ op, verdict, inherited, site }) => [op, verdict, inherited, site!.line]),
      [
        ['TCPSERVER', 'leak', false, 3],
        ['TCP', 'leak', true, 3],
      ],
    );
  });

  it('finds no leak of handles and timers where the loop ran out by itself', async () => {
    const lines = [
      start(0),
      init(5, 'TCPSERVER', 0, through('listen:node:net:1:1')),
      init(6, 'Timeout', 0, timer),
      end(100),
    ];
    assert.deepEqual(await rows(lines), [
      ['kept', 'TCPSERVER', 1],
      ['kept', 'Timeout', 1],
    ]);
    assert.deepEqual((await leaks(lines)).findings, []);
    const open = [...lines.slice(0, 3), ...exited];
    assert.deepEqual(
      (await rows(open)).map(([verdict]) => verdict),
      ['leak', 'leak', 'unsure'],
    );
  });

  it('recognises unref’d timers where there are contexts', async () => {
    const tick = (opid: number, atMs: number, refed: boolean) => [
      event('before', opid, 'Timeout', atMs, { ctx: { refed } }),
      event('after', opid, 'Timeout', atMs),
    ];
    const lines = [init(5, 'Timeout', 0, timer), init(6, 'Timeout', 0, timer)];
    lines.push(
      ...tick(5, 1, true),
      ...tick(6, 1, true),
      ...tick(5, 2, true),
      ...tick(6, 2, false),
      ...exited,
    );
    const report = await leaks(lines);
    assert.deepEqual(
      report.rows.map(({ verdict, unref, opids }) => [verdict, unref, opids]),
      [
        ['leak', 0, [5]],
        ['unsure', null, [900]],
        ['kept', 1, [6]],
      ],
    );
  });

  it('lists promises that never settled where resolve was recorded, the first cause and not those that wait for it', async () => {
    const lines = [
      init(5, 'PROMISE', 0, { stack: ['work:/app/a.js:1:1'] }),
      init(6, 'PROMISE', 0, { stack: ['new Promise:<anonymous>:0:0', 'work:/app/a.js:2:9'] }),
      init(7, 'PROMISE', 0, { parentopid: 6, execopid: 1, stack: ['work:/app/a.js:2:3'] }),
      init(8, 'PROMISE', 0, { stack: ['other:/app/b.js:1:1'] }),
    ];
    const without = await leaks(lines);
    assert.deepEqual([without.rows, without.promises], [[], { recorded: false, pending: 0, collected: 0 }]);
    assert.match(without.notes.join('\n'), /does not record when promises settle/);
    const report = await leaks([
      ...lines,
      event('resolve', 8, 'PROMISE', 1),
      event('resolve', 8, 'PROMISE', 1),
    ]);
    assert.deepEqual(
      report.rows.map(({ verdict, site }) => [verdict, site!.line]),
      [
        ['leak', 1],
        ['leak', 2],
      ],
    );
    assert.deepEqual(report.promises, { recorded: true, pending: 2, collected: 0 });
    assert.deepEqual(
      report.findings.map(({ code }) => code),
      ['promise-pending', 'promise-pending'],
    );
  });

  it('takes a promise whose callback ran as done, and is unsure of one that was collected or made inside Node', async () => {
    const lines = [
      start(0, { options: { resolve: true } }),
      init(5, 'PROMISE', 0, { stack: [own] }),
      run(5, 'PROMISE', 1, 2),
      init(6, 'PROMISE', 0, { stack: ['drop:/app/b.js:1:1'] }),
      event('destroy', 6, 'PROMISE', 30),
      init(7, 'PROMISE', 0, through('once:node:events:1:1')),
      init(8, 'PROMISE', 0, {
        stack: [
          '<anonymous>:file:///app/m.mjs:1:1',
          'ModuleJob._instantiate:node:internal/modules/esm/module_job:1:1',
        ],
      }),
    ];
    assert.deepEqual(
      (await leaks(lines)).rows.map(({ verdict, oldest, site }) => [verdict, oldest, site!.file]),
      [
        ['unsure', 30, '/app/a.js'],
        ['unsure', 30, '/app/b.js'],
        ['kept', 30, '/app/m.mjs'],
      ],
    );
  });

  it('finds a promise that never settled whether or not the garbage collector has come', async () => {
    const lines = [start(0, { options: { resolve: true } }), init(5, 'PROMISE', 0, { stack: [own] })];
    const messages = async (more: string[]) =>
      (await leaks([...lines, ...more])).findings.map(({ message }) => message);
    assert.deepEqual(await messages([event('before', 9, undefined, 20)]), [
      '1 PROMISE from open (/app/a.js:3:5) never settled; it was at least 20 ms old.',
    ]);
    assert.deepEqual(await messages([event('destroy', 5, 'PROMISE', 20)]), [
      '1 PROMISE from open (/app/a.js:3:5) never settled, and what awaited it is gone; it was 20 ms old.',
    ]);
  });

  it('takes an answered request as done, and lists one that is not', async () => {
    const asked = through('stat:node:fs:1:1');
    const lines = [
      init(5, 'FSREQCALLBACK', 0, asked),
      init(6, 'FSREQCALLBACK', 0, asked),
      run(5, 'FSREQCALLBACK', 1, 2),
    ];
    assert.deepEqual(await rows(lines), [['leak', 'FSREQCALLBACK', 1]]);
    assert.equal((await leaks(lines)).findings[0].code, 'request-pending');
  });

  it('counts file handles against their closes, as their own destroy waits for garbage collection', async () => {
    const lines = [
      init(5, 'FILEHANDLE', 0),
      init(6, 'FILEHANDLECLOSEREQ', 1),
      run(6, 'FILEHANDLECLOSEREQ', 2, 3),
    ];
    assert.deepEqual(await rows(lines), [['kept', 'FILEHANDLE', 1]]);
    assert.deepEqual(await rows([...lines, init(7, 'FILEHANDLE', 4)]), [['leak', 'FILEHANDLE', 2]]);
  });

  it('names what it cannot know without stacks, and then blames no timer that never fired', async () => {
    const report = await leaks([
      init(5, 'Timeout', 0),
      init(6, 'PIPE', 0),
      init(7, 'TCPSERVER', 0),
      init(8, 'Timeout', 0),
      run(8, 'Timeout', 1, 2),
      run(8, 'Timeout', 3, 4),
      init(9, 'mine', 0),
    ]);
    assert.deepEqual(
      report.rows.map(({ verdict, op, opids }) => [verdict, op, opids]),
      [
        ['leak', 'TCPSERVER', [7]],
        ['leak', 'Timeout', [8]],
        ['unsure', 'Timeout', [5]],
        ['unsure', 'PIPE', [6]],
        ['unsure', 'mine', [9]],
      ],
    );
    assert.equal(report.notes.length, 3);
    assert.match(report.notes.join('\n'), /no stacks.*\n.*no contexts.*\n.*no end record/);
  });

  it('is unsure of a handle whose stack was cut before the program’s code', async () => {
    const lines = [
      start(0, { options: { stacks: 1 } }),
      init(5, 'TCP', 0, { stack: ['connect:node:net:1:1'] }),
    ];
    assert.deepEqual(await rows(lines), [['unsure', 'TCP', 1]]);
  });

  it('shows for each operation its own stack, and none of another one at its site', async () => {
    const more = { stack: ['f:/app/b.js:1:1', 'g:/app/b.js:9:1'] };
    const report = await leaks([
      init(5, 'TCPSERVER', 0, through('listen:node:net:1:1')),
      init(6, 'TCP', 1, { parentopid: 5, execopid: 0, stack: ['onconnection:node:net:2:2'] }),
      init(7, 'PIPE', 1, { parentopid: 5, execopid: 0, stack: [] }),
      init(8, 'PIPE', 2, { stack: ['f:/app/b.js:1:1'] }),
      init(9, 'PIPE', 3, more),
      event('destroy', 8, 'PIPE', 4),
    ]);
    assert.deepEqual(
      report.rows.map(({ opids, stack }) => [opids, stack]),
      [
        [[5], ['listen:node:net:1:1', own]],
        [[6], ['onconnection:node:net:2:2']],
        [[7], []],
        [[9], more.stack],
      ],
    );
  });

  it('judges by the operation’s own stack whether it was cut', async () => {
    const lines = [
      start(0, { options: { stacks: 2 } }),
      init(5, 'TCP', 0, { stack: ['connect:node:net:1:1'] }),
      init(6, 'TCP', 0, { stack: ['connect:node:net:1:1', 'more:node:net:2:1'] }),
    ];
    assert.deepEqual(await rows(lines), [
      ['unsure', 'TCP', 1],
      ['kept', 'TCP', 1],
    ]);
  });

  it('leaves out what is allowed by op, area, site or pattern, and what is too young', async () => {
    const lines = [
      init(5, 'TCPSERVER', 0, through('listen:node:net:1:1')),
      init(6, 'Timeout', 50, { stack: ['setInterval:node:timers:1:1', 'tick:/app/timer.js:7:1'] }),
      init(7, 'TickObject', 100),
      run(7, 'TickObject', 100, 100),
    ];
    const both = [
      ['leak', 'TCPSERVER', 1],
      ['leak', 'Timeout', 1],
    ];
    assert.deepEqual(await rows(lines), both);
    const [server, timeout] = both;
    const cases: [LeaksOptions, unknown[]][] = [
      [{ allow: ['TCPSERVER'] }, [timeout]],
      [{ allow: ['TCP'] }, both],
      [{ allow: ['TCP*'] }, [timeout]],
      [{ allow: ['timers'] }, [server]],
      [{ allow: ['/app/timer.js:7'] }, [server]],
      [{ allow: ['tick (*timer.js'] }, [server]],
      [{ allow: [/^timeout tick /i] }, [server]],
      [{ allow: [/server/gi] }, [timeout]],
      [{ allow: ['*'] }, []],
      [{ minAge: 60 }, [server]],
    ];
    for (const [options, expected] of cases)
      assert.deepEqual(await rows(lines, options), expected, JSON.stringify(options));
    assert.equal((await leaks(lines, { allow: ['*'] })).allowed, 2);
  });

  it('refuses wrong options by name', async () => {
    const cases: [unknown, RegExp][] = [
      [{ allow: 'TCP' }, /^allow is TCP; expected an array/],
      [{ allow: [7] }, /^allow holds 7; expected/],
      [{ allow: [''] }, /^allow holds ""; expected/],
      [{ minAge: -1 }, /^minAge is -1; expected/],
    ];
    for (const [options, message] of cases) {
      await assert.rejects(leaks([], options as LeaksOptions), (error: TracerError) => {
        assert.equal(error.code, 'ERR_ASYNC_TRACER_OPTION');
        assert.match(error.message, message);
        return true;
      });
    }
  });
});
