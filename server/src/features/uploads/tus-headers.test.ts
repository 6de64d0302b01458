/** Tests which tus headers are accepted: versions, lengths, offsets and checksums. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { declaredLength, readChecksum, readInteger, requireVersion } from './tus-headers.ts';

test('another version, or none, is refused with the one that is spoken', () => {
  requireVersion({ 'tus-resumable': '1.0.0' });
  for (const other of [undefined, '', '0.2.2', '1.0.0, 1.0.0'])
    assert.throws(() => requireVersion(other === undefined ? {} : { 'tus-resumable': other }), {
      code: 'PRECONDITION_FAILED',
      headers: { 'tus-version': '1.0.0' },
    });
});

test('a length or an offset is a whole number of bytes below 10^15', () => {
  const read = (value: string | string[] | undefined) =>
    readInteger({ 'upload-offset': value }, 'upload-offset');
  fc.assert(
    fc.property(fc.nat({ max: 999_999_999_999_999 }), (bytes) => {
      assert.equal(read(String(bytes)), bytes);
    }),
  );
  for (const wrong of [undefined, '', '-1', '1.5', '1e3', ' 1', '0x1', '1000000000000000', ['1']])
    assert.throws(() => read(wrong), { code: 'INVALID_REQUEST', message: /^upload-offset must/ });
});

test('the declared length is null if it is missing or not a number', () => {
  assert.equal(declaredLength({ 'content-length': '12' }), 12);
  assert.equal(declaredLength({ 'content-length': '0' }), 0);
  for (const none of [{}, { 'content-length': 'x' }, { 'content-length': '99999999999999999999' }])
    assert.equal(declaredLength(none), null);
});

test('a checksum is an algorithm and the digest of the bytes', () => {
  const read = (value: string) => readChecksum({ 'upload-checksum': value });
  fc.assert(
    fc.property(fc.constantFrom('sha1', 'sha256', 'md5'), fc.uint8Array(), (algorithm, bytes) => {
      const digest = createHash(algorithm).update(bytes).digest();
      assert.deepEqual(read(`${algorithm} ${digest.toString('base64')}`), { algorithm, digest });
    }),
  );
  assert.equal(readChecksum({}), null);
  for (const wrong of ['', 'sha1', 'sha1 ', 'crc32 AAAA', 'SHA1 AAAA', 'sha1 AAAA AAAA', 'sha1 -'])
    assert.throws(() => read(wrong), { code: 'CHECKSUM_UNSUPPORTED' }, wrong);
});
