/** Proves that a feed's cursor carries its whole session, and that a damaged one is rejected. */
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { createFeedCursors, type FeedSession } from './feed-cursor.ts';
import { noFilter } from './ranking/filter.ts';

const sign = (data: Buffer | string, bytes: number) =>
  createHmac('sha256', 'key').update(data).digest().subarray(0, bytes);
const cursors = createFeedCursors({
  sign,
  verify: (data, signature) => sign(data, signature.length).equals(signature),
});
const scope = { organizationId: 'org_a' as const, filter: noFilter };
const invalid = { code: 'INVALID_CURSOR' };

const serial = fc.oneof(
  fc.nat(300),
  fc.maxSafeNat().map((number) => Math.floor(number / 4)),
);
const sessions: fc.Arbitrary<FeedSession> = fc.record(
  {
    feedId: fc.stringMatching(/^fed_[0-9a-z]{26}$/).map((text) => text as `fed_${string}`),
    planned: fc.nat(100),
    order: fc.uniqueArray(serial, { maxLength: 50 }),
    explorations: fc.uniqueArray(fc.nat(50), { maxLength: 5 }),
    served: fc.uniqueArray(serial, { maxLength: 50 }).map((all) => new Set(all)),
    sweptTo: fc.option(
      fc.record({ freshSinceMs: fc.maxSafeNat(), serialNumber: serial }, { noNullPrototype: true }),
    ),
  },
  { noNullPrototype: true },
);

test('a session is restored from its cursor', () => {
  fc.assert(
    fc.property(sessions, (session) => {
      assert.deepEqual(cursors.decode(scope, cursors.encode(scope, session)), session);
    }),
    { numRuns: 200 },
  );
});

test('a cursor is rejected for another organization or filter, or if changed, truncated or invented', () => {
  fc.assert(
    fc.property(sessions, fc.nat(), fc.integer({ min: 1, max: 255 }), (session, at, flip) => {
      const cursor = cursors.encode(scope, session);
      const decodes = (given: Partial<typeof scope>, text = cursor) =>
        cursors.decode({ ...scope, ...given }, text);
      assert.throws(() => decodes({ organizationId: 'org_b' as never }), invalid);
      assert.throws(() => decodes({ filter: { ...noFilter, author: 'ada' } }), invalid);
      const bytes = Buffer.from(cursor, 'base64url');
      const place = at % bytes.length;
      assert.throws(() => decodes({}, bytes.subarray(0, place).toString('base64url')), invalid);
      bytes[place] = (bytes[place] ?? 0) ^ flip;
      assert.throws(() => decodes({}, bytes.toString('base64url')), invalid);
    }),
    { numRuns: 150 },
  );
  fc.assert(
    fc.property(fc.string(), (text) => {
      assert.throws(() => cursors.decode(scope, text), invalid);
    }),
  );
});
