/** Tests the conversion of x264's output to the form that MP4 stores. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { avcRecord, lengthPrefixed, splitUnits } from './annex-b.ts';

const sequence = Buffer.from('6764001eacd940', 'hex');
const picture = Buffer.from('68ebe3cb22c0', 'hex');
const longCode = Buffer.from('00000001', 'hex');
const shortCode = Buffer.from('000001', 'hex');

test('units lie between start codes of three and of four bytes', () => {
  const bytes = Buffer.concat([longCode, sequence, shortCode, picture, longCode, sequence]);
  assert.deepEqual(splitUnits(bytes), [sequence, picture, sequence]);
  assert.deepEqual(splitUnits(Buffer.alloc(0)), []);
  const [length, unit] = [Buffer.from('00000006', 'hex'), picture];
  assert.deepEqual(
    lengthPrefixed(Buffer.concat([longCode, picture])),
    Buffer.concat([length, unit]),
  );
});

test('the record holds profile, level and both parameter sets', () => {
  const record = avcRecord(Buffer.concat([longCode, sequence, longCode, picture]));
  const expected = `0164001effe10007${sequence.toString('hex')}010006${picture.toString('hex')}fdf8f800`;
  assert.equal(record.toString('hex'), expected);
  assert.throws(() => avcRecord(Buffer.concat([longCode, sequence])), /unsupported header/);
});
