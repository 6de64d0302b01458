import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clockOf } from '../../platform/values/zone-clock.ts';
import { completeDaysOf, nextDue } from './schedule.ts';

const berlin = clockOf('Europe/Berlin');
const due = (schedule: Parameters<typeof nextDue>[0], after: string) =>
  new Date(nextDue(schedule, berlin, Date.parse(after))).toISOString();

test('a schedule keeps its local hour when clocks change', () => {
  const daily = { every: 'day', hour: 7 } as const;
  assert.equal(due(daily, '2026-03-28T05:59:59Z'), '2026-03-28T06:00:00.000Z');
  assert.equal(due(daily, '2026-03-28T06:00:00Z'), '2026-03-29T05:00:00.000Z');
  assert.equal(due(daily, '2026-10-24T06:00:00Z'), '2026-10-25T06:00:00.000Z');
  // The skipped hour and the repeated hour are each due once.
  const night = { every: 'day', hour: 2 } as const;
  let moment = '2026-03-27T12:00:00Z';
  const days = [];
  for (let turn = 0; turn < 4; turn += 1) {
    moment = due(night, moment);
    days.push(moment.slice(0, 10));
  }
  assert.deepEqual(days, ['2026-03-28', '2026-03-29', '2026-03-30', '2026-03-31']);
  const first = due(night, '2026-10-24T12:00:00Z');
  assert.equal(due(night, first), '2026-10-26T01:00:00.000Z');
});

test('weeks and months are due on their configured day', () => {
  const weekly = { every: 'week', weekday: 1, hour: 0 } as const;
  assert.equal(due(weekly, '2026-11-24T12:00:00Z'), '2026-11-29T23:00:00.000Z');
  const monthly = { every: 'month', day: 1, hour: 9 } as const;
  assert.equal(due(monthly, '2026-11-24T12:00:00Z'), '2026-12-01T08:00:00.000Z');
  assert.equal(due(monthly, '2026-12-01T08:00:00Z'), '2027-01-01T08:00:00.000Z');
});

test('ranges end with the last complete local day', () => {
  // A Tuesday in UTC, already the 25th in Berlin.
  const at = Date.parse('2026-11-24T23:30:00Z');
  const of = (range: Parameters<typeof completeDaysOf>[0]) =>
    Object.values(completeDaysOf(range, berlin, at));
  assert.deepEqual(of('yesterday'), ['2026-11-24', '2026-11-24']);
  assert.deepEqual(of('last7Days'), ['2026-11-18', '2026-11-24']);
  assert.deepEqual(of('lastWeek'), ['2026-11-16', '2026-11-22']);
  assert.deepEqual(of('lastMonth'), ['2026-10-01', '2026-10-31']);
  assert.deepEqual(
    Object.values(completeDaysOf('lastMonth', berlin, Date.parse('2026-01-10T12:00:00Z'))),
    ['2025-12-01', '2025-12-31'],
  );
});
