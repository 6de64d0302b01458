/** Tests how tags, schedules and custom metadata are normalized, and which are rejected. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { checkSchedule, mergeCustomMetadata, normalizeTags, toColumns } from './metadata.ts';

const refused = (path: string) => (error: { details?: { path: string }[] }) =>
  error.details?.[0]?.path === path;

test('tags are trimmed and each there once, in the order given', () => {
  assert.deepEqual(normalizeTags([' a ', 'B', 'a', 'b', '\tB']), ['a', 'B', 'b']);
  assert.throws(() => normalizeTags(['a', '  ']), refused('tags[1]'));
  assert.throws(() => normalizeTags(['a,b'], 'addTags'), refused('addTags[0]'));
  const tags = fc.array(fc.string({ unit: fc.constantFrom('a', 'b', ' ') }));
  fc.assert(
    fc.property(tags, (given) => {
      fc.pre(given.every((tag) => tag.trim() !== ''));
      const found = normalizeTags(given);
      assert.deepEqual(normalizeTags(found), found, 'once more changes nothing');
      assert.deepEqual(new Set(found), new Set(given.map((tag) => tag.trim())));
    }),
  );
});

test('an item expires after it is published', () => {
  const at = (ms: number) => new Date(ms);
  checkSchedule(at(1), at(2));
  checkSchedule(null, at(1));
  checkSchedule(at(1), null);
  assert.throws(() => checkSchedule(at(1), at(1)), refused('expiresAt'));
  assert.throws(() => checkSchedule(at(2), at(1)), refused('expiresAt'));
});

test('only fields that were given become columns', () => {
  assert.deepEqual(toColumns({}), {});
  const given = { title: 'A', tags: [' a'], publishAt: null, externalId: 'e', author: null };
  assert.deepEqual(toColumns(given), {
    title: 'A',
    tags: ['a'],
    publish_at: null,
    external_id: 'e',
    author: null,
  });
  const { expires_at } = toColumns({ expiresAt: '2026-01-01T01:00:00+01:00' });
  assert.equal(expires_at?.toISOString(), '2026-01-01T00:00:00.000Z');
});

test('a change sets keys and removes those that are null', () => {
  const keys = fc.constantFrom('a', 'b', 'c');
  const values = fc.oneof(fc.string(), fc.integer(), fc.constant(null));
  const custom = fc.dictionary(keys, values, { noNullPrototype: true });
  fc.assert(
    fc.property(custom, custom, (current, change) => {
      const merged = mergeCustomMetadata(current, change);
      for (const key of ['a', 'b', 'c']) {
        const wanted = key in change ? change[key] : current[key];
        assert.equal(merged[key] ?? null, wanted ?? null);
        assert.ok(!(key in merged) || merged[key] !== null);
      }
    }),
    { numRuns: 200 },
  );
  assert.throws(
    () => mergeCustomMetadata({}, { language: 'de' }),
    refused('customMetadata.language'),
  );
  assert.deepEqual(mergeCustomMetadata({ language: 'de' }, {}), { language: 'de' });
});

test('custom metadata has at most eight levels, 16 KB and finite numbers', () => {
  const nested = (levels: number): object => (levels === 1 ? {} : { a: nested(levels - 1) });
  const merge = (change: object) => mergeCustomMetadata({}, change as Record<string, unknown>);
  assert.deepEqual(merge(nested(8)), nested(8));
  assert.throws(() => merge(nested(9)), refused('customMetadata'));
  assert.throws(() => merge({ a: [{ b: Infinity }] }), refused('customMetadata'));
  const filled = (bytes: number) => ({ a: 'x'.repeat(bytes - 8) });
  assert.deepEqual(merge(filled(16_384)), filled(16_384));
  assert.throws(() => merge(filled(16_385)), { code: 'LIMIT_EXCEEDED' });
  const half = 'x'.repeat(8_200);
  assert.throws(() => mergeCustomMetadata({ a: half }, { b: half }), { code: 'LIMIT_EXCEEDED' });
});
