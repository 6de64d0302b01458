import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { UploadSession } from './queries.ts';
import { offsetOf, sizeOf, uploadTooLarge } from './resumable.ts';

const pieces = fc.array(fc.record({ key: fc.uuid(), sizeBytes: fc.nat(2 ** 40) }));

function sessionOf(given: Partial<UploadSession>): UploadSession {
  return {
    organizationId: 'org_1',
    sessionId: 'upl_1',
    contentId: '',
    isCompleted: false,
    isExpired: false,
    expiresAt: new Date(0),
    lengthBytes: null,
    parts: [],
    wholeId: null,
    concat: null,
    ...given,
  };
}

test('the offset is what has arrived, and the whole length once that is complete', () => {
  assert.equal(sizeOf([]), 0);
  fc.assert(
    fc.property(pieces, fc.nat(2 ** 40), (parts, lengthBytes) => {
      const arrived = parts.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
      assert.equal(sizeOf(parts), arrived);
      assert.equal(offsetOf(sessionOf({ parts })), arrived);
      assert.equal(offsetOf(sessionOf({ parts, lengthBytes })), arrived);
      // The pieces of a complete upload were removed.
      assert.equal(offsetOf(sessionOf({ isCompleted: true, lengthBytes })), lengthBytes);
    }),
  );
  assert.equal(offsetOf(sessionOf({ isCompleted: true })), 0, 'sent by PUT, without a length');
});

test('a file that is too large is rejected with the maximum', () => {
  const arrival = { windowMs: 1, leastBytes: 1 };
  const error = uploadTooLarge({ maxUploadBytes: 1_234, minFreeBytes: 0, arrival });
  assert.equal(error.code, 'PAYLOAD_TOO_LARGE');
  assert.match(error.message, /1234 bytes/);
});
