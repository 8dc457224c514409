import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { Decoder } from '../../lib/analyze/decode/decoder';
import { readLog } from '../../lib/analyze/read/reader';
import { asSource, customFields, event, init, lineFields, lineOf } from './lines';

const PHASES = new Set(['init', 'before', 'after', 'destroy', 'resolve', 'start', 'end', 'lost']);

/** What a line must give, computed without the decoder; undefined for a line that is no record. */
function byJsonParse(line: string): Record<string, unknown> | undefined {
  let value: Record<string, unknown>;
  try {
    value = JSON.parse(line);
  } catch {
    return undefined;
  }
  if (typeof value !== 'object' || value === null || !PHASES.has(value['phase'] as string)) return undefined;
  if (!Number.isFinite(value['time']) || !Number.isSafeInteger(value['opid'])) return undefined;
  if (value['phase'] === 'init') {
    return Number.isSafeInteger(value['parentopid']) && typeof value['op'] === 'string' ? value : undefined;
  }
  return value['op'] === undefined || typeof value['op'] === 'string' ? value : undefined;
}

async function records(chunks: (string | Uint8Array)[]) {
  const reader = readLog(asSource(chunks));
  const all: Record<string, unknown>[] = [];
  for await (const record of reader) all.push(record as unknown as Record<string, unknown>);
  return { all, counts: reader.counts };
}

/** Key order counts, so the texts are compared. */
const texts = (values: unknown[]) => values.map((value) => JSON.stringify(value));

describe('decoder', () => {
  it('gives for every line of ours exactly what JSON.parse gives, in the same order of fields', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(lineFields, { maxLength: 30 }),
        customFields,
        customFields,
        async (list, prefix, suffix) => {
          // Twice, so that the second time every name, stack, prefix and suffix has been learnt.
          const lines = [...list, ...list].map((fields) => lineOf(fields, prefix, suffix));
          const { all } = await records([`${lines.join('\n')}\n`]);
          assert.deepEqual(texts(all), texts(lines.map((line) => JSON.parse(line))));
        },
      ),
      { numRuns: 300 },
    );
  });

  it('takes from damaged lines exactly those that JSON.parse takes, with the same values', async () => {
    const mutation = fc.record({
      at: fc.nat(400),
      remove: fc.nat(3),
      insert: fc.constantFrom(
        '',
        ' ',
        '"',
        ',',
        '0',
        '}',
        '-',
        '.',
        '\r',
        'e',
        '\\',
        '{"opid":',
        '"op":"x",',
      ),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(lineFields, mutation), { maxLength: 30 }),
        customFields,
        customFields,
        async (list, prefix, suffix) => {
          const sound = list.map(([fields]) => lineOf(fields, prefix, suffix));
          const damaged = sound.map((line, i) => {
            const { at, remove, insert } = list[i][1];
            const place = at % (line.length + 1);
            return line.slice(0, place) + insert + line.slice(place + remove);
          });
          const { all, counts } = await records([`${sound.join('\n')}\n${damaged.join('\n')}\n`]);
          const expected = [...sound, ...damaged].map(byJsonParse).filter((record) => record !== undefined);
          assert.deepEqual(texts(all), texts(expected));
          assert.equal(counts.records, expected.length);
          const blank = damaged.filter((line) => line.trim() === '').length;
          assert.equal(counts.foreign, sound.length + damaged.length - blank - expected.length);
        },
      ),
      { numRuns: 600 },
    );
  });

  it('reads a line of ours without JSON.parse once its op is known, also with prefix, suffix, stack and ctx', () => {
    const fields = {
      opid: 7,
      op: 'TCPSERVER',
      phase: 'init',
      area: 'net',
      parentopid: 5,
      parentop: 'Timeout',
      execopid: 3,
      us: 1764486000123456,
    };
    for (const [prefix, suffix] of [
      [{}, {}],
      [{ service: 'a' }, {}],
      [{}, { host: 'b' }],
      [{ s: 1 }, { t: [2] }],
    ]) {
      const decoder = new Decoder();
      decoder.parse(lineOf(fields, prefix, suffix));
      decoder.parse(lineOf({ ...fields, opid: 8, op: 'Timeout', area: 'timers' }, prefix, suffix));
      for (const line of [
        lineOf(fields, prefix, suffix),
        lineOf({ ...fields, stack: ['f:/a.js:1:2'] }, prefix, suffix),
        lineOf(
          { opid: 7, op: 'TCPSERVER', phase: 'before', area: 'net', us: 5, ctx: { a: [1, 'x'] } },
          prefix,
          suffix,
        ),
        lineOf({ opid: 7, phase: 'after', us: 5 }, prefix, suffix),
      ]) {
        const bytes = Buffer.from(`${line}\r\n`);
        assert.equal(decoder.decode(bytes, 0), bytes.length, line);
        assert.deepEqual(decoder.record(), JSON.parse(line));
      }
    }
  });

  describe('takes or refuses as JSON.parse does', () => {
    const sound = init(7, 'TCP', 1.25, { parentop: 'TCP', execopid: 3 });
    const before = event('before', 7, 'TCP', 2, { ctx: { a: 10, b: 'x' } });
    const swap = (line: string, from: string, to: string) => {
      assert.ok(line.includes(from), from);
      return line.replace(from, to);
    };
    const lines: Record<string, string> = {
      'an id with a leading zero': swap(sound, '"opid":7', '"opid":07'),
      'an id of 0': swap(sound, '"opid":7', '"opid":0'),
      'an id of minus 0': swap(sound, '"opid":7', '"opid":-0'),
      'an id of 15 digits': swap(sound, '"opid":7', '"opid":999999999999999'),
      'an id of 16 digits': swap(sound, '"opid":7', '"opid":9007199254740991'),
      'an id that no double holds': swap(sound, '"opid":7', '"opid":9007199254740993'),
      'an id of 20 digits': swap(sound, '"opid":7', '"opid":12345678901234567890'),
      'an id with an exponent': swap(sound, '"opid":7', '"opid":7e2'),
      'an id with decimals': swap(sound, '"opid":7', '"opid":7.0'),
      'no id': swap(sound, '"opid":7', '"opid":'),
      'a time with a leading zero': swap(sound, '"time":1', '"time":01'),
      'a time of 16 digits': swap(sound, '"time":1764486000001', '"time":9764486000001'),
      'a time beyond exact microseconds': swap(sound, '"time":1764486000001.250', '"time":9999999999999.999'),
      'a time with two decimals': swap(sound, '.250', '.25'),
      'a time with four decimals': swap(sound, '.250', '.2501'),
      'a time without decimals': swap(sound, '.250', ''),
      'a time that ends in a point': swap(sound, '.250', '.'),
      'a time with an exponent': swap(sound, '.250', '.250e1'),
      'a name with an escape': swap(sound, '"op":"TCP"', '"op":"TC\\u0050"'),
      'a name with a wrong escape': swap(sound, '"op":"TCP"', '"op":"TCP\\x"'),
      'a name with a control character': swap(sound, '"op":"TCP"', '"op":"TC\tP"'),
      'a name without an end': swap(sound, '"op":"TCP"', '"op":"TCP'),
      'another area': swap(sound, '"area":"net"', '"area":"nets"'),
      'a phase that begins like another': swap(sound, '"phase":"init"', '"phase":"inits"'),
      'an op that is no text': swap(sound, '"op":"TCP"', '"op":5'),
      'no parent': swap(sound, '"parentopid":1,', ''),
      'a field twice': swap(sound, '}', ',"opid":8}'),
      'a field of its own behind': swap(sound, '}', ',"x":{}}'),
      'a comma too many': swap(sound, '}', ',}'),
      'a brace too many': `${sound}}`,
      'two records': sound + sound,
      'white space around': ` ${sound} `,
      'white space inside': swap(sound, '"opid":7', '"opid": 7'),
      'a stack that is no array': swap(sound, '}', ',"stack":7}'),
      'a stack of numbers': swap(sound, '}', ',"stack":[7]}'),
      'a stack without an end': swap(sound, '}', ',"stack":["f:a:1:1"}'),
      'a stack in a before': swap(before, '"ctx":{"a":10,"b":"x"}', '"stack":[]'),
      'a ctx in an init': swap(sound, '}', ',"ctx":{}}'),
      ...Object.fromEntries(
        [
          '01',
          '-',
          '-01',
          '1.',
          '.5',
          '1e',
          '1e+5',
          '1E-5',
          '-0',
          'tru',
          'true',
          'null',
          'nul',
          '"\\"',
          '"\\u12G4"',
          '"\\u1234"',
          '"\\/"',
          '"\t"',
          '"\u007f"',
          '[',
          '[1,]',
          '[1 ,2]',
          '{"a"}',
          '{"a":}',
          '{,}',
          '{"a":1,}',
          '[]]',
          '"a""b"',
          '',
        ].map((value) => [`the ctx ${value}`, swap(before, '{"a":10,"b":"x"}', value)]),
      ),
      'a ctx of great depth': swap(before, '{"a":10,"b":"x"}', `${'['.repeat(100)}${']'.repeat(100)}`),
    };
    for (const [name, line] of Object.entries(lines)) {
      it(name, async () => {
        const { all, counts } = await records([`${sound}\n${before}\n${line}\n${sound}\n`]);
        const expected = [sound, before, line, sound]
          .map(byJsonParse)
          .filter((record) => record !== undefined);
        assert.deepEqual(texts(all), texts(expected));
        assert.equal(counts.foreign, 4 - expected.length);
      });
    }
  });

  it('reads ids beyond 2^32 and times to the microsecond without loss', async () => {
    const lines = [
      init(2 ** 40 + 1, 'PROMISE', 0.001, { execopid: 2 ** 52 + 3 }),
      event('destroy', 2 ** 40 + 1, 'PROMISE', 0.999),
    ];
    const { all } = await records([`${[...lines, ...lines].join('\n')}\n`]);
    assert.deepEqual(
      all.map((record) => [record['opid'], record['execopid'], record['time']]),
      [0, 1].flatMap(() => [
        [1099511627777, 4503599627370499, 1764486000000.001],
        [1099511627777, undefined, 1764486000000.999],
      ]),
    );
  });
});
