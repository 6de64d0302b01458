import assert from 'node:assert/strict';
import { test } from 'node:test';
import { base32, codeAt, matchingStep, stepAt } from './totp.ts';

// Test vectors for SHA-1 from RFC 6238, appendix B.
const secret = Buffer.from('12345678901234567890');
const vectors: [seconds: number, code: string][] = [
  [59, '94287082'],
  [1_111_111_109, '07081804'],
  [1_111_111_111, '14050471'],
  [1_234_567_890, '89005924'],
  [2_000_000_000, '69279037'],
  [20_000_000_000, '65353130'],
];

test('codes are those of the test vectors of RFC 6238', () => {
  for (const [seconds, code] of vectors) {
    assert.equal(codeAt(secret, stepAt(seconds * 1_000), 8), code);
    assert.equal(codeAt(secret, stepAt(seconds * 1_000)), code.slice(2));
  }
});

test('a code counts one step before and after, and never again', () => {
  const nowMs = 1_234_567_890_000;
  const now = stepAt(nowMs);
  const at = (step: number, lastStep = 0) =>
    matchingStep(secret, codeAt(secret, step), { nowMs, lastStep });
  assert.deepEqual(
    [-2, -1, 0, 1, 2].map((off) => at(now + off)),
    [null, now - 1, now, now + 1, null],
  );
  assert.equal(at(now, now), null);
  assert.equal(at(now - 1, now), null);
  assert.equal(matchingStep(secret, '', { nowMs, lastStep: 0 }), null);
});

test('Base32 is that of RFC 4648', () => {
  assert.equal(base32(Buffer.from('fooba')), 'MZXW6YTB');
  assert.equal(base32(secret), 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ');
});
