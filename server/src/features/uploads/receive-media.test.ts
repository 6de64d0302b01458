/** Tests what is accepted as media, and what a client is told about a failed transfer. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiError } from '../../platform/http/errors.ts';
import { FileTooLargeError, StorageFullError } from '../../platform/storage/storage-errors.ts';
import { requireMedia, translateReceiving } from './receive-media.ts';

test('the first bytes must be those of media', () => {
  const mp4 = Buffer.concat([Buffer.from([0, 0, 0, 24]), Buffer.from('ftypisom0000isommp42')]);
  assert.equal(requireMedia(mp4), 'video/mp4');
  assert.throws(() => requireMedia(Buffer.alloc(0)), {
    code: 'INVALID_MEDIA',
    message: /is empty/,
  });
  for (const other of ['<html>', 'PK\x03\x04', '\0'.repeat(64)])
    assert.throws(() => requireMedia(Buffer.from(other)), {
      code: 'INVALID_MEDIA',
      message: /not a supported/,
    });
});

test('failures caused by the client or the disk are reported as such, and no others', () => {
  const limits = { maxUploadBytes: 1_234 };
  const told = (error: unknown) => {
    const found = translateReceiving(error, limits);
    if (found === error) return 'the same';
    assert.ok(found instanceof ApiError);
    assert.equal(found.cause, error);
    return `${found.code} ${found.message}`;
  };
  assert.match(told(new FileTooLargeError(1)), /^PAYLOAD_TOO_LARGE .*1234/);
  assert.match(told(new StorageFullError('full')), /^INSUFFICIENT_STORAGE/);
  for (const code of ['ECONNRESET', 'ERR_STREAM_PREMATURE_CLOSE'])
    assert.match(told(Object.assign(new Error(code), { code })), /^INVALID_REQUEST .*interrupted/);
  for (const other of [
    new Error('x'),
    Object.assign(new Error('x'), { code: 'EIO' }),
    new ApiError('REQUEST_TIMEOUT'),
    { code: 'ECONNRESET' },
  ])
    assert.equal(told(other), 'the same');
});
