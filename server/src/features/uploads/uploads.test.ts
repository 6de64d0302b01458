import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiError } from '../../platform/http/errors.ts';
import { hashUploadToken, wasRolledBack } from './uploads.ts';

test('a file is removed only if it is certain that no row names it', () => {
  const failed = (code: string) => Object.assign(new Error(code), { code });
  assert.equal(wasRolledBack(new ApiError('CONFLICT')), true);
  assert.equal(wasRolledBack(failed('23505')), true, 'a unique violation');
  for (const unknown of ['08006', '57P01', 'ECONNRESET'])
    assert.equal(wasRolledBack(failed(unknown)), false, unknown);
  assert.equal(wasRolledBack(new Error('x')), false);
  assert.equal(wasRolledBack(null), false);
});

test('of a token only its SHA-256 is stored', () => {
  // FIPS 180-4, the example "abc".
  assert.equal(
    hashUploadToken('abc').toString('hex'),
    'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
  );
});
