/** Tests how much viewers count, with numbers worked out by hand from the formulas. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { contributionsOf } from './credibility.ts';
import {
  completed,
  emptyDay,
  keepSample,
  maxItemsOfDay,
  mergeDay,
  played,
  readItems,
  shared,
  shown,
  writeItems,
  type DayItem,
  type ViewerDay,
} from './viewer-day.ts';

const item = (flags: number, likeMark = 0, saveMark = 0): DayItem => ({
  flags,
  likeMark,
  saveMark,
});

function dayWith(items: readonly DayItem[], rest: Partial<ViewerDay> = {}): ViewerDay {
  return {
    ...emptyDay(),
    crowd: 0,
    items: new Map(items.map((one, at) => [at + 1, one])),
    ...rest,
  };
}

const weightsOf = (day: ViewerDay, earlierDays = 0) =>
  contributionsOf(day, earlierDays).items.map(({ shown: weight }) => weight);

describe('the weight of a viewer', () => {
  test('is zero for a single item, and grows with the other items of the day', () => {
    assert.deepEqual(weightsOf(dayWith([item(played)])), []);
    // 100 · ½ · 1/(1 + 2), and 100 · ½ · 8/(8 + 2).
    assert.deepEqual(weightsOf(dayWith(Array(2).fill(item(played)))), [17, 17]);
    assert.deepEqual(weightsOf(dayWith(Array(9).fill(item(played)))), Array(9).fill(40));
    // In view only, so the eight others count 2: 100 · ½ · 2/(2 + 2).
    assert.deepEqual(weightsOf(dayWith(Array(9).fill(item(shown)))), Array(9).fill(25));
  });

  test('grows with earlier days, which also make a viewer known', () => {
    const day = dayWith([item(played)]);
    assert.deepEqual(weightsOf(day, 1), [50]);
    assert.deepEqual(weightsOf(day, 2), [80]);
    assert.deepEqual(
      [0, 1, 2].map((days) => contributionsOf(day, days).isKnown),
      [false, false, true],
    );
    assert.equal(contributionsOf({ ...day, isVouched: true }, 0).isKnown, true);
  });

  test('is halved with each doubling of a crowd', () => {
    const items = Array<DayItem>(9).fill(item(played));
    assert.deepEqual(weightsOf(dayWith(items, { crowd: 1 })), Array(9).fill(20));
    assert.deepEqual(weightsOf(dayWith(items, { crowd: 15 })), []);
  });
});

test('each kind counts once, a reaction only for a shown item, and a like until it is withdrawn', () => {
  const day = dayWith([
    item(shown | played | completed | shared, 2 * 5_000 + 1, 2 * 5_000 + 1),
    item(played, 2 * 5_000),
    item(0, 2 * 5_000 + 1),
    ...Array<DayItem>(7).fill(item(played)),
  ]);
  const [all, unliked, third] = contributionsOf(day, 0).items;
  assert.deepEqual(all, {
    serialNumber: 1,
    shown: 40,
    plays: 40,
    completions: 40,
    reactions: 40 * 6,
  });
  assert.equal(unliked?.reactions, 0);
  assert.equal(third?.serialNumber, 4);
});

test('a day keeps one sample of many items, regardless of their order, and is read back as written', () => {
  const many = Array.from(
    { length: 900 },
    (_, index) => [index * 3 + 1, item(played, index)] as const,
  );
  const [one, other] = [emptyDay(), emptyDay()];
  for (const [at, pair] of many.entries()) {
    mergeDay(one, { ...emptyDay(), items: new Map([pair]) });
    const back = many[many.length - 1 - at];
    if (back !== undefined) mergeDay(other, { ...emptyDay(), items: new Map([back]) });
  }
  const whole = new Map(many);
  keepSample(whole);
  assert.equal(one.items.size, maxItemsOfDay);
  assert.ok(writeItems(one.items).equals(writeItems(other.items)));
  assert.ok(writeItems(one.items).equals(writeItems(whole)));
  assert.deepEqual([...readItems(writeItems(one.items))].length, maxItemsOfDay);
  assert.ok(writeItems(readItems(writeItems(one.items))).equals(writeItems(one.items)));
});
