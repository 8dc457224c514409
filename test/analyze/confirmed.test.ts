import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { analyzeLeaks } from '../../lib/analyze';
import { renderLeaks } from '../../lib/cli/render/leaks';
import { screenOf } from '../../lib/cli/terminal/screen';
import { end, event, init, start, textOf } from './lines';

const at = (line: number) => ({ stack: ['setTimeout:node:timers:1:1', `open:/app/a.js:${line}:5`] });
const stdout = {
  stack: ['getStdout:node:internal/bootstrap/switches/is_main_thread:1:1', 'open:/app/a.js:9:5'],
};

/** A run that was ended by process.exit in a callback, and what Node listed as active then. */
const ended = (active?: unknown) => [
  init(900, 'Immediate', 90),
  event('before', 900, 'Immediate', 99),
  end(100, active === undefined ? {} : { active }),
];

const report = (lines: string[], active?: unknown) => analyzeLeaks(textOf([...lines, ...ended(active)]));
/** [verdict, op, count, confirmed] of each row. */
const rows = async (lines: string[], active?: unknown) =>
  (await report(lines, active)).rows
    .filter(({ op }) => op !== 'Immediate')
    .map(({ verdict, op, count, confirmed }) => [verdict, op, count, confirmed]);

describe('what Node listed as active at the end of a run', () => {
  const lines = [
    init(5, 'TCPSERVER', 0, at(1)),
    init(6, 'TCP', 0, at(2)),
    init(7, 'TCP', 0, at(2)),
    init(8, 'Timeout', 0, at(3)),
    init(9, 'Timeout', 0, at(3)),
    init(10, 'WORKER', 0, at(4)),
    init(11, 'FSREQCALLBACK', 0, at(5)),
  ];

  it('confirms a row, or a part of it, or shows that it is no leak', async () => {
    const active = { TCPServerWrap: 1, TCPSocketWrap: 1, FSReqCallback: 1 };
    assert.deepEqual(await rows(lines, active), [
      ['leak', 'TCP', 2, 1],
      ['leak', 'TCPSERVER', 1, 1],
      ['leak', 'WORKER', 1, null],
      ['leak', 'FSREQCALLBACK', 1, 1],
      ['kept', 'Timeout', 2, null],
    ]);
    const { findings, notes } = await report(lines, active);
    assert.deepEqual(
      findings.map(({ code, message }) => [code, message.replace(/^.*; (?=it|the)/, '')]),
      [
        ['handle-open', 'the oldest was 100 ms old; Node listed 1 of them as active.'],
        ['handle-open', 'it was 100 ms old; Node listed it as active.'],
        ['handle-open', 'it was 100 ms old.'],
        ['request-pending', 'it was 100 ms old; Node listed it as active.'],
      ].map(([code, message]) => [code, message]),
    );
    assert.equal(
      notes.some((note) => note.includes('contexts')),
      false,
    );
  });

  it('changes nothing where the log does not tell it', async () => {
    assert.deepEqual(
      (await rows(lines)).map(([verdict, op, , confirmed]) => [verdict, op, confirmed]),
      [
        ['leak', 'TCP', null],
        ['leak', 'Timeout', null],
        ['leak', 'TCPSERVER', null],
        ['leak', 'WORKER', null],
        ['leak', 'FSREQCALLBACK', null],
      ],
    );
    assert.deepEqual(await rows(lines, 'TCP'), await rows(lines));
  });

  it('says no more of rows that share a type than is sure', async () => {
    const sockets = [init(5, 'TCP', 0, at(1)), init(6, 'TCP', 0, at(2)), init(7, 'TCP', 0, at(2))];
    assert.deepEqual(await rows(sockets, { TCPSocketWrap: 2 }), [
      ['leak', 'TCP', 2, 1],
      ['leak', 'TCP', 1, 0],
    ]);
    assert.deepEqual(await rows(sockets, { TCPSocketWrap: 3 }), [
      ['leak', 'TCP', 2, 2],
      ['leak', 'TCP', 1, 1],
    ]);
  });

  it('counts pipes of both kinds together, and not those of the standard streams', async () => {
    const pipes = [init(5, 'PIPE', 0, stdout), init(6, 'PIPESERVER', 0, at(2))];
    assert.deepEqual(await rows(pipes, { PipeWrap: 2 }), [
      ['leak', 'PIPESERVER', 1, 1],
      ['kept', 'PIPE', 1, null],
    ]);
    assert.deepEqual(await rows(pipes, { PipeWrap: 1 }), [
      ['kept', 'PIPE', 1, null],
      ['kept', 'PIPESERVER', 1, null],
    ]);
  });

  it('tells without stacks and contexts a timer that runs from those that Node unrefs', async () => {
    const timers = [init(5, 'Timeout', 0), init(6, 'Timeout', 0)];
    assert.deepEqual(await rows(timers), [['unsure', 'Timeout', 2, null]]);
    assert.deepEqual(await rows(timers, { Timeout: 2 }), [['leak', 'Timeout', 2, 2]]);
    assert.deepEqual(await rows(timers, { Timeout: 1 }), [['unsure', 'Timeout', 2, 1]]);
    assert.deepEqual(await rows(timers, {}), [['kept', 'Timeout', 2, null]]);
  });

  it('is of one run only', async () => {
    const one = (pid: number, active?: object) => [
      start(0, { pid, options: { autostart: true } }),
      init(5, 'TCPSERVER', 0, at(1)),
      ...ended(active),
    ];
    const { rows } = await analyzeLeaks(textOf([...one(1, { TCPServerWrap: 1 }), ...one(2, {}), ...one(3)]));
    assert.deepEqual(
      rows
        .filter(({ op }) => op === 'TCPSERVER')
        .map(({ verdict, count, confirmed }) => [verdict, count, confirmed]),
      [
        ['leak', 2, 1],
        ['kept', 1, null],
      ],
    );
  });

  it('is printed beside the age of each row', async () => {
    const screen = screenOf({ isTTY: false, columns: 100 } as never, { NO_COLOR: '1' });
    const shown = renderLeaks(await report(lines, { TCPServerWrap: 1, TCPSocketWrap: 1 }), screen, {
      all: false,
      stacks: false,
    });
    assert.match(shown, /1 TCPSERVER, 100 ms old, confirmed\n/);
    assert.match(shown, /2 TCP, 100 ms the oldest, 1 of 2 confirmed\n/);
    assert.match(shown, /1 WORKER, 100 ms old\n/);
    assert.doesNotMatch(shown, /Timeout/);
  });
});
