import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readConfig } from '../../../app/config.ts';
import type { DestinationFailure } from './destinations/driver.ts';
import { decideNext, readRetryAfter, unansweredErrors, type NotMadeReason } from './schedule.ts';

const { webhookScheduleMs: schedule } = readConfig({});
const answered = (statusCode: number, retryAfterMs: number | null = null) =>
  ({ type: 'answered', statusCode, retryAfterMs }) as const;

test('the schedule is at once, then 1 minute, 5 minutes, 30 minutes, 2 hours and 24 hours', () => {
  assert.deepEqual(schedule, [0, 60_000, 300_000, 1_800_000, 7_200_000, 86_400_000]);
});

test('every 2xx is a success and everything else a failure, redirects included', () => {
  for (let status = 200; status <= 599; status += 1) {
    if (status === 410) continue;
    const decision = decideNext(answered(status), { attempt: 1, isManual: false }, schedule);
    if (status <= 299) assert.deepEqual(decision, { next: 'success' });
    else assert.deepEqual(decision, { next: 'retry', error: `http_${status}`, delayMs: 60_000 });
  }
});

test('each failure is followed by the next delay, the last one by none', () => {
  const end = { type: 'unanswered', failure: 'timeout', statusCode: null } as const;
  for (let attempt = 1; attempt <= 5; attempt += 1) {
    const decision = decideNext(end, { attempt, isManual: false }, schedule);
    assert.deepEqual(decision, { next: 'retry', error: 'timeout', delayMs: schedule[attempt] });
  }
  const last = decideNext(end, { attempt: 6, isManual: false }, schedule);
  assert.deepEqual(last, { next: 'failed', error: 'timeout' });
});

test('a manual attempt is the last one, whatever its number', () => {
  const decision = decideNext(answered(500), { attempt: 2, isManual: true }, schedule);
  assert.deepEqual(decision, { next: 'failed', error: 'http_500' });
});

test('an attempt that was not made counts for nothing (4, 7)', () => {
  const after = (reason: NotMadeReason) =>
    decideNext({ type: 'not made', reason }, { attempt: 6, isManual: false }, schedule);
  assert.deepEqual(after('released'), { next: 'release', delayMs: 0 });
  assert.deepEqual(after('unreadable secret'), { next: 'release', delayMs: 60_000 });
  assert.deepEqual(after('unsubscribed'), { next: 'park' });
});

test('a failure without a response has one of the documented names (2)', () => {
  const errorAfter = (failure: DestinationFailure) => {
    const end = { type: 'unanswered', failure, statusCode: null } as const;
    const decision = decideNext(end, { attempt: 1, isManual: true }, schedule);
    assert.ok(decision.next === 'failed');
    return decision.error;
  };
  for (const error of unansweredErrors) assert.equal(errorAfter(error), error);
  assert.equal(errorAfter('invalid_url'), 'blocked_address');
  assert.equal(errorAfter('too_large'), 'protocol_error');
  assert.equal(errorAfter('too_many_redirects'), 'protocol_error');
});

test('an invalid schedule is rejected at startup, with what is expected', () => {
  for (const wrong of ['', ' ', '1m', '0s,', '0s,x', '0', Array(21).fill('0s').join(',')]) {
    const read = () => readConfig({ REELFEED_WEBHOOK_RETRY_SCHEDULE: wrong });
    if (wrong === '') assert.doesNotThrow(read);
    else assert.throws(read, /REELFEED_WEBHOOK_RETRY_SCHEDULE.*1 to 20 delays/);
  }
});

test('410 ends the delivery at once (5)', () => {
  const first = { attempt: 1, isManual: false };
  assert.deepEqual(decideNext(answered(410), first, [0, 1, 2]), {
    next: 'failed',
    error: 'http_410',
  });
});

test('Retry-After moves the next attempt later, up to the step after it, and never earlier (6)', () => {
  const schedule = [0, 60_000, 300_000];
  const delayOf = (attempt: number, retryAfterMs: number) => {
    const decision = decideNext(
      answered(429, retryAfterMs),
      { attempt, isManual: false },
      schedule,
    );
    assert.ok(decision.next === 'retry');
    return decision.delayMs;
  };
  assert.equal(delayOf(1, 1_000), 60_000);
  assert.equal(delayOf(1, 120_000), 120_000);
  assert.equal(delayOf(1, 3_600_000), 300_000);
  assert.equal(delayOf(2, 3_600_000), 300_000, 'no step follows the last one');
});

test('Retry-After is seconds or a date, and only counts for 429 and 503', () => {
  const now = Date.parse('2026-01-31T12:00:00Z');
  assert.equal(readRetryAfter(429, '120', now), 120_000);
  assert.equal(readRetryAfter(503, 'Sat, 31 Jan 2026 12:02:00 GMT', now), 120_000);
  assert.equal(readRetryAfter(503, 'Sat, 31 Jan 2026 11:00:00 GMT', now), 0);
  assert.equal(readRetryAfter(503, 'Saturday, 31-Jan-26 12:02:00 GMT', now), 120_000);
  assert.equal(readRetryAfter(503, 'Sat Jan 31 12:02:00 2026', now), 120_000);
  assert.equal(readRetryAfter(503, 'Sun Feb  1 12:00:00 2026', now), 86_400_000);
  assert.equal(readRetryAfter(429, ' 120 ', now), 120_000);
  assert.equal(readRetryAfter(429, '12345678901', now), 12_345_678_901_000);
  assert.equal(readRetryAfter(429, '9'.repeat(400), now), Infinity);
  assert.equal(readRetryAfter(500, '120', now), null);
  for (const header of [
    'soon',
    '',
    '-1',
    '1.5',
    '2026-01-31T12:02:00Z',
    'Sat Jan 31 2026',
    undefined,
  ]) {
    assert.equal(readRetryAfter(429, header, now), null);
  }
});
