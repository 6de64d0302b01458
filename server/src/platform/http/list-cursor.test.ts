/**
 * Proves that a cursor carries its position, and that anything but an intact cursor is rejected.
 */
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { createListCursors, momentAndId, readPage, type CursorScope } from './list-cursor.ts';

const sign = (data: Buffer | string, bytes: number) =>
  createHmac('sha256', 'key').update(data).digest().subarray(0, bytes);
const cursors = createListCursors({
  sign,
  verify: (data, signature) => sign(data, signature.length).equals(signature),
});

const names = fc.constantFrom('tags', 'status', 'from');
const scopes: fc.Arbitrary<CursorScope> = fc.record({
  list: fc.constantFrom('content', 'keys'),
  organizationId: fc.constantFrom('org_a' as const, 'org_b' as const),
  filter: fc.option(fc.dictionary(names, fc.oneof(fc.string(), fc.array(fc.string())))),
});
const positions = fc.record(
  { total: fc.nat(), after: fc.array(fc.oneof(fc.string(), fc.integer()), { maxLength: 3 }) },
  { noNullPrototype: true },
);
const invalid = { code: 'INVALID_CURSOR' };

test('a cursor gives its position back, in whatever order the filter is', () => {
  fc.assert(
    fc.property(scopes, positions, (scope, position) => {
      const cursor = cursors.encode(scope, position);
      assert.match(cursor, /^[A-Za-z0-9_-]+$/);
      assert.deepEqual(cursors.decode(scope, cursor), position);
      const turned = scope.filter && Object.fromEntries(Object.entries(scope.filter).toReversed());
      assert.deepEqual(cursors.decode({ ...scope, filter: turned }, cursor), position);
    }),
    { numRuns: 150 },
  );
});

test('a cursor is invalid for another list, organization or filter', () => {
  fc.assert(
    fc.property(scopes, scopes, positions, (scope, other, position) => {
      const same = (one: CursorScope) =>
        JSON.stringify([one.list, one.organizationId, Object.entries(one.filter ?? {}).toSorted()]);
      fc.pre(same(scope) !== same(other));
      const cursor = cursors.encode(scope, position);
      assert.throws(() => cursors.decode(other, cursor), invalid);
    }),
    { numRuns: 150 },
  );
});

test('a changed, truncated or invented cursor is invalid', () => {
  const scope = { list: 'content', organizationId: 'org_a' as const, filter: null };
  fc.assert(
    fc.property(positions, fc.nat(), fc.integer({ min: 1, max: 255 }), (position, at, flip) => {
      const bytes = Buffer.from(cursors.encode(scope, position), 'base64url');
      const cut = bytes.subarray(0, at % bytes.length).toString('base64url');
      assert.throws(() => cursors.decode(scope, cut), invalid);
      bytes[at % bytes.length] = (bytes[at % bytes.length] ?? 0) ^ flip;
      assert.throws(() => cursors.decode(scope, bytes.toString('base64url')), invalid);
    }),
    { numRuns: 200 },
  );
  fc.assert(
    fc.property(fc.string(), (text) => {
      assert.throws(() => cursors.decode(scope, text), invalid);
    }),
    { numRuns: 100 },
  );
});

test('the pages of a list hold each row once, and count them once', async () => {
  const scope = { list: 'content', organizationId: 'org_a' as const, filter: null };
  await fc.assert(
    fc.asyncProperty(fc.nat(25), fc.integer({ min: 1, max: 7 }), async (size, limit) => {
      const rows = Array.from({ length: size }, (_, at) => at);
      let counts = 0;
      const source = {
        count: async () => (counts += 1) && size,
        read: async (most: number, after: readonly (string | number)[] | null) =>
          rows.filter((row) => row > Number(after?.[0] ?? -1)).slice(0, most),
        position: (row: number) => [row],
        present: (row: number) => row * 10,
      };
      const found: number[] = [];
      let cursor: string | undefined;
      do {
        const page = await readPage(cursors, scope, { limit, ...(cursor && { cursor }) }, source);
        assert.ok(page.data.length === limit || page.meta.nextCursor === null);
        assert.equal(page.meta.total, size);
        found.push(...page.data);
        cursor = page.meta.nextCursor ?? undefined;
      } while (cursor !== undefined);
      assert.deepEqual(
        found,
        rows.map((row) => row * 10),
      );
      assert.equal(counts, 1);
    }),
    { numRuns: 60 },
  );
  assert.equal(momentAndId(null), null);
  assert.deepEqual(momentAndId(['2026', 'a']), { at: '2026', id: 'a' });
});
