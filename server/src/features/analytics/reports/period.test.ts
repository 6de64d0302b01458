import { dayMs, hourMs } from '../../../platform/values/time.ts';
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ApiError } from '../../../platform/http/errors.ts';
import { clockOf } from '../../../platform/values/zone-clock.ts';
import {
  bucketIndex,
  bucketsOf,
  bucketStart,
  formatDay,
  comparablePeriods,
  readPeriod,
  type PeriodQuery,
} from './period.ts';

const nowMs = Date.parse('2026-11-21T23:59:59.999Z');
const localNow = { nowMs, clock: clockOf('UTC') };

function refusal(query: PeriodQuery): string | undefined {
  try {
    readPeriod(query, localNow);
    return undefined;
  } catch (error) {
    assert.ok(error instanceof ApiError && error.code === 'VALIDATION_ERROR');
    return error.details?.[0]?.path;
  }
}

describe('a query', () => {
  test('has inclusive first and last days', () => {
    const period = readPeriod({ startDate: '2026-11-20', endDate: '2026-11-21' }, localNow);
    assert.equal(new Date(period.startMs).toISOString(), '2026-11-20T00:00:00.000Z');
    assert.equal(new Date(period.endMs).toISOString(), '2026-11-22T00:00:00.000Z');
    assert.equal(period.granularity, 'day');
  });

  test('without days means the last 30, including today', () => {
    const { startMs, endMs } = readPeriod({}, localNow);
    assert.equal(formatDay(startMs), '2026-10-23');
    assert.equal(formatDay(endMs - 1), '2026-11-21');
    const since = readPeriod({ startDate: '2026-11-01' }, localNow);
    assert.equal(formatDay(since.endMs - 1), '2026-11-21');
    const until = readPeriod({ endDate: '2026-03-31' }, localNow);
    assert.equal(formatDay(until.startMs), '2026-03-02');
    const ahead = readPeriod({ startDate: '2027-01-01' }, localNow);
    assert.equal(
      ahead.endMs - ahead.startMs,
      dayMs,
      'a range that starts in the future is one day',
    );
  });

  test('is rejected for invalid days', () => {
    for (const day of ['', '2026-02-30', '2026-13-01', '2026-1-1', '20261101', '2026-11-01T00:00Z'])
      assert.equal(refusal({ startDate: day }), 'query.startDate', day);
    assert.equal(refusal({ endDate: '2025-02-29' }), 'query.endDate');
    assert.equal(refusal({ startDate: '2024-02-29', endDate: '2024-03-01' }), undefined);
    assert.equal(refusal({ startDate: '1969-12-31' }), 'query.startDate');
    assert.equal(refusal({ endDate: '9999-12-31' }), 'query.endDate');
  });

  test('is rejected for an end before the start, and for more than 366 days', () => {
    assert.equal(refusal({ startDate: '2026-11-02', endDate: '2026-11-01' }), 'query.endDate');
    assert.equal(refusal({ startDate: '2024-01-01', endDate: '2024-12-31' }), undefined);
    assert.equal(refusal({ startDate: '2024-01-01', endDate: '2025-01-01' }), 'query.endDate');
  });

  test('has hours for up to 31 days, as long as they are kept', () => {
    const hours = (startDate: string, endDate: string) =>
      refusal({ startDate, endDate, granularity: 'hour' });
    assert.equal(hours('2026-10-01', '2026-10-31'), undefined);
    assert.equal(hours('2026-10-01', '2026-11-01'), 'query.granularity');
    assert.equal(hours('2026-08-24', '2026-08-24'), undefined);
    assert.equal(hours('2026-08-23', '2026-08-23'), 'query.granularity');
  });
});

describe('buckets', () => {
  const read = (startDate: string, endDate: string, granularity: 'hour' | 'day' | 'week') =>
    readPeriod({ startDate, endDate, granularity }, localNow);

  test('of hours are named by the time at which they begin', () => {
    const buckets = bucketsOf(read('2026-11-20', '2026-11-21', 'hour'));
    assert.equal(buckets.length, 48);
    assert.equal(buckets[0]?.date, '2026-11-20T00:00:00.000Z');
    assert.equal(buckets[47]?.date, '2026-11-21T23:00:00.000Z');
  });

  test('of days span leap days and ends of years', () => {
    const dates = bucketsOf(read('2024-02-28', '2024-03-01', 'day')).map(({ date }) => date);
    assert.deepEqual(dates, ['2024-02-28', '2024-02-29', '2024-03-01']);
    assert.equal(bucketsOf(read('2025-12-31', '2026-01-01', 'day')).length, 2);
  });

  test('of weeks begin on Monday and contain only days of the range', () => {
    // 2026-11-18 is a Wednesday, 2026-11-30 a Monday.
    const buckets = bucketsOf(read('2026-11-18', '2026-11-30', 'week'));
    assert.deepEqual(
      buckets.map(({ date, startMs, endMs }) => [date, formatDay(startMs), formatDay(endMs - 1)]),
      [
        ['2026-11-16', '2026-11-18', '2026-11-22'],
        ['2026-11-23', '2026-11-23', '2026-11-29'],
        ['2026-11-30', '2026-11-30', '2026-11-30'],
      ],
    );
  });

  test('cover a range without gaps, and each time is in the bucket of its index', () => {
    for (const granularity of ['hour', 'day', 'week'] as const) {
      const period = read('2026-10-26', '2026-11-21', granularity);
      const buckets = bucketsOf(period);
      assert.equal(buckets[0]?.startMs, period.startMs);
      assert.equal(buckets.at(-1)?.endMs, period.endMs);
      for (const [index, { startMs, endMs }] of buckets.entries()) {
        if (index > 0) assert.equal(startMs, buckets[index - 1]?.endMs);
        assert.equal(bucketIndex(period, startMs), index);
        assert.equal(bucketIndex(period, endMs - 1), index);
      }
    }
  });

  test('begin at the start of their hour, day or week', () => {
    const sunday = Date.parse('2026-11-22T23:59:59.999Z');
    assert.equal(formatDay(bucketStart(sunday, 'week')), '2026-11-16');
    assert.equal(formatDay(bucketStart(sunday + 1, 'week')), '2026-11-23');
    assert.equal(bucketStart(hourMs - 1, 'hour'), 0);
    assert.equal(bucketStart(-1, 'hour'), -hourMs);
    assert.equal(formatDay(bucketStart(0, 'week')), '1969-12-29');
  });
});

test('the previous period has as many days and ends where this one begins', () => {
  const period = readPeriod({ startDate: '2026-03-01', endDate: '2026-03-31' }, localNow);
  const { now, before } = comparablePeriods(period, Date.parse('2026-06-01'));
  assert.deepEqual([now.startMs, now.endMs], [period.startMs, period.endMs]);
  assert.equal(formatDay(before.startMs), '2026-01-29');
  assert.equal(formatDay(before.endMs - 1), '2026-02-28');
});

test('an incomplete day is not compared, and its counterpart is left out', () => {
  const period = readPeriod({ startDate: '2026-03-01', endDate: '2026-03-07' }, localNow);
  const { now, before } = comparablePeriods(period, Date.parse('2026-03-07T09:30:00Z'));
  const days = [now.startMs, now.endMs - 1, before.startMs, before.endMs - 1].map(formatDay);
  assert.deepEqual(days, ['2026-03-01', '2026-03-06', '2026-02-22', '2026-02-27']);
  const today = readPeriod({ startDate: '2026-03-07', endDate: '2026-03-07' }, localNow);
  const empty = comparablePeriods(today, Date.parse('2026-03-07T09:30:00Z'));
  assert.equal(empty.now.startMs, empty.now.endMs);
  assert.equal(empty.before.startMs, empty.before.endMs);
});
