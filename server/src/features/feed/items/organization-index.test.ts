/**
 * Proves that an incrementally updated index equals a rebuilt one, and that updating never stalls.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { item } from '../ranking/testing/small-world.ts';
import { byFreshness, type FeedEntry } from './feed-entry.ts';
import { OrganizationIndex, type Facet } from './organization-index.ts';
import type { IndexedItem } from './index-queries.ts';

const day = 86_400_000;
const pick = <T>(from: readonly T[]): T => {
  const one = from[Math.floor(Math.random() * from.length)];
  assert.ok(one !== undefined);
  return one;
};

function randomItem(serialNumber: number, revision: number): IndexedItem {
  const tags = ['a', 'b', 'c', 'a', 'd'].filter(() => Math.random() < 0.4);
  return item(serialNumber, {
    revision,
    // Few distinct times, so that many items share one.
    freshSinceMs: Math.floor(Math.random() * 50) * day,
    tags,
    author: pick([null, 'Ada', 'Bob', 'Cy']),
    section: pick([null, 'news', 'music']),
    contentType: pick(['video', 'video', 'carousel', 'live_stream']),
  });
}

/** The numbers that a list of the index should contain, computed in the simplest way. */
function expected(items: Iterable<IndexedItem>, fits: (one: IndexedItem) => boolean): number[] {
  return [...items]
    .filter(fits)
    .toSorted(byFreshness)
    .map(({ serialNumber }) => serialNumber);
}

const numbers = (entries: Iterable<FeedEntry>) =>
  Array.from(entries, ({ serialNumber }) => serialNumber);

function check(index: OrganizationIndex, members: ReadonlyMap<number, IndexedItem>): void {
  const all = [...members.values()];
  const lists: [Facet, string, (one: IndexedItem) => boolean][] = [
    ...['a', 'b', 'c', 'd', 'unknown'].map(
      (tag): [Facet, string, (one: IndexedItem) => boolean] => [
        'tag',
        tag,
        ({ tags }) => tags.includes(tag),
      ],
    ),
    ['author', 'Ada', ({ author }) => author === 'Ada'],
    ['section', 'news', ({ section }) => section === 'news'],
    ['type', 'carousel', ({ contentType }) => contentType === 'carousel'],
    ['type', 'video', () => true],
  ];
  for (const [facet, value, fits] of lists) {
    const list = index.list(facet, value);
    const wanted = expected(all, fits);
    assert.deepEqual(numbers(list), wanted, `${facet} ${value}`);
    assert.equal(list.length, wanted.length);
    assert.deepEqual(numbers(list.first(700)), wanted.slice(0, 700));
    const place = Math.floor(Math.random() * wanted.length);
    assert.equal(list.at(place)?.serialNumber, wanted[place]);
  }
  assert.equal(index.size, members.size);
  for (const { serialNumber, contentId } of all) {
    assert.equal(index.findById(contentId), index.find(serialNumber));
    assert.ok(index.find(serialNumber) !== undefined);
  }
}

test('after any changes the lists equal those of a rebuilt index', async () => {
  for (const size of [0, 1, 40, 3_000]) {
    const members = new Map<number, IndexedItem>();
    for (let number = 1; number <= size; number += 1) members.set(number, randomItem(number, 1));
    const index = new OrganizationIndex();
    await index.apply([...members.values()]);
    check(index, members);
    for (let round = 2; round < 14; round += 1) {
      const changes: IndexedItem[] = [];
      const touched = new Set<number>();
      for (let count = Math.floor((Math.random() * size) / 2); count >= 0; count -= 1) {
        const number = 1 + Math.floor(Math.random() * (size + 30));
        if (touched.has(number)) continue;
        touched.add(number);
        const isMember = Math.random() < 0.7;
        const known = members.get(number);
        const isSlight = known !== undefined && Math.random() < 0.3;
        const next = isSlight
          ? { ...known, revision: round, tags: ['d'] }
          : randomItem(number, round);
        changes.push({ ...next, isMember });
        if (isMember) members.set(number, next);
        else members.delete(number);
      }
      await index.apply(changes);
      check(index, members);
    }
    const gone = [...members.values()];
    await index.apply(gone.map((one) => ({ ...one, revision: 99, isMember: false })));
    check(index, new Map());
  }
});

test('an older version changes nothing, and an entry stays the same object', async () => {
  const index = new OrganizationIndex([item(1, { revision: 5, tags: ['new'] })]);
  const entry = index.find(1);
  await index.apply([item(1, { revision: 4, tags: ['old'] })]);
  assert.deepEqual(index.find(1)?.tags, ['new']);
  await index.apply([{ ...item(1, { revision: 4 }), isMember: false }]);
  assert.equal(index.size, 1);
  await index.apply([item(1, { revision: 6, tags: ['newer'], freshSinceMs: 7 })]);
  assert.equal(index.find(1), entry);
  assert.deepEqual(numbers(index.list('tag', 'newer')), [1]);
  assert.equal(index.list('tag', 'new').length, 0);
});

test('pages are served while thousands of changes are applied', async () => {
  const items = Array.from({ length: 30_000 }, (_, number) => randomItem(number + 1, 1));
  const index = new OrganizationIndex();
  let turns = 0;
  let isRunning = true;
  const turn = () => {
    turns += 1;
    // Every intermediate state is consistent: a walk and the numbers agree.
    assert.equal(index.newestFirst.first(10).length, Math.min(10, index.size));
    if (isRunning) setImmediate(turn);
  };
  setImmediate(turn);
  await index.apply(items);
  await index.apply(items.map((one) => ({ ...one, revision: 2, tags: ['moved'] })));
  isRunning = false;
  assert.equal(index.list('tag', 'moved').length, items.length);
  // The work is far longer than two slices on any machine.
  assert.ok(turns > 2, `${turns} turns`);
});
