import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { Clock } from '../lib/trace/clock/clock';
import { createClock } from '../lib/trace/clock/create-clock';
import { DROPPED, type Outcome, TAKEN } from '../lib/trace/destination/destination';
import { Code, PhaseIndex } from '../lib/trace/encode/codes';
import { createEncoder } from '../lib/trace/encode/create-encoder';
import type { Encoder, EncoderOptions } from '../lib/trace/encode/encoder';
import type { Payload } from '../lib/trace/payload/payload';

const TIME_TEXT = '1764486000123.456';
const TIME = Number(TIME_TEXT);

/** A clock that stands still. */
function stillClock(): Clock {
  const bytes = Buffer.from(`${TIME_TEXT.slice(0, 13).padEnd(16)}`);
  const text = new Float64Array(2);
  text[0] = bytes.readDoubleLE(0);
  text[1] = bytes.readDoubleLE(8);
  const fraction = Int32Array.of(Buffer.from('.456').readInt32LE());
  const nothing = (): void => {};
  return { text, fraction, capture: nothing, share: nothing, read: nothing, tick: nothing, stop: nothing };
}

/** What a destination would have got; `answer` decides about each chunk. */
function encoderWith(
  options: Partial<EncoderOptions> = {},
  answer: (chunk: string) => Outcome = () => TAKEN,
): { encoder: Encoder; chunks: string[]; text: () => string; records: () => Record<string, unknown>[] } {
  const chunks: string[] = [];
  const encoder = createEncoder({
    clock: stillClock(),
    prefix: '',
    suffix: '',
    chunkSize: 4096,
    stack: undefined,
    context: undefined,
    send: true,
    write(lines) {
      const chunk = lines.toString();
      const outcome = answer(chunk);
      if (outcome !== DROPPED) {
        chunks.push(chunk);
      }
      // The bytes are not ours any more: what is read later must not depend on them.
      lines.fill('x');
      return outcome;
    },
    ...options,
  });
  const text = (): string => chunks.join('');
  const records = (): Record<string, unknown>[] =>
    text()
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line));
  return { encoder, chunks, text, records };
}

/** A payload of a given JSON text. */
function payloadOf(json: (subject: object | undefined) => string): Payload {
  return {
    append(buffer, subject) {
      const bytes = Buffer.from(json(subject));
      buffer.reserve(bytes.length);
      bytes.copy(buffer.bytes, buffer.length);
      buffer.length += bytes.length;
      return bytes.length;
    },
  };
}

describe('encoder', () => {
  it('writes the fields in the order of the format, byte for byte', () => {
    const { encoder, text } = encoderWith();
    const server = encoder.prepare('TCPSERVER', 'net');
    const timeout = encoder.prepare('Timeout', 'timers');
    encoder.init(server, 7, 5, timeout, 3);
    encoder.init(server, 8, 5, timeout, 5);
    encoder.init(server, 9, 1, Code.unknown, 1);
    encoder.init(server, 10, 1, Code.unknown, 0);
    for (const phase of [PhaseIndex.before, PhaseIndex.after, PhaseIndex.destroy, PhaseIndex.resolve]) {
      encoder.event(phase, server, 7, false);
    }
    encoder.event(PhaseIndex.before, Code.unknown, 12, false);
    encoder.line('"phase":"start","format":1');
    encoder.flush();
    assert.equal(
      text(),
      [
        `{"opid":7,"op":"TCPSERVER","phase":"init","area":"net","parentopid":5,"parentop":"Timeout","execopid":3,"time":${TIME_TEXT}}`,
        `{"opid":8,"op":"TCPSERVER","phase":"init","area":"net","parentopid":5,"parentop":"Timeout","time":${TIME_TEXT}}`,
        `{"opid":9,"op":"TCPSERVER","phase":"init","area":"net","parentopid":1,"time":${TIME_TEXT}}`,
        `{"opid":10,"op":"TCPSERVER","phase":"init","area":"net","parentopid":1,"execopid":0,"time":${TIME_TEXT}}`,
        `{"opid":7,"op":"TCPSERVER","phase":"before","area":"net","time":${TIME_TEXT}}`,
        `{"opid":7,"op":"TCPSERVER","phase":"after","area":"net","time":${TIME_TEXT}}`,
        `{"opid":7,"op":"TCPSERVER","phase":"destroy","area":"net","time":${TIME_TEXT}}`,
        `{"opid":7,"op":"TCPSERVER","phase":"resolve","area":"net","time":${TIME_TEXT}}`,
        `{"opid":12,"phase":"before","time":${TIME_TEXT}}`,
        `{"phase":"start","format":1,"time":${TIME_TEXT}}`,
        '',
      ].join('\n'),
    );
    assert.deepEqual([...encoder.counts], [4, 2, 1, 1, 1]);
  });

  it('puts prefix first and suffix last in every record', () => {
    const { encoder, records } = encoderWith({ prefix: '"app":"käse","n":1', suffix: '"zone":{"a":[1]}' });
    const code = encoder.prepare('Timeout', 'timers');
    encoder.init(code, 1, 0, Code.unknown, 0);
    encoder.event(PhaseIndex.before, code, 1, false);
    encoder.unregistered(PhaseIndex.destroy, 1, ',"op":"x","phase":"destroy","area":"custom"');
    encoder.line('"phase":"end"');
    encoder.flush();
    assert.equal(records().length, 4);
    for (const record of records()) {
      assert.deepEqual(Object.keys(record).slice(0, 2), ['app', 'n']);
      assert.equal(record.app, 'käse');
      assert.equal(Object.keys(record).at(-1), 'zone');
      assert.equal(record.time, TIME);
    }
  });

  it('gives any op, area and id back through JSON.parse, at any chunk size', () => {
    const id = fc.oneof(
      fc.integer({ min: -1, max: 20_000 }),
      fc.integer({ min: 0, max: 2 ** 31 }),
      fc.maxSafeNat(),
      fc.constantFrom(9_999, 10_000, 99_999_999, 100_000_000, 2 ** 32, 1e16 - 1).filter(Number.isSafeInteger),
    );
    const op = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 40 }),
      fc.string({ unit: 'grapheme', maxLength: 40 }),
    );
    const record = fc.record({
      op: fc.nat({ max: 3 }),
      id,
      parent: id,
      execution: id,
      phase: fc.nat({ max: 4 }),
    });
    fc.assert(
      fc.property(
        fc.array(op, { minLength: 4, maxLength: 4 }),
        fc.array(record, { minLength: 1, maxLength: 60 }),
        fc.integer({ min: 1, max: 2000 }),
        (ops, wanted, chunkSize) => {
          const { encoder, records } = encoderWith({ chunkSize });
          const codes = ops.map((name) => encoder.prepare(name, 'custom'));
          for (const { op: index, id, parent, execution, phase } of wanted) {
            if (phase === 0) {
              encoder.init(codes[index], id, parent, codes[3 - index], execution);
            } else {
              encoder.event(phase, codes[index], id, false);
            }
          }
          encoder.flush();
          const expected = wanted.map(({ op: index, id, parent, execution, phase }) => ({
            opid: id,
            op: ops[index],
            phase: ['init', 'before', 'after', 'destroy', 'resolve'][phase],
            area: 'custom',
            ...(phase === 0 ? { parentopid: parent, parentop: ops[3 - index] } : {}),
            ...(phase === 0 && execution !== parent ? { execopid: execution } : {}),
            time: TIME,
          }));
          assert.deepEqual(records(), expected);
        },
      ),
    );
  });

  it('hands on whole lines only, as soon as a chunk is full', () => {
    const { encoder, chunks, records } = encoderWith({ chunkSize: 300 });
    const code = encoder.prepare('Timeout', 'timers');
    for (let id = 1; id <= 50; id++) {
      encoder.event(PhaseIndex.before, code, id, false);
    }
    assert.ok(chunks.length > 10);
    for (const chunk of chunks) {
      assert.ok(chunk.length >= 300 && chunk.length < 400, `${chunk.length} bytes`);
      assert.match(chunk, /^\{.*\}\n$/s);
    }
    assert.ok(records().length < 50);
    encoder.flush();
    assert.equal(records().length, 50);
  });

  it('tells where records were dropped and how many, once for each gap', () => {
    let open = true;
    const { encoder, records } = encoderWith({ chunkSize: 150 }, () => (open ? TAKEN : DROPPED));
    const code = encoder.prepare('Timeout', 'timers');
    const expected: unknown[] = [];
    for (let id = 1; id <= 100; id++) {
      open = id % 20 < 10;
      encoder.event(PhaseIndex.before, code, id, false);
    }
    open = true;
    encoder.flush();
    let last = 0;
    let told = 0;
    for (const record of records()) {
      if (record.phase === 'lost') {
        told += record.count as number;
        last += record.count as number;
      } else {
        last++;
        assert.equal(
          record.opid,
          last,
          'each id follows the one before, or the lost record accounts for the gap',
        );
      }
      expected.push(record);
    }
    assert.ok(told > 0);
    assert.equal(encoder.lost, told);
    assert.equal(records().filter((r) => r.phase !== 'lost').length + told, 100);
  });

  it('loses and counts all where nothing is taken, though a lost record is more than a chunk', () => {
    for (const suffix of ['', `"s":"${'s'.repeat(5000)}"`]) {
      for (const chunkSize of [20, 25, 40, 52, 60, 4096]) {
        const { encoder } = encoderWith({ chunkSize, suffix }, () => DROPPED);
        const code = encoder.prepare('A', 'custom');
        for (let id = 1; id <= 300; id++) encoder.event(PhaseIndex.before, code, id, false);
        encoder.flush();
        assert.equal(encoder.lost, 300, `chunkSize ${chunkSize}, suffix ${suffix.length}`);
      }
    }
  });

  it('tells of a record that could not be made', () => {
    const { encoder, records } = encoderWith();
    const code = encoder.prepare('Timeout', 'timers');
    encoder.event(PhaseIndex.before, code, 1, false);
    encoder.lose(PhaseIndex.before);
    encoder.event(PhaseIndex.after, code, 1, false);
    encoder.event(PhaseIndex.destroy, code, 1, false);
    encoder.flush();
    assert.equal(encoder.lost, 1);
    assert.deepEqual(
      records().map((r) => r.count ?? r.phase),
      ['before', 1, 'after', 'destroy'],
    );
  });

  it('makes room for a large payload behind others of the same batch', () => {
    const context = payloadOf((subject) => JSON.stringify(subject));
    const { encoder, records } = encoderWith({ context, chunkSize: 64 * 1024 });
    const code = encoder.prepare('Timeout', 'timers');
    const sizes = [20_000, 10_000, 150_000, 10, 40_000];
    for (const size of sizes) encoder.event(PhaseIndex.before, code, 1, false, { text: 'y'.repeat(size) });
    encoder.flush();
    assert.deepEqual(
      records().map((r) => (r.ctx as { text: string }).text.length),
      sizes,
    );
  });

  it('makes room for payloads of any size, and for none', () => {
    const big = 'y'.repeat(100_000);
    const stack = payloadOf(() => JSON.stringify(['f:/a.js:1:2', big]));
    const context = payloadOf((subject) =>
      (subject as { size: number }).size === 0 ? '' : `{"size":"${big}"}`,
    );
    const { encoder, records } = encoderWith({ stack, context });
    const code = encoder.prepare('Timeout', 'timers');
    encoder.event(PhaseIndex.before, code, 1, false, { size: 1 });
    encoder.init(code, 2, 1, code, 1);
    encoder.event(PhaseIndex.after, code, 1, false, { size: 0 });
    encoder.event(PhaseIndex.destroy, code, 1, false);
    encoder.unregistered(PhaseIndex.before, 3, ',"op":"x","phase":"before","area":"custom"', { size: 1 });
    encoder.unregistered(0, 4, ',"op":"x","phase":"init","area":"custom","parentopid":1');
    encoder.flush();
    assert.deepEqual(
      records().map((r) => [
        r.opid,
        r.phase,
        (r.ctx as { size: string })?.size ?? (r.stack as string[])?.[1],
      ]),
      [
        [1, 'before', big],
        [2, 'init', big],
        [1, 'after', undefined],
        [1, 'destroy', undefined],
        [3, 'before', big],
        [4, 'init', big],
      ],
    );
  });

  it('writes through, each record at once and the trailer behind it', () => {
    const { encoder, chunks } = encoderWith();
    const code = encoder.prepare('Timeout', 'timers');
    encoder.event(PhaseIndex.before, code, 1, false);
    encoder.flush();
    encoder.writeThrough(() => `"phase":"end","n":${encoder.counts[PhaseIndex.before]}`);
    encoder.event(PhaseIndex.before, code, 2, false);
    encoder.event(PhaseIndex.before, code, 3, false);
    assert.deepEqual(
      chunks.map((chunk) =>
        chunk
          .split('\n')
          .filter(Boolean)
          .map((line) => JSON.parse(line))
          .map((r) => r.opid ?? r.n),
      ),
      [[1], [2, 2], [3, 3]],
    );
  });

  it('counts without writing where send is off', () => {
    const { encoder, chunks } = encoderWith({ send: false });
    const code = encoder.prepare('Timeout', 'timers');
    encoder.init(code, 1, 0, Code.unknown, 0);
    encoder.event(PhaseIndex.after, code, 1, false);
    encoder.unregistered(PhaseIndex.destroy, 1, '');
    encoder.line('"phase":"end"');
    encoder.flush();
    assert.deepEqual([...encoder.counts], [1, 0, 1, 1, 0]);
    assert.deepEqual(chunks, []);
  });

  it('tells of each missing record where it is missing, whatever a write runs and drops', () => {
    const action = fc.oneof(
      { weight: 6, arbitrary: fc.constant('note' as const) },
      { weight: 2, arbitrary: fc.constant('init' as const) },
      { weight: 2, arbitrary: fc.constant('context' as const) },
      fc.constant('rare' as const),
      fc.constant('lose' as const),
      fc.constant('flush' as const),
    );
    fc.assert(
      fc.property(
        fc.array(action, { maxLength: 300 }),
        fc.array(fc.record({ drops: fc.boolean(), runs: fc.array(action, { maxLength: 20 }) }), {
          maxLength: 20,
        }),
        fc.constantFrom(1, 500, 5000, 64 * 1024),
        fc.constantFrom(0, 3, 20_000),
        fc.integer({ min: 1, max: 20 }),
        (actions, answers, chunkSize, prefixLength, repeat) => {
          const pieces: Buffer[] = [];
          let writes = 0;
          let made = 0;
          let last = '';
          const encoder = createEncoder({
            clock: createClock('precise'),
            prefix: prefixLength === 0 ? '' : `"p":"${'x'.repeat(prefixLength)}"`,
            suffix: '',
            chunkSize,
            stack: payloadOf(() =>
              made % 3 === 0 ? '' : JSON.stringify([made, 'y'.repeat((made * 91) % 5000)]),
            ),
            context: payloadOf((subject) => JSON.stringify(subject)),
            send: true,
            write(lines) {
              const answer = answers[writes++];
              const copy = Buffer.from(lines);
              answer?.runs.forEach(act);
              assert.deepEqual(lines, copy, 'what is being taken stays as it is');
              lines.fill('x');
              if (answer?.drops) {
                return DROPPED;
              }
              pieces.push(copy);
              return TAKEN;
            },
          });
          const code = encoder.prepare('Timeout', 'timers');
          function act(what: 'note' | 'init' | 'context' | 'rare' | 'lose' | 'flush'): void {
            if (what === 'flush') {
              encoder.flush();
              return;
            }
            const id = ++made;
            const isShared = last === 'note';
            last = what;
            if (what === 'note') encoder.event(PhaseIndex.before, code, id, isShared);
            else if (what === 'init') encoder.init(code, id, 1, code, 0);
            else if (what === 'context')
              encoder.event(PhaseIndex.after, code, id, false, { id, s: 'y'.repeat((id * 37) % 3000) });
            else if (what === 'rare')
              encoder.unregistered(PhaseIndex.destroy, id, ',"op":"x","phase":"destroy","area":"custom"');
            else encoder.lose(PhaseIndex.resolve);
          }
          for (let i = 0; i < repeat; i++) {
            actions.forEach(act);
          }
          for (let before = -1; before < writes; encoder.flush()) {
            before = writes;
          }
          let next = 1;
          let time = 0;
          let lost = 0;
          for (const line of Buffer.concat(pieces).toString().split('\n').slice(0, -1)) {
            const record = JSON.parse(line);
            assert.ok(record.time >= time, 'a time before the one before');
            time = record.time;
            if (record.phase === 'lost') {
              lost += record.count;
              next += record.count;
              continue;
            }
            assert.equal(record.opid, next);
            if (record.ctx !== undefined) {
              assert.equal(record.ctx.id, record.opid);
            }
            if (record.phase === 'init') {
              assert.equal(record.stack?.[0], record.opid % 3 === 0 ? undefined : record.opid);
            }
            next++;
          }
          assert.equal(next, made + 1);
          assert.equal(encoder.lost, lost);
          assert.equal(
            encoder.counts.reduce((sum, count) => sum + count),
            made,
          );
        },
      ),
      { numRuns: 300 },
    );
  });

  it('goes on after the end of the stack, at any chunk size', () => {
    for (const chunkSize of [1, 300, 64 * 1024]) {
      const { encoder, records } = encoderWith({ chunkSize });
      const code = encoder.prepare('Timeout', 'timers');
      let id = 0;
      const deeper = (): void => {
        encoder.event(PhaseIndex.before, code, id + 1, false);
        id++;
        deeper();
      };
      for (let i = 0; i < 5; i++) {
        assert.throws(deeper, RangeError);
        for (let more = 0; more < 2000; more++) {
          encoder.event(PhaseIndex.before, code, ++id, false);
        }
      }
      encoder.flush();
      assert.equal(encoder.lost, 0);
      assert.deepEqual(
        records().map((record) => record.opid),
        Array.from({ length: id }, (_, i) => i + 1),
      );
    }
  });
});
