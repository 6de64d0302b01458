/** Tests how a change is parsed before it is applied to an item, and which changes are rejected. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { toItemChange } from './item-change.ts';

type Fields = Parameters<typeof toItemChange>[0];

const refused =
  (path: string, message = /./) =>
  (error: { details?: unknown }) => {
    const [detail] = error.details as { path: string; message: string }[];
    return detail?.path === path && message.test(detail.message);
  };

test('only what was given is changed, and null is kept as such', () => {
  assert.deepEqual(toItemChange({}), {});
  const same: Fields = { title: 'A', author: null, publishAt: null, protected: true };
  assert.deepEqual(toItemChange(same), same);
  const custom = { customMetadata: { a: null, b: 1 } };
  assert.deepEqual(toItemChange(custom), custom, 'merged later, with what the item has');
});

test('tags are normalized in each of their lists, and a wrong one is named', () => {
  const lists = ['tags', 'addTags', 'removeTags'] as const;
  for (const list of lists) {
    assert.deepEqual(toItemChange({ [list]: [' a', 'b', 'a'] }), { [list]: ['a', 'b'] });
    assert.throws(() => toItemChange({ [list]: ['a', ' '] }), refused(`${list}[1]`));
    assert.throws(
      () => toItemChange({ [list]: ['a,b'] }, 'items[3].'),
      refused(`items[3].${list}[0]`),
    );
  }
});

test('times are UTC with four digits of a year, so that they compare as text', () => {
  const dates = fc.date({
    min: new Date('0001-01-02T00:00:00Z'),
    max: new Date('9999-12-30T00:00:00Z'),
    noInvalidDate: true,
  });
  fc.assert(
    fc.property(dates, dates, (a, b) => {
      const [publishAt, expiresAt] = [a.toISOString(), b.toISOString()];
      if (a < b) {
        assert.deepEqual(toItemChange({ publishAt, expiresAt }), { publishAt, expiresAt });
      } else {
        assert.throws(
          () => toItemChange({ publishAt, expiresAt }, 'items[0].'),
          refused('items[0].expiresAt', /after publishAt/),
        );
      }
    }),
  );
  const { publishAt } = toItemChange({ publishAt: '2026-01-01T01:00:00+02:00' });
  assert.equal(publishAt, '2025-12-31T23:00:00.000Z');
  for (const wrong of ['0000-06-01T00:00:00Z', '0001-01-01T00:00:00+01:00', 'today'])
    assert.throws(
      () => toItemChange({ expiresAt: wrong }),
      refused('expiresAt', /years 1 to 9999/),
    );
});

test('custom metadata that no item could take is refused at once', () => {
  const merge = (customMetadata: Record<string, unknown>) => () => toItemChange({ customMetadata });
  assert.throws(merge({ language: 'de' }), refused('customMetadata.language'));
  assert.throws(merge({ a: 'x'.repeat(17_000) }), { code: 'LIMIT_EXCEEDED' });
});
