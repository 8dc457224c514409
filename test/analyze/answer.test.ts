/** The same log gives the same answers whichever way it comes, and no log makes an analysis fail. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { analyzeLeaks, analyzeSlow, analyzeStats, analyzeTree, type LogSource } from '../../lib/analyze';
import { PROMISE_WINDOW } from '../../lib/analyze/model/run';
import { asSource, end, event, init, lineFields, lineOf, run, start, textOf } from './lines';

/** All reports about one log, without the counts of how it was read. */
async function answers(source: () => LogSource, opid: number) {
  const reports = await Promise.all([
    analyzeStats(source(), { heldMs: 5, starvedMs: 5, fanOut: 5, growth: 3 }),
    analyzeSlow(source()),
    analyzeLeaks(source()),
    analyzeTree(source()),
    analyzeTree(source(), { by: 'execution' }),
    analyzeTree(source(), { op: opid }),
    analyzeTree(source(), { root: opid }),
  ]);
  return reports.map(({ log, ...rest }) => {
    const { sources, bytes, foreign, cut, damaged, ...facts } = log;
    return { ...rest, log: facts };
  });
}

const OPS = ['TCP', 'Timeout', 'PROMISE', 'TickObject', 'FSREQCALLBACK', 'mine'];
const STACKS = [undefined, [], ['f:/app/a.js:1:1'], ['listen:node:net:1:1', 'g:file:///app/b.mjs:2:2']];

/** Records in any order and with few ids, so that they meet: a program's log, a damaged one, or nonsense. */
const story = fc.array(
  fc.oneof(
    {
      weight: 4,
      arbitrary: fc.tuple(
        fc.constantFrom('init', 'before', 'after', 'destroy', 'resolve'),
        fc.integer({ min: 1, max: 12 }),
        fc.nat(OPS.length - 1),
        fc.nat(12),
        fc.nat(3),
        fc.nat(30),
      ),
    },
    {
      weight: 1,
      arbitrary: fc.tuple(
        fc.constantFrom('start', 'end', 'lost', 'any'),
        fc.integer({ min: 1, max: 2 }),
        fc.nat(5),
        fc.nat(5),
        fc.nat(3),
        fc.nat(30),
      ),
    },
  ),
  { maxLength: 60 },
);

/** Lines of a story; times go on by the last number of each record. `any` is any valid record at all. */
function linesOf(
  records: typeof story extends fc.Arbitrary<infer T> ? T : never,
  others: string[],
): string[] {
  let atMs = 0;
  let fresh = 20;
  return records.map(([phase, id, op, trigger, stack, pause]) => {
    atMs += pause / 10;
    switch (phase) {
      case 'init':
        return init(id > 6 ? fresh++ : id, OPS[op], atMs, {
          parentopid: trigger,
          execopid: pause % 3 === 0 ? id : undefined,
          stack: STACKS[stack],
        });
      case 'start':
        return start(atMs, { pid: id });
      case 'end':
        return end(atMs);
      case 'lost':
        return JSON.stringify({ phase: 'lost', count: id, time: 1764486000000 + atMs });
      case 'any':
        return others[op % Math.max(1, others.length)] ?? start(atMs);
      default:
        return event(phase, id, pause % 5 === 0 ? undefined : OPS[op], atMs);
    }
  });
}

const others = fc.array(
  lineFields.map((fields) => lineOf(fields)),
  { maxLength: 3 },
);

function split(whole: Buffer, places: number[]): Buffer[] {
  const at = [0, ...places.map((place) => place % (whole.length + 1)).sort((a, b) => a - b), whole.length];
  return at.slice(1).map((to, i) => whole.subarray(at[i], to));
}

describe('the answers', () => {
  it('are the same in chunks, with foreign lines, gzipped, and split in three', async () => {
    await fc.assert(
      fc.asyncProperty(
        story,
        others,
        fc.array(fc.nat(), { maxLength: 5 }),
        fc.tuple(fc.nat(), fc.nat()),
        fc.integer({ min: 1, max: 30 }),
        async (records, strange, chunks, thirds, opid) => {
          const lines = linesOf(records, strange);
          const whole = Buffer.from(lines.map((line) => `${line}\n`).join(''));
          const foreign = Buffer.from(lines.map((line) => `GET / 200\n${line}\n{"msg":"ready"}\n`).join(''));
          const expected = await answers(() => asSource([whole]), opid);
          const ways: Record<string, () => LogSource> = {
            'in chunks': () => asSource(split(whole, chunks)),
            'with foreign lines': () => asSource(split(foreign, chunks)),
            gzipped: () => asSource(split(gzipSync(whole), chunks)),
            'split in three': () => split(whole, thirds).map((part) => asSource([part])),
          };
          for (const [way, source] of Object.entries(ways))
            assert.deepEqual(await answers(source, opid), expected, way);
        },
      ),
      { numRuns: 150 },
    );
  });

  it('are, of a log cut at any byte, those of its whole lines', async () => {
    await fc.assert(
      fc.asyncProperty(story, others, fc.nat(), async (records, strange, place) => {
        const lines = linesOf(records, strange).map((line) => `${line}\n`);
        const whole = Buffer.from(lines.join(''));
        const cut = whole.subarray(0, place % (whole.length + 1));
        // A line that lacks nothing but its newline is whole too.
        let kept = '';
        for (const line of lines) {
          if (Buffer.byteLength(kept + line) > cut.length + 1) break;
          kept += line;
        }
        assert.deepEqual(await answers(() => asSource([cut]), 5), await answers(() => asSource([kept]), 5));
      }),
      { numRuns: 150 },
    );
  });

  it('are plain objects that JSON renders whole, without NaN or undefined, for any log', async () => {
    await fc.assert(
      fc.asyncProperty(story, others, fc.integer({ min: 1, max: 30 }), async (records, strange, opid) => {
        const reports = await answers(() => textOf(linesOf(records, strange)), opid);
        assert.deepEqual(JSON.parse(JSON.stringify(reports)), reports);
      }),
      { numRuns: 150 },
    );
  });

  it('never run longer in callbacks than time passed, where time only goes forward', async () => {
    await fc.assert(
      fc.asyncProperty(story, async (records) => {
        const { loop, log, ops } = await analyzeStats(
          textOf(linesOf(records, []).filter((line) => !line.includes('"start"'))),
        );
        assert.ok(loop.busy <= log.elapsed + 0.001 * log.records, `${loop.busy} of ${log.elapsed}`);
        for (const { wait, run: ran, count } of ops) {
          assert.ok(wait.count <= count || count === 0);
          assert.ok((ran.max ?? 0) <= ran.total + 0.001);
        }
      }),
      { numRuns: 300 },
    );
  });
});

describe('a log without destroys of promises', () => {
  /** `count` promises that never run, and before them one that runs at the end. */
  function* promises(count: number) {
    yield `${init(5, 'PROMISE', 0)}\n${init(6, 'PROMISE', 0)}\n`;
    let batch: string[] = [];
    for (let i = 0; i < count; i++) {
      batch.push(init(10 + i, 'PROMISE', 1 + i / 1000));
      if (batch.length === 10_000) {
        yield `${batch.join('\n')}\n`;
        batch = [];
      }
    }
    yield `${batch.join('\n')}\n${run(6, 'PROMISE', 9000, 9001)}\n`;
  }

  it('keeps the wait of a promise while fewer than the window began after it, and says how many it gave up', async () => {
    const within = await analyzeStats(asSource(promises(PROMISE_WINDOW - 2)));
    assert.deepEqual([within.log.forgotten, within.ops[0].wait.max, within.log.withoutInit], [0, 9000, 0]);
    const beyond = await analyzeStats(asSource(promises(PROMISE_WINDOW + 5000)));
    assert.deepEqual([beyond.log.forgotten, beyond.ops[0].wait.max, beyond.log.withoutInit], [5002, null, 0]);
    assert.deepEqual(
      [beyond.ops[0].count, beyond.ops[0].live, beyond.ops[0].run.total],
      [PROMISE_WINDOW + 5002, null, 1],
    );
  });
});
