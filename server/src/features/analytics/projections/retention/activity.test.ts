import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRandom, shuffled } from '../../reports/traffic.fixture.ts';
import {
  forEachCount,
  mergeActivity,
  maxDaysBehind,
  readActivity,
  writeActivity,
  type Activity,
} from './activity.ts';

test('days merge in any order and any parts, and survive being stored', () => {
  const random = createRandom(4);
  for (let round = 0; round < 300; round += 1) {
    const days = Array.from({ length: 1 + Math.floor(random() * 40) }, () =>
      Math.floor(20_000 + random() * 500),
    );
    const expected = mergeActivity([], days);
    let merged: Activity = [];
    for (const day of shuffled(days, round)) merged = mergeActivity(merged, [day]);
    assert.deepEqual(merged, expected);
    assert.deepEqual(readActivity(writeActivity(expected)), expected);
    const [first = 0] = expected;
    assert.ok(expected.every((day) => day - first <= maxDaysBehind));
  }
});

test('an earlier day moves all counts to its cohort', () => {
  const counts: string[] = [];
  forEachCount(mergeActivity([10, 12], [8]), (cohort, day) => counts.push(`${cohort}:${day}`));
  assert.deepEqual(counts, ['8:8', '8:10', '8:12']);
});
