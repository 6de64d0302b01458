/** AMF0 values survive a round trip, and limits on input are enforced. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { decodeAmf, encodeAmf, type AmfValue } from './amf0.ts';
import { RtmpError } from './rtmp-error.ts';

const text = fc.string({ unit: 'grapheme', maxLength: 12 });
const scalar: fc.Arbitrary<AmfValue> = fc.oneof(
  fc.double({ noNaN: true }),
  fc.boolean(),
  text,
  fc.constant(null),
);
const name = text.filter((value) => value !== '');
const plainObject = (value: fc.Arbitrary<AmfValue>) => fc.dictionary(name, value, { maxKeys: 5 });

test('values are read as they were written', () => {
  const value = fc.oneof(scalar, plainObject(fc.oneof(scalar, plainObject(scalar))));
  fc.assert(
    fc.property(fc.array(value, { maxLength: 6 }), (values) => {
      const read = decodeAmf(encodeAmf(...values));
      assert.equal(JSON.stringify(read), JSON.stringify(values));
    }),
  );
});

test('an ECMA array, a date and a long string are understood', () => {
  const bytes = Buffer.concat([
    Buffer.of(8, 0, 0, 0, 1, 0, 1, 0x61, 1, 1, 0, 0, 9),
    Buffer.of(11, 0x40, 0x59, 0, 0, 0, 0, 0, 0, 0, 0),
    Buffer.of(12, 0, 0, 0, 2, 0x68, 0x69),
    Buffer.of(10, 0, 0, 0, 2, 5, 6),
  ]);
  assert.equal(JSON.stringify(decodeAmf(bytes)), '[{"a":true},100,"hi",[null,null]]');
});

test('depth, number and length are bounded', () => {
  const open = Buffer.of(3, 0, 1, 0x61);
  assert.throws(() => decodeAmf(Buffer.concat(Array.from({ length: 9 }, () => open))), RtmpError);
  assert.throws(() => decodeAmf(Buffer.alloc(501, 5)), /too large/);
  assert.throws(() => decodeAmf(Buffer.of(10, 0xff, 0xff, 0xff, 0xff)), /too large/);
  assert.throws(() => decodeAmf(Buffer.of(2, 0, 9, 0x61)), /too early/);
  assert.throws(() => decodeAmf(Buffer.of(0x7f)), /unknown type/);
});

test('a name of an object means nothing to the program', () => {
  const bytes = encodeAmf(JSON.parse('{"__proto__": {"isAdmin": true}}') as AmfValue);
  const [read] = decodeAmf(bytes);
  assert.equal((read as { isAdmin?: boolean }).isAdmin, undefined);
});
