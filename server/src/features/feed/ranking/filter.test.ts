/** Proves that a filter's walk visits exactly what matches, in the order of freshness. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { OrganizationIndex } from '../items/organization-index.ts';
import { hasNoFilter, matches, noFilter, visitNewest, type FeedFilter } from './filter.ts';
import { item } from './testing/small-world.ts';

const words = ['a', 'b', 'c'] as const;
const word = fc.constantFrom(...words);
const maybe = fc.option(word);
const fields = fc.record({
  tags: fc.uniqueArray(word),
  section: maybe,
  author: maybe,
  contentType: fc.constantFrom('video', 'carousel'),
  freshSinceMs: fc.integer({ min: 1, max: 12 }),
});
const filters: fc.Arbitrary<FeedFilter> = fc.record({
  tags: fc.option(fc.uniqueArray(word, { minLength: 1 })),
  section: maybe,
  author: maybe,
  contentType: fc.option(fc.constantFrom('video', 'carousel')),
});

function visited(
  index: OrganizationIndex,
  filter: FeedFilter,
  after: { freshSinceMs: number; serialNumber: number } | null = null,
  most = Infinity,
): { numbers: number[]; visits: number } {
  const numbers: number[] = [];
  let visits = 0;
  const visit = (entry: Parameters<typeof matches>[0]) => {
    visits += 1;
    if (matches(entry, filter) && numbers.at(-1) !== entry.serialNumber) {
      numbers.push(entry.serialNumber);
    }
    return numbers.length < most;
  };
  visitNewest(index, filter, visit, after);
  return { numbers, visits };
}

test('the walk visits matching entries, newest first, from any place on', () => {
  fc.assert(
    fc.property(fc.array(fields, { maxLength: 30 }), filters, fc.nat(29), (all, filter, at) => {
      const items = all.map((one, place) => item(place + 1, one));
      const index = new OrganizationIndex(items);
      const byHand = items
        .filter(
          (one) =>
            (filter.tags === null || one.tags.some((tag) => filter.tags?.includes(tag))) &&
            (filter.section ?? one.section) === one.section &&
            (filter.author ?? one.author) === one.author &&
            (filter.contentType ?? one.contentType) === one.contentType,
        )
        .toSorted((a, b) => b.freshSinceMs - a.freshSinceMs || b.serialNumber - a.serialNumber)
        .map(({ serialNumber }) => serialNumber);
      assert.deepEqual(visited(index, filter).numbers, byHand);
      assert.deepEqual(visited(index, filter, null, 2).numbers, byHand.slice(0, 2));
      const from = byHand.length === 0 ? -1 : at % byHand.length;
      const after = items.find(({ serialNumber }) => serialNumber === byHand[from]);
      if (after === undefined) return;
      assert.deepEqual(visited(index, filter, after).numbers, byHand.slice(from + 1));
    }),
    { numRuns: 200 },
  );
});

test('the shortest list of a filter is walked', () => {
  const common = { tags: ['a'], section: 'a', author: 'a' };
  const items = Array.from({ length: 100 }, (_, at) => item(at + 1, common));
  for (const [at, rare] of [
    { tags: ['b'] },
    { section: 'b' },
    { author: 'b' },
    { contentType: 'carousel' },
  ].entries()) {
    const index = new OrganizationIndex([...items, item(200 + at, { ...common, ...rare })]);
    const [name = '', value] = Object.entries(rare)[0] ?? [];
    const filter = { ...noFilter, [name]: value };
    assert.equal(visited(index, { ...filter }).visits, 1, name);
  }
});

test('the lists of several rare tags are merged, newest first', () => {
  const tagsOf = (at: number) => (at % 10 === 0 ? ['a'] : at % 10 === 5 ? ['b'] : []);
  const items = Array.from({ length: 100 }, (_, at) => item(at + 1, { tags: tagsOf(at) }));
  const index = new OrganizationIndex(items);
  const { numbers, visits } = visited(index, { ...noFilter, tags: ['a', 'b'] });
  assert.deepEqual(
    numbers,
    Array.from({ length: 20 }, (_, at) => 96 - 5 * at),
  );
  assert.equal(visits, 20, 'nothing else is visited');
});

test('a filter without fields is no filter', () => {
  assert.equal(hasNoFilter(noFilter), true);
  for (const one of [{ tags: [] }, { section: 'a' }, { author: 'a' }, { contentType: 'video' }]) {
    assert.equal(hasNoFilter({ ...noFilter, ...one }), false, JSON.stringify(one));
  }
});
