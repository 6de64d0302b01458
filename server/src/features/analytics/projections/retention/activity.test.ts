import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  forEachCount,
  mergeActivity,
  maxDaysBehind,
  readActivity,
  writeActivity,
  type Activity,
} from './activity.ts';

test('days merge in any order and any parts, and survive being stored', () => {
  const days = fc.array(fc.integer({ min: 20_000, max: 20_500 }), { minLength: 1, maxLength: 40 });
  const shuffled = days.chain((all) =>
    fc.tuple(fc.constant(all), fc.shuffledSubarray(all, { minLength: all.length })),
  );
  fc.assert(
    fc.property(shuffled, ([all, again]) => {
      const expected = mergeActivity([], all);
      let merged: Activity = [];
      for (const day of again) merged = mergeActivity(merged, [day]);
      assert.deepEqual(merged, expected);
      assert.deepEqual(readActivity(writeActivity(expected)), expected);
      const first = Math.min(...all);
      const kept = [...new Set(all)].filter((day) => day - first <= maxDaysBehind);
      assert.deepEqual(expected, kept.toSorted());
    }),
    { numRuns: 200 },
  );
});

test('an earlier day moves all counts to its cohort', () => {
  const counts: string[] = [];
  forEachCount(mergeActivity([10, 12], [8]), (cohort, day) => counts.push(`${cohort}:${day}`));
  assert.deepEqual(counts, ['8:8', '8:10', '8:12']);
});
