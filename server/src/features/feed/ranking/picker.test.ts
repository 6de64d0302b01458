/**
 * Tests which candidate comes next, against its definition: discounts, neighbours, and what is
 * fetched.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Choice } from './choice.ts';
import { baseConfig } from './config.ts';
import { EditorialRules, type EditorialRule } from './editorial.ts';
import { noFilter } from './filter.ts';
import { noAuthor, Picker } from './picker.ts';
import { rank, type Candidate } from './rank.ts';
import { item, nowMs, partsOf } from './testing/small-world.ts';

const fields = fc.record({
  author: fc.constantFrom('a', 'b', 'c', null),
  tags: fc.subarray(['t', 'u', 'v', 'w']),
  key: fc.integer({ min: 1, max: 1_000 }).map((n) => n / 1_000),
});
type Fields = { author: string | null; tags: readonly string[]; key: number };

function likeness(some: readonly string[], others: readonly string[]): number {
  const both = some.filter((tag) => others.includes(tag)).length;
  return both === 0 ? 0 : both / (some.length + others.length - both);
}

/** The keys in the order of the definition. */
function byDefinition(all: readonly Fields[], diversity: number): Fields[] {
  const left = all.toSorted((a, b) => b.key - a.key);
  const chosen: Fields[] = [];
  while (left.length > 0) {
    const previous = chosen.at(-1);
    const keyOf = ({ author, tags, key }: Fields) => {
      const times = author === null ? 0 : chosen.filter((one) => one.author === author).length;
      const ofAuthor = 1 - diversity * 0.75 * (1 - 0.5 ** times);
      const like = Math.max(0, ...chosen.slice(-2).map((one) => likeness(tags, one.tags)));
      return key * ofAuthor * (1 - 0.3 * diversity * like);
    };
    const others = left.filter(({ author }) => author === null || author !== previous?.author);
    const [best] = (others.length > 0 ? others : left).toSorted((a, b) => keyOf(b) - keyOf(a));
    assert.ok(best !== undefined);
    left.splice(left.indexOf(best), 1);
    chosen.push(best);
  }
  return chosen;
}

test('the best comes first, after discounts, and no author follows itself while others are left', () => {
  const pools = fc.uniqueArray(fields, { minLength: 1, maxLength: 12, selector: ({ key }) => key });
  fc.assert(
    fc.property(pools, fc.constantFrom(0, 0.4, 1), (all, diversity) => {
      const parts = partsOf(
        all.map(({ author, tags }, at) => item(at + 1, { author, tags: [...tags] })),
        { config: { ...baseConfig, diversity } },
      );
      const choice = new Choice(parts);
      const pool = all.map(({ key }, at): Candidate => {
        const entry = parts.index.find(at + 1) ?? assert.fail();
        assert.ok(choice.take(entry));
        return { entry, score: key, key };
      });
      const picker = new Picker(
        choice,
        pool.toSorted((a, b) => b.key - a.key),
        noAuthor,
      );
      const found: Fields[] = [];
      for (let entry = picker.pick(); entry !== null; entry = picker.pick()) {
        picker.place(entry);
        found.push(all[entry.serialNumber - 1] ?? assert.fail());
      }
      assert.deepEqual(found, byDefinition(all, diversity));
    }),
    { numRuns: 300 },
  );
});

/** Two hundred new items of one author, and old ones of others, newest first. */
const crowded = (others: readonly (string | null)[]) => [
  ...others.map((author, at) => item(others.length - at, { author, freshSinceMs: at + 1 })),
  ...Array.from({ length: 200 }, (_, at) => item(at + 1_000, { author: 'ada' })),
];

function pickerOf(items: readonly ReturnType<typeof item>[], given = {}) {
  const parts = partsOf(items, { config: { ...baseConfig, diversity: 0 }, ...given });
  const choice = new Choice(parts);
  const newest = [...parts.index.newestFirst].filter(({ author }) => author === 'ada').slice(0, 6);
  for (const entry of newest) choice.take(entry);
  const numberOf = (author: string) => parts.index.list('author', author).number;
  return {
    picker: new Picker(choice, rank(choice, newest), noAuthor),
    numberOf,
    index: parts.index,
  };
}

function authorsOf(picker: Picker, count: number): (string | null)[] {
  return Array.from({ length: count }, () => {
    const entry = picker.pick();
    if (entry === null) return 'none';
    picker.place(entry);
    return entry.author;
  });
}

test('entries of other authors are fetched from outside once the pool has none', () => {
  const { picker } = pickerOf(crowded(['bob', null, 'cy']));
  const authors = authorsOf(picker, 8);
  assert.deepEqual(
    authors.map((author) => author === 'ada'),
    [true, false, true, false, true, false, true, true],
  );
  assert.deepEqual(new Set(authors), new Set(['ada', 'bob', null, 'cy']));
});

test('fetched entries are placed by their keys, before the rest of the pool', () => {
  const boost = (author: string): EditorialRule => ({
    type: 'boost',
    match: { author },
    factor: 50,
    position: null,
    startsAtMs: -Infinity,
    endsAtMs: Infinity,
  });
  const rules = new EditorialRules([boost('cy'), boost('dee')], nowMs);
  const { picker } = pickerOf(crowded(['bob', 'cy', 'dee']), { rules });
  assert.deepEqual(authorsOf(picker, 6), ['ada', 'dee', 'cy', 'ada', 'bob', 'ada']);
});

test('nothing is fetched for a feed of one author', () => {
  const { picker } = pickerOf(crowded(['bob']), { filter: { ...noFilter, author: 'ada' } });
  assert.deepEqual(authorsOf(picker, 7), [...Array.from({ length: 6 }, () => 'ada'), 'none']);
});

test('entries of the following author are kept for later', () => {
  const { picker, numberOf } = pickerOf(crowded(['bob']));
  const [first] = authorsOf(picker, 1);
  assert.equal(first, 'ada');
  assert.equal(picker.pickOther(numberOf('bob')), null, 'only neighbours’ authors are left');
  assert.equal(picker.pickOther(noAuthor)?.author, 'bob');
  assert.equal(picker.pickOther(noAuthor), null);
});

test('the first fitting entry is removed from a list', () => {
  const { picker, numberOf, index } = pickerOf(crowded(['bob', 'cy', null]));
  assert.deepEqual(authorsOf(picker, 1), ['ada']);
  const list = [...index.newestFirst].slice(-4);
  const [ada, none, cy, bob] = list;
  assert.deepEqual(
    [ada?.author, none?.author, cy?.author, bob?.author],
    ['ada', null, 'cy', 'bob'],
  );
  assert.equal(picker.takeFitting(list, numberOf('bob')), none);
  assert.equal(picker.takeFitting(list, numberOf('bob')), cy);
  assert.equal(picker.takeFitting(list, numberOf('bob')), null);
  assert.equal(picker.takeFitting(list), bob);
  assert.deepEqual(list, [ada]);
});
