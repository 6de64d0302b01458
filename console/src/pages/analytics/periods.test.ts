import assert from 'node:assert/strict';
import { test } from 'node:test';
import { period, periodBefore, todayIn } from './periods.ts';

test("a period ends today in the organization's time zone, and contains its days", () => {
  const zone = 'Pacific/Kiritimati';
  const week = period(7, zone);
  assert.equal(week.endDate, todayIn(zone));
  assert.equal(Date.parse(week.endDate) - Date.parse(week.startDate), 6 * 86_400_000);
  assert.equal(week.granularity, 'day');
  const day = period(1, zone);
  assert.deepEqual([day.startDate, day.granularity], [day.endDate, 'hour']);
});

test('the previous period has as many days and ends where this one begins', () => {
  const before = (startDate: string, endDate: string) => {
    const found = periodBefore({ startDate, endDate });
    return `${found.startDate} ${found.endDate}`;
  };
  assert.equal(before('2026-03-01', '2026-03-07'), '2026-02-22 2026-02-28');
  assert.equal(before('2024-03-01', '2024-03-01'), '2024-02-29 2024-02-29');
  assert.equal(before('2026-03-07', '2026-03-01'), '2026-03-07 2026-03-01', 'no period');
  assert.equal(periodBefore({ startDate: 'x', endDate: 'y', device: 'ios' }).device, 'ios');
});
