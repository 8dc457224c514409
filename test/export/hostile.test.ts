/** Names that are made to break a file: of a page, of JSON, of protocol buffers. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { gunzipSync } from 'node:zlib';
import fc from 'fast-check';
import { EXPORT_FORMATS, type ExportFormat, LogExport } from '../../lib/export';
import { asSource, event, init, lineFields, lineOf, run, start } from '../analyze/lines';
import { decode, type Packet, type Profile } from './decode';

const NAMES = [
  '</script><script>alert(1)</script>',
  '"quoted" \\ and \'more\'',
  'control \u0000\u0001\u001b[2J\u007f\r\n\t',
  'half \ud800 and \udc00 halves',
  '\u2028\u2029',
  '<!--',
  '__proto__',
  'emoji 👩‍👩‍👧 and ünïcode',
  'long '.repeat(5000),
  '',
];

const hostile = fc.oneof(
  fc.constantFrom(...NAMES),
  fc.string({ unit: 'binary' }),
  fc.string({ unit: 'binary-ascii' }).map((text) => `${text}\ud83d`),
);

async function bytesOf(text: string, format: ExportFormat): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of new LogExport(asSource([text]), format)) {
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Fails where the bytes are no file of the format. */
function check(bytes: Buffer, format: ExportFormat): unknown {
  if (format === 'perfetto') {
    return decode<{ packet: Packet[] }>('trace.proto', 'Trace', bytes).packet;
  }
  if (format === 'pprof') {
    return decode<Profile>('profile.proto', 'Profile', gunzipSync(bytes)).stringTable;
  }
  const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  assert.equal(
    /<\/?script|<!--|[\ud800-\udfff](?<![\ud800-\udbff][\udc00-\udfff])(?![\udc00-\udfff])/i.test(text),
    false,
  );
  assert.equal(/\\ud[89a-f]/i.test(text), false, 'no half of a surrogate pair, also not escaped');
  return JSON.parse(text);
}

function logOf(op: string, area: string, frame: string, thread: unknown): string {
  const named = (line: string) =>
    line
      .replace(/"op":"[^"]*"/, () => `"op":${JSON.stringify(op)}`)
      .replace(/"area":"[^"]*"/, () => `"area":${JSON.stringify(area)}`);
  return [
    start(0, { node: op, thread, pid: 1 }),
    init(2, 'X', 1, { stack: [`${frame.replaceAll(':', '')}:/app/${frame.replaceAll(':', '')}.js:1:2`] }),
    run(2, 'X', 2, 3).split('\n').map(named).join('\n'),
    event('before', 2, 'X', 4),
    init(3, 'X', 5),
    event('after', 2, 'X', 6),
    event('before', 3, 'X', 7),
  ]
    .map(named)
    .join('\n');
}

for (const format of EXPORT_FORMATS) {
  describe(`${format}, with hostile names`, () => {
    for (const name of NAMES) {
      it(`is a whole file with the op ${JSON.stringify(name.slice(0, 40))}`, async () => {
        check(await bytesOf(`${logOf(name, name, name, 0)}\n`, format), format);
      });
    }

    it('is a whole file with any names', async () => {
      await fc.assert(
        fc.asyncProperty(
          hostile,
          hostile,
          hostile,
          fc.oneof(fc.constant(0), fc.nat(), fc.constant(null)),
          async (op, area, frame, thread) => {
            check(await bytesOf(`${logOf(op, area, frame, thread)}\n`, format), format);
          },
        ),
        { numRuns: 60 },
      );
    });

    it('is a whole file from any records', async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(lineFields, { maxLength: 60 }), async (records) => {
          check(await bytesOf(`${records.map((fields) => lineOf(fields)).join('\n')}\n`, format), format);
        }),
        { numRuns: 100 },
      );
    });
  });
}
