/**
 * Tests where pins are placed, that authors alternate, and what follows once everything was seen.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Choice, type ChoiceParts } from './choice.ts';
import { baseConfig } from './config.ts';
import { EditorialRules, type EditorialRule } from './editorial.ts';
import { planItems } from './order.ts';
import { noAuthor } from './picker.ts';
import { createRandom } from '../../../../test/simulation/random.ts';
import { emptyEncounter } from '../viewers/encounter.ts';
import { contentIdOf, item, nowMs, partsOf, viewerOf } from './testing/small-world.ts';

const pin = (position: number, match: EditorialRule['match']): EditorialRule => ({
  type: 'pin',
  match,
  factor: null,
  position,
  startsAtMs: -Infinity,
  endsAtMs: Infinity,
});
const calm = { config: { ...baseConfig, exploration: 0, diversity: 0 } };

function plan(parts: ChoiceParts, wanted: number, position = 0) {
  const request = { wanted, position, previousAuthor: noAuthor, live: [] };
  const { chosen, isExhausted } = planItems(new Choice(parts), request);
  return { numbers: chosen.map(({ entry }) => entry.serialNumber), chosen, isExhausted };
}

test('a pin takes the newest matching item that may be shown', () => {
  const items = [
    item(1, { author: 'ada' }),
    item(2, { author: 'ada' }),
    item(3, { author: 'ada', expiresAtMs: nowMs }),
    ...Array.from({ length: 9 }, (_, at) => item(at + 4)),
  ];
  const rules = new EditorialRules([pin(3, { author: 'ada' })], nowMs);
  assert.equal(plan(partsOf(items, { ...calm, rules }), 6).numbers[3], 2);
  const gone = new EditorialRules([pin(0, { contentId: contentIdOf(3) })], nowMs);
  assert.ok(!plan(partsOf(items, { ...calm, rules: gone }), 12).numbers.includes(3));
});

test('pins keep their places regardless of other items, even beyond a page', () => {
  const positions = fc.uniqueArray(fc.nat(11), { maxLength: 4 });
  fc.assert(
    fc.property(positions, fc.nat(6), (places, position) => {
      const rules = new EditorialRules(
        places.map((place, at) => pin(place, { contentId: contentIdOf(at + 1) })),
        nowMs,
      );
      const items = Array.from({ length: 40 }, (_, at) => item(at + 1));
      const { numbers } = plan(partsOf(items, { rules }), 6, position);
      assert.equal(new Set(numbers).size, 6);
      for (const [at, place] of places.entries()) {
        const isOnPage = place >= position && place < position + 6;
        if (isOnPage) assert.equal(numbers[place - position], at + 1);
      }
    }),
    { numRuns: 100 },
  );
});

test('neighbours share an author only if nothing else is left', () => {
  const authors = fc.array(fc.constantFrom('a', 'b', 'c', null), { minLength: 1, maxLength: 20 });
  fc.assert(
    fc.property(authors, (all) => {
      const items = all.map((author, at) => item(at + 1, { author }));
      const { chosen, isExhausted } = plan(partsOf(items, calm), items.length);
      assert.equal(chosen.length, items.length);
      assert.equal(isExhausted, false);
      for (const [at, { entry }] of chosen.entries()) {
        const before = chosen[at - 1]?.entry.author ?? null;
        if (before === null || entry.author !== before) continue;
        const rest = chosen.slice(at).map((one) => one.entry.author);
        assert.ok(
          rest.every((author) => author === before),
          JSON.stringify(chosen.map((one) => one.entry.author)),
        );
      }
    }),
    { numRuns: 150 },
  );
});

test('the author of a pin may be its neighbour if the alternative is a repeated author', () => {
  const items = [
    ...Array.from({ length: 3 }, (_, at) => item(at + 1, { author: 'bob', freshSinceMs: at + 1 })),
    ...Array.from({ length: 300 }, (_, at) => item(at + 10, { author: 'ada' })),
  ];
  const rules = new EditorialRules([pin(2, { contentId: contentIdOf(3) })], nowMs);
  const { chosen } = plan(partsOf(items, { ...calm, rules }), 8);
  assert.deepEqual(
    chosen.map(({ entry }) => entry.author),
    ['ada', 'bob', 'bob', 'ada', 'bob', 'ada', 'ada', 'ada'],
  );
});

test('live items come only at the start of a session, in their order', () => {
  const items = Array.from({ length: 20 }, (_, at) => item(at + 1, { author: 'ada' }));
  const live = [item(100, { author: 'bob' }), item(101, { author: 'bob' }), item(102)];
  const parts = partsOf([...items, ...live], calm);
  const numbersAt = (position: number) => {
    const entries = live.map(({ serialNumber }) => parts.index.find(serialNumber) ?? assert.fail());
    const request = { wanted: 5, position, previousAuthor: noAuthor, live: entries };
    const { chosen } = planItems(new Choice(parts), request);
    return chosen.map(({ entry }) => entry.serialNumber);
  };
  // Two of one author only follow each other when no other is live.
  assert.deepEqual(numbersAt(0).slice(0, 3), [100, 102, 101]);
  assert.deepEqual(numbersAt(5).slice(0, 1), [102], 'only as the newest item');
});

test('seen items come last, least recently seen first', () => {
  const items = Array.from({ length: 6 }, (_, at) =>
    item(at + 1, { author: at < 2 ? 'ada' : null }),
  );
  const viewer = viewerOf([]);
  const second = nowMs / 1_000 - 3_600;
  for (const [number, ago] of [
    [1, 30],
    [2, 20],
    [3, 10],
    [4, 40],
  ] as const) {
    const seenSecond = second - ago;
    viewer.add(number, { ...emptyEncounter(), second: seenSecond, seenSecond }, null);
  }
  const page = (wanted: number) => plan(partsOf(items, { ...calm, viewer }), wanted);
  assert.deepEqual([page(2).numbers, page(2).isExhausted], [[6, 5], false]);
  // The second item of one author waits until another item is between them.
  assert.deepEqual(page(6).numbers, [6, 5, 4, 1, 3, 2]);
  assert.equal(page(6).isExhausted, true);
  assert.deepEqual(page(4).numbers, [6, 5, 4, 1]);
  assert.deepEqual(plan(partsOf(items, calm), 9).numbers.length, 6, 'a viewer without a history');
});

test('a share of the places goes to exploration, evenly spread', () => {
  const items = Array.from({ length: 60 }, (_, at) => item(at + 1));
  const random = createRandom(1);
  const explored = (exploration: number) => {
    const parts = partsOf(items, { config: { ...baseConfig, exploration }, random });
    parts.index.statistics.refresh(nowMs);
    return plan(parts, 20).chosen.flatMap(({ isExploration }, at) => (isExploration ? [at] : []));
  };
  assert.deepEqual(explored(0), []);
  const starts = new Set<number>();
  for (let round = 0; round < 60; round += 1) {
    const places = explored(0.2);
    starts.add(places[0] ?? -1);
    assert.equal(places.length, 4);
    for (const [at, place] of places.entries()) {
      const before = places[at - 1];
      if (before !== undefined) assert.ok(Math.abs(place - before - 5) <= 1);
    }
  }
  assert.deepEqual([...starts].toSorted(), [0, 1, 2, 3, 4]);
});
