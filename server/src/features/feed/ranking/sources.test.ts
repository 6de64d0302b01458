/** Tests how the candidates of a page are divided among the sources. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Choice } from './choice.ts';
import { EditorialRules, type EditorialRule } from './editorial.ts';
import { shortlist, shortlistSize } from './sources.ts';
import { contentIdOf, item, nowMs, partsOf, viewerOf } from './testing/small-world.ts';

const boost = (match: EditorialRule['match']): EditorialRule => ({
  type: 'boost',
  match,
  factor: 2,
  position: null,
  startsAtMs: -Infinity,
  endsAtMs: Infinity,
});
/** Old items with special fields, followed by many plain new ones. */
const world = (special: Parameters<typeof item>[1][], plain = 400) => [
  ...special.map((fields, at) => item(at + 1, fields)),
  ...Array.from({ length: plain }, (_, at) => item(special.length + at + 1)),
];

test('a shortlist has a fixed size and no duplicates, and contains the newest items if nothing is known', () => {
  const found = shortlist(new Choice(partsOf(world([])))).map(({ serialNumber }) => serialNumber);
  assert.deepEqual(
    found,
    Array.from({ length: shortlistSize }, (_, at) => 400 - at),
  );
  assert.equal(shortlist(new Choice(partsOf(world([], 20)))).length, 20);
});

test('editors have a tenth, by item, author, section or any tag', () => {
  const special = [
    ...Array.from({ length: 20 }, () => ({ author: 'ada' })),
    ...Array.from({ length: 20 }, () => ({ section: 'news' })),
    ...Array.from({ length: 20 }, () => ({ tags: ['a'] })),
  ];
  const items = world(special);
  const chosenBy = (match: EditorialRule['match']) => {
    const rules = new EditorialRules([boost(match)], nowMs);
    const found = shortlist(new Choice(partsOf(items, { rules })));
    assert.equal(new Set(found).size, shortlistSize);
    return found.map(({ serialNumber }) => serialNumber).filter((one) => one <= 60);
  };
  assert.deepEqual(chosenBy({ contentId: contentIdOf(7) }), [7]);
  assert.deepEqual(chosenBy({ contentId: contentIdOf(9_999) }), []);
  const fifteen = (from: number) => Array.from({ length: 15 }, (_, at) => from - at);
  assert.deepEqual(chosenBy({ author: 'ada' }), fifteen(20));
  assert.deepEqual(chosenBy({ section: 'news' }), fifteen(40));
  assert.deepEqual(chosenBy({ tags: ['x', 'a'] }), fifteen(60));
  assert.deepEqual(chosenBy({ author: 'ada', section: 'news' }), []);
});

test('a list is searched up to its 300th entry', () => {
  const author = 'ada';
  const special = Array.from({ length: 302 }, (_, at) => ({
    author,
    section: at <= 2 ? 'news' : null,
  }));
  const rules = new EditorialRules([boost({ author, section: 'news' })], nowMs);
  const found = shortlist(new Choice(partsOf(world(special), { rules })));
  // Newest first, the 300th is number 3; two more would fit.
  assert.deepEqual(
    found.map(({ serialNumber }) => serialNumber).filter((one) => one <= 302),
    [3],
  );
});

test('favourite tags have three tenths, shared evenly, half of each for its best items', () => {
  const special = [
    ...Array.from({ length: 120 }, () => ({ tags: ['a'] })),
    ...Array.from({ length: 120 }, () => ({ tags: ['b'] })),
  ];
  const liked = (...tags: string[]) => viewerOf(tags.flatMap((tag) => [about(tag), about(tag)]));
  const about = (tag: string) => ({ tags: [tag], author: null });
  const counts = (...tags: string[]) => {
    const viewer = liked(...tags);
    assert.deepEqual(viewer.favourites.tags.toSorted(), tags);
    const found = shortlist(new Choice(partsOf(world(special), { viewer })));
    return ['a', 'b'].map((tag) => found.filter((entry) => entry.tags.includes(tag)).length);
  };
  assert.deepEqual(counts('a'), [45, 0]);
  assert.deepEqual(counts('a', 'b'), [23, 23]);
});

test('favourite authors have a tenth', () => {
  const special = Array.from({ length: 60 }, () => ({ author: 'ada' }));
  const byAda = { tags: [], author: 'ada' };
  const viewer = viewerOf([byAda, byAda, byAda]);
  assert.deepEqual(viewer.favourites.authors, ['ada']);
  const counts = (liked: typeof viewer, items: ReturnType<typeof world>) => {
    const found = shortlist(new Choice(partsOf(items, { viewer: liked })));
    return ['ada', 'bob'].map((name) => found.filter(({ author }) => author === name).length);
  };
  assert.deepEqual(counts(viewer, world(special)), [15, 0]);
  const byBob = { tags: [], author: 'bob' };
  const both = viewerOf([byAda, byAda, byAda, byBob, byBob, byBob]);
  const bobs = Array.from({ length: 60 }, () => ({ author: 'bob' }));
  assert.deepEqual(counts(both, world([...special, ...bobs])), [8, 8]);
});
