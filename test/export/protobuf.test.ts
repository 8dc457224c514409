/** The small writer against protobufjs. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { parse } from 'protobufjs';
import { ProtobufWriter } from '../../lib/export/protobuf';

const MESSAGE = parse(`syntax = "proto2";
message All {
  optional uint64 number = 1;
  optional fixed64 fixed = 2;
  optional string text = 16;
  repeated uint64 list = 3 [packed = true];
  optional All inner = 60;
  optional int64 signed = 5;
}`).root.lookupType('All');

interface All {
  number: number;
  fixed: number;
  text: string;
  list: number[];
  signed: number;
  inner?: All;
}

const { tree } = fc.letrec<{ tree: All }>((tie) => ({
  tree: fc.record(
    {
      number: fc.oneof(fc.nat(300), fc.maxSafeNat()),
      fixed: fc.maxSafeNat(),
      text: fc.oneof(
        fc.string({ unit: 'grapheme' }),
        fc.string({ minLength: 100, maxLength: 300 }),
        fc.constant('long'.repeat(5000)),
      ),
      list: fc.array(fc.maxSafeNat()),
      signed: fc.maxSafeInteger(),
      inner: fc.option(tie('tree'), { nil: undefined, maxDepth: 4 }) as fc.Arbitrary<All>,
    },
    { requiredKeys: ['number', 'fixed', 'text', 'list', 'signed'] },
  ) as fc.Arbitrary<All>,
}));

function write(writer: ProtobufWriter, { number, fixed, text, list, signed, inner }: All): void {
  writer.varint(1, number);
  writer.fixed64(2, fixed);
  if (inner !== undefined) {
    const message = writer.open(60);
    write(writer, inner);
    writer.close(message);
  }
  writer.packed(3, list);
  writer.int64(5, signed);
  writer.text(16, text);
}

const plain = ({ inner, ...rest }: All): All =>
  inner === undefined ? rest : { ...rest, inner: plain(inner) };

describe('ProtobufWriter', () => {
  it('writes what protobufjs reads', () => {
    fc.assert(
      fc.property(tree, (value) => {
        const writer = new ProtobufWriter();
        write(writer, value);
        const decoded = MESSAGE.toObject(MESSAGE.decode(writer.take()), { longs: Number, arrays: true });
        assert.deepEqual(decoded, plain(value));
      }),
    );
  });

  it('writes numbers of 64 bits from bigints', () => {
    const writer = new ProtobufWriter();
    writer.varint(1, 2n ** 63n + 1n);
    const decoded = MESSAGE.toObject(MESSAGE.decode(writer.take()), { longs: String });
    assert.deepEqual(decoded, { number: '9223372036854775809' });
  });
});
