import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { after, describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { readLog } from '../../lib/analyze/read/reader';
import type { LogSource } from '../../lib/analyze/read/source';
import { TracerError } from '../../lib/errors';
import { asSource, end, event, init, lineFields, lineOf, start } from './lines';

const folder = mkdtempSync(join(tmpdir(), 'async-tracer-reader-'));
after(() => rmSync(folder, { recursive: true }));

function file(name: string, content: string | Uint8Array): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

async function read(source: LogSource) {
  const reader = readLog(source);
  const records: unknown[] = [];
  for await (const record of reader) records.push(record);
  return { records, counts: reader.counts };
}

const LOG = [
  start(0),
  init(5, 'TCPSERVER', 1),
  event('before', 5, 'TCPSERVER', 2),
  event('after', 5, 'TCPSERVER', 3),
  end(4),
];
const TEXT = `${LOG.join('\n')}\n`;
const RECORDS = LOG.map((line) => JSON.parse(line));

describe('readLog', () => {
  it('reads a path, a file: URL, a stream, an iterable of text, and a gzipped file under any name', async () => {
    const path = file('plain.ndjson', TEXT);
    const sources: Record<string, LogSource> = {
      path,
      url: pathToFileURL(path),
      stream: Readable.from([Buffer.from(TEXT)]),
      iterable: asSource([TEXT]),
      gzip: file('zipped', gzipSync(TEXT)),
      'several gzips in one': file(
        'zipped2',
        Buffer.concat([gzipSync(TEXT.slice(0, 100)), gzipSync(TEXT.slice(100))]),
      ),
      'gzip stream': Readable.from([gzipSync(TEXT)]),
    };
    for (const [name, source] of Object.entries(sources)) {
      const { records, counts } = await read(source);
      assert.deepEqual(records, RECORDS, name);
      assert.deepEqual([counts.records, counts.foreign, counts.cut, counts.damaged], [5, 0, 0, []], name);
    }
  });

  it('gives the same records in batches', async () => {
    const batches: unknown[] = [];
    for await (const batch of readLog(asSource([TEXT.slice(0, 300), TEXT.slice(300)])).batches())
      batches.push(...batch);
    assert.deepEqual(batches, RECORDS);
  });

  it('passes over foreign lines and counts them, but not blank ones', async () => {
    const { records, counts } = await read(
      asSource([`listening on 8080\n\n${TEXT}   \n{"phase":"init"}\n[]\nnull\n{"a":1}\n`]),
    );
    assert.deepEqual(records, RECORDS);
    assert.equal(counts.foreign, 5);
  });

  it('takes a byte order mark and carriage returns as what they are', async () => {
    const { records, counts } = await read(asSource([`\ufeff${TEXT.replaceAll('\n', '\r\n')}`]));
    assert.deepEqual(records, RECORDS);
    assert.equal(counts.foreign, 0);
  });

  it('counts a last line that is cut, and takes one that only lacks its newline', async () => {
    const whole = await read(asSource([TEXT.slice(0, -1)]));
    assert.deepEqual([whole.counts.records, whole.counts.cut], [5, 0]);
    const cut = await read(asSource([TEXT.slice(0, -5)]));
    assert.deepEqual([cut.counts.records, cut.counts.cut], [4, 1]);
  });

  it('counts a cut line at the end of each source, and no line of the next one is harmed', async () => {
    const { records, counts } = await read([asSource([TEXT.slice(0, -5)]), asSource([TEXT])]);
    assert.deepEqual(records, [...RECORDS.slice(0, 4), ...RECORDS]);
    assert.deepEqual([counts.sources, counts.cut, counts.foreign], [2, 1, 0]);
  });

  it('takes no line for a record whose count or format is not what the tracer can have written', async () => {
    const lines = [
      { phase: 'lost', count: -5, time: 5 },
      { phase: 'lost', count: 1.5, time: 5 },
      { phase: 'start', format: 0, pid: 1, time: 5 },
    ];
    const { counts } = await read(asSource([lines.map((line) => `${JSON.stringify(line)}\n`).join('')]));
    assert.deepEqual([counts.records, counts.foreign, counts.lost], [0, 3, 0]);
  });

  it('reads the files of a rotated log from the oldest to the newest, and leaves other files where they are', async () => {
    const numbered = (id: number) => `${event('before', id, 'TCP', id)}\n`;
    const piece = (name: string, id: number) => file(name, numbered(id));
    const [b2, b1, b] = [piece('b.log.2', 30), piece('b.log.1', 40), piece('b.log', 50)];
    const opened = file('a.log', `${start(9)}\n${numbered(9)}`);
    const [old, older] = [
      file('a.log.1', `cut off\n${numbered(8)}`),
      file('a.log-20261130.gz', gzipSync(numbered(7))),
    ];
    const idsOf = async (source: LogSource) =>
      (await read(source)).records.flatMap((record) => (record as { opid?: number }).opid ?? []);
    assert.deepEqual(await idsOf([opened, older, old]), [7, 8, 9]);
    assert.deepEqual(await idsOf([b, b1, b2, pathToFileURL(opened), old]), [30, 40, 50, 8, 9]);
    assert.deepEqual(await idsOf([piece('z.aa', 3), piece('z.ab', 2)]), [3, 2]);
    assert.deepEqual(await idsOf([b, asSource([numbered(1)]), b1]), [40, 50, 1]);
    assert.deepEqual(await idsOf([b, file('b.log.3', 'nothing\n'), b1]), [40, 50]);
  });

  it('counts what the tracer says it lost', async () => {
    const lost = JSON.stringify({ phase: 'lost', count: 12, time: 5 });
    assert.equal((await read(asSource([`${lost}\n${TEXT}${lost}\n`]))).counts.lost, 24);
  });

  it('gives the contents of a cut gzip, and reports that it is cut', async () => {
    const long = TEXT.repeat(200);
    const zipped = gzipSync(long);
    const path = file('cut.gz', zipped.subarray(0, zipped.length - 12));
    const { records, counts } = await read(path);
    assert.deepEqual(records, JSON.parse(`[${long.trim().replaceAll('\n', ',')}]`).slice(0, records.length));
    assert.ok(records.length > 900, `${records.length}`);
    assert.deepEqual(counts.damaged, [{ source: path, message: 'unexpected end of file' }]);
  });

  it('gives of a gzip that is damaged what stands before, and goes on with the next source', async () => {
    const ids = Array.from({ length: 50_000 }, (_, i) => init(i + 5, 'TCP', i));
    const zipped = gzipSync(`${ids.join('\n')}\n`);
    zipped.fill(0xff, zipped.length >>> 1, (zipped.length >>> 1) + 40);
    const path = file('damaged.gz', zipped);
    const { records, counts } = await read([path, asSource([TEXT])]);
    assert.deepEqual(records.slice(-5), RECORDS);
    assert.deepEqual(
      records.slice(0, 20_000).map((record) => (record as { opid: number }).opid),
      ids.slice(0, 20_000).map((_, i) => i + 5),
    );
    assert.deepEqual(
      counts.damaged.map(({ source }) => source),
      [path],
    );
  });

  it('gives of a gzip with something behind it all but the last 64 KiB, and reports it', async () => {
    const long = TEXT.repeat(2000);
    const path = file('tail.gz', Buffer.concat([gzipSync(long), Buffer.from('no gzip')]));
    const { records, counts } = await read(path);
    assert.ok(records.length > 10_000 - (64 * 1024) / (TEXT.length / 5) - 2, `${records.length}`);
    assert.deepEqual(counts.damaged, [{ source: path, message: 'incorrect header check' }]);
  });

  const foreign: [string, number[], RegExp][] = [
    ['zstd', [0x28, 0xb5, 0x2f, 0xfd, 0], /is compressed by zstd.*zstdcat FILE \| async-tracer stats -$/],
    ['xz', [0xfd, 0x37, 0x7a, 0x58, 0x5a, 0], /is compressed by xz.*xzcat/],
    ['bzip2', [0x42, 0x5a, 0x68, 0x39], /is compressed by bzip2.*bzcat/],
    ['zip', [0x50, 0x4b, 3, 4, 20], /is a zip archive.*unzip -p/],
    ['UTF-16', [...Buffer.from('\ufeff{"opid":', 'utf16le')], /is text in UTF-16.*iconv/],
  ];
  for (const [name, bytes, message] of foreign) {
    it(`says of ${name} how it becomes a log that can be read`, async () => {
      await assert.rejects(read(asSource([Buffer.from(bytes.slice(0, 3)), Buffer.from(bytes.slice(3))])), {
        code: 'ERR_ASYNC_TRACER_INPUT',
        message,
      });
    });
  }

  it('gives up a pipe with a line of more than 1 GiB, which has no end', async () => {
    const zeros = Buffer.alloc(16 * 1024 * 1024);
    let given = 0;
    async function* endless() {
      yield TEXT;
      for (;;) {
        given += zeros.length;
        yield zeros;
      }
    }
    await assert.rejects(read(endless()), {
      code: 'ERR_ASYNC_TRACER_INPUT',
      message: 'a stream has a line of more than 1 GiB: it is no log',
    });
    assert.ok(given <= 2 ** 30 + 2 * zeros.length, `${given}`);
  });

  it('reports progress up to the size of all files, and no size where a source has none', async () => {
    const path = file('progress.ndjson', TEXT.repeat(2000));
    const seen: { bytes: number; totalBytes: number | undefined; records: number }[] = [];
    for await (const _ of readLog([path, path], { onProgress: (progress) => seen.push(progress) }));
    assert.deepEqual(seen.at(-1), {
      bytes: TEXT.length * 4000,
      totalBytes: TEXT.length * 4000,
      records: 20_000,
    });
    assert.ok(seen.length > 4);
    seen.length = 0;
    for await (const _ of readLog([path, asSource([TEXT])], {
      onProgress: (progress) => seen.push(progress),
    }));
    assert.equal(seen.at(-1)!.totalBytes, undefined);
  });

  it('refuses a format to come by its number, whatever other fields it has', async () => {
    await assert.rejects(read(asSource([`{"phase":"start","format":2}\n${TEXT}`])), (error: TracerError) => {
      assert.ok(error instanceof TracerError);
      assert.equal(error.code, 'ERR_ASYNC_TRACER_FORMAT');
      assert.match(error.message, /format 2;.*up to 1/);
      return true;
    });
  });

  it('refuses what cannot be read with a message that names it', async () => {
    const failing = Readable.from(
      (function* () {
        yield TEXT;
        throw new Error('the wire broke');
      })(),
    );
    const cases: [unknown, RegExp][] = [
      [join(folder, 'missing.ndjson'), /missing\.ndjson could not be opened: ENOENT/],
      [folder, /could not be opened: it is a folder/],
      [[], /no log was given/],
      [42, /a number \(42\); expected a path/],
      [undefined, /undefined; expected/],
      [[TEXT, null], /could not be opened|null; expected/],
      [asSource([1 as never]), /gave a number \(1\); expected bytes or text/],
      [failing, /a stream could not be read: the wire broke/],
    ];
    for (const [source, message] of cases) {
      await assert.rejects(read(source as LogSource), (error: TracerError) => {
        assert.equal(error.code, 'ERR_ASYNC_TRACER_INPUT', error.message);
        assert.match(error.message, message);
        return true;
      });
    }
  });

  it('closes its file when the loop is left early', async () => {
    const source = asSource([TEXT.slice(0, 300), TEXT.slice(300)]);
    for await (const _ of readLog(source)) break;
    assert.deepEqual(await source.next(), { done: true, value: undefined });
  });

  it('passes over a line without an end and goes on behind it', async () => {
    function* chunks() {
      yield 'x';
      for (let i = 0; i < 70; i++) yield 'x'.repeat(1024 * 1024);
      yield `\n${TEXT}`;
    }
    const { records, counts } = await read(asSource(chunks()));
    assert.deepEqual(records, RECORDS);
    assert.equal(counts.foreign, 1);
  });

  it('gives the same records however the bytes are cut into chunks, sources and gzip', async () => {
    const cuts = fc.array(fc.nat(), { maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(
        fc.array(lineFields, { minLength: 1, maxLength: 20 }),
        cuts,
        cuts,
        fc.boolean(),
        async (list, chunkCuts, sourceCuts, zip) => {
          const lines = list.map((fields) => lineOf(fields));
          const bytes = Buffer.from(`${lines.join('\nforeign {"opid":1}\n')}\n`);
          const split = (whole: Buffer, places: number[]) => {
            const at = [
              0,
              ...places.map((place) => place % (whole.length + 1)).sort((a, b) => a - b),
              whole.length,
            ];
            return at.slice(1).map((to, i) => whole.subarray(at[i], to));
          };
          const sources = split(bytes, sourceCuts).map((part) =>
            asSource(split(zip ? gzipSync(part) : part, chunkCuts)),
          );
          const { records, counts } = await read(sources);
          assert.deepEqual(
            records,
            lines.map((line) => JSON.parse(line)),
          );
          // A foreign line that crosses from one source into the next may count once for each part.
          const pieces = counts.foreign + counts.cut;
          assert.ok(
            pieces >= lines.length - 1 && pieces <= lines.length - 1 + sourceCuts.length,
            `${pieces}`,
          );
        },
      ),
      { numRuns: 300 },
    );
  });

  it('gives, of a log cut at any byte, the records that are whole', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(lineFields, { minLength: 1, maxLength: 10 }),
        fc.nat(),
        async (list, place) => {
          const lines = list.map((fields) => lineOf(fields));
          const bytes = Buffer.from(`${lines.join('\n')}\n`);
          const part = bytes.subarray(0, place % (bytes.length + 1)).toString('latin1');
          const { records, counts } = await read(asSource([Buffer.from(part, 'latin1')]));
          // A line is whole without its newline too.
          const whole = Buffer.from(`${part}\n`, 'latin1')
            .toString()
            .split('\n')
            .filter((line) => lines.includes(line));
          assert.deepEqual(
            records,
            whole.map((line) => JSON.parse(line)),
          );
          assert.equal(counts.cut, part.split('\n').filter((line) => line !== '').length - whole.length);
        },
      ),
      { numRuns: 300 },
    );
  });
});
