import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readConfig } from '../../platform/config.ts';
import { decide } from './schedule.ts';

const { webhookScheduleMs: schedule } = readConfig({});
const answered = (statusCode: number) => ({ type: 'answered', statusCode }) as const;

test('the schedule is at once, then 1 minute, 5 minutes, 30 minutes, 2 hours and 24 hours', () => {
  assert.deepEqual(schedule, [0, 60_000, 300_000, 1_800_000, 7_200_000, 86_400_000]);
});

test('every 2xx is a success and everything else a failure, redirects and 410 included', () => {
  for (let status = 200; status <= 599; status += 1) {
    const decision = decide(answered(status), { attempt: 1, isManual: false }, schedule);
    if (status <= 299) assert.deepEqual(decision, { next: 'success' });
    else assert.deepEqual(decision, { next: 'retry', error: `http_${status}`, delayMs: 60_000 });
  }
});

test('each failure is followed by the next delay, the last one by none', () => {
  const end = { type: 'unanswered', failure: 'timeout' } as const;
  for (let attempt = 1; attempt <= 5; attempt += 1) {
    const decision = decide(end, { attempt, isManual: false }, schedule);
    assert.deepEqual(decision, { next: 'retry', error: 'timeout', delayMs: schedule[attempt] });
  }
  const last = decide(end, { attempt: 6, isManual: false }, schedule);
  assert.deepEqual(last, { next: 'failed', error: 'timeout' });
});

test('an attempt by hand is the last one, whatever its number', () => {
  const decision = decide(answered(500), { attempt: 2, isManual: true }, schedule);
  assert.deepEqual(decision, { next: 'failed', error: 'http_500' });
});

test('an attempt that was not made counts for nothing', () => {
  const stop = decide(
    { type: 'not made', reason: 'given back' },
    { attempt: 6, isManual: false },
    schedule,
  );
  assert.deepEqual(stop, { next: 'release', delayMs: 0 });
});

test('a wrong schedule is refused at the start, with what is expected', () => {
  for (const wrong of ['', ' ', '1m', '0s,', '0s,x', '0', Array(21).fill('0s').join(',')]) {
    const read = () => readConfig({ REELFEED_WEBHOOK_RETRY_SCHEDULE: wrong });
    if (wrong === '') assert.doesNotThrow(read);
    else assert.throws(read, /REELFEED_WEBHOOK_RETRY_SCHEDULE.*1 to 20 delays/);
  }
});
