import assert from 'node:assert/strict';
import { argon2Sync } from 'node:crypto';
import { test } from 'node:test';
import { hashPassword, verifyPassword } from './password.ts';

test('Argon2id is that of RFC 9106, section 5.3', () => {
  const tag = argon2Sync('argon2id', {
    message: Buffer.alloc(32, 1),
    nonce: Buffer.alloc(16, 2),
    secret: Buffer.alloc(8, 3),
    associatedData: Buffer.alloc(12, 4),
    parallelism: 4,
    tagLength: 32,
    memory: 32,
    passes: 3,
  });
  assert.equal(
    tag.toString('hex'),
    '0d640df58d78766c08c037a34a8b53c9d01ef0452d75b65eb52520e96b01e659',
  );
});

test('a password fits its own hash alone, in either form of Unicode', async () => {
  const stored = await hashPassword('caf\u00e9 for everyone');
  assert.match(stored, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$[\w+/]{22}\$[\w+/]{43}$/);
  assert.equal(await verifyPassword('cafe\u0301 for everyone', stored), true);
  assert.equal(await verifyPassword('cafe for everyone', stored), false);
  assert.equal(await verifyPassword('cafe for everyone', null), false);
  assert.notEqual(await hashPassword('caf\u00e9 for everyone'), stored);
});
