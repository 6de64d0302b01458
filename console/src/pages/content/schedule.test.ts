/** The days that a month shows, and the days on which an item enters and leaves the feed. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dayHere, daysOf, entriesOf, monthOf, shiftMonth } from './schedule.ts';

test('a month consists of whole weeks from Monday to Sunday', () => {
  const days = daysOf('2026-11');
  assert.deepEqual([days[0], days.at(-1), days.length], ['2026-10-26', '2026-12-06', 42]);
  const february = daysOf('2027-02');
  assert.deepEqual(
    [february[0], february.at(-1), february.length],
    ['2027-02-01', '2027-02-28', 28],
  );
});

test('months follow each other across the ends of years', () => {
  assert.equal(shiftMonth('2026-12', 1), '2027-01');
  assert.equal(shiftMonth('2026-01', -1), '2025-12');
  assert.equal(monthOf('2026-13', new Date(2026, 4, 5)), '2026-05');
  assert.equal(monthOf('2026-12'), '2026-12');
});

test('an item has an entry where it enters and where it leaves', () => {
  const one = { id: 'a', title: 'A', publishAt: '2026-05-05T10:00:00Z', expiresAt: null };
  const other = {
    ...one,
    id: 'b',
    publishAt: '2026-05-05T09:00:00Z',
    expiresAt: '2026-06-01T12:00:00Z',
  };
  const entries = entriesOf([one, other]);
  const day = dayHere(new Date('2026-05-05T10:00:00Z'));
  assert.deepEqual(
    entries.get(day)?.map(({ item, isStart }) => [item.id, isStart]),
    [
      ['b', true],
      ['a', true],
    ],
  );
  const last = entries.get(dayHere(new Date('2026-06-01T12:00:00Z')));
  assert.deepEqual(
    last?.map(({ isStart }) => isStart),
    [false],
  );
});
