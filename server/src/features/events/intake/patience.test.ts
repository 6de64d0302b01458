import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { WaitingRequests } from './patience.ts';

const maxWaitMs = 100;

type Request = { readonly submittedAt: number; readonly answeredAt: number; place: number };

/** Gaps between requests, and how long each takes to be answered; 1,000 ms is too late. */
const schedules = fc.array(
  fc.record({
    gapMs: fc.nat(150),
    answeredAfterMs: fc.oneof(fc.integer({ min: 1, max: 120 }), fc.constant(1_000)),
  }),
  { maxLength: 8 },
);

test('each request that waits too long is reported once, in that millisecond, and no other', (t) => {
  let nowMs = 0;
  t.mock.method(performance, 'now', () => nowMs);
  t.mock.timers.enable({ apis: ['setTimeout'] });
  fc.assert(
    fc.property(schedules, (schedule) => {
      const late: Request[] = [];
      const patience = new WaitingRequests<Request>(maxWaitMs, (reported) => {
        assert.ok(reported.length > 0);
        for (const { submittedAt } of reported) assert.equal(nowMs - submittedAt, maxWaitMs);
        late.push(...reported);
      });
      let submittedAt = nowMs;
      const requests = schedule.map(({ gapMs, answeredAfterMs }): Request => {
        submittedAt += gapMs;
        return { submittedAt, answeredAt: submittedAt + answeredAfterMs, place: 0 };
      });
      for (const endMs = submittedAt + 2 * maxWaitMs; nowMs < endMs; nowMs += 1) {
        t.mock.timers.tick(1);
        for (const one of requests) if (one.answeredAt === nowMs) patience.delete(one);
        for (const one of requests) if (one.submittedAt === nowMs) patience.add(one);
      }
      const isLate = ({ submittedAt: from, answeredAt }: Request) => answeredAt - from >= maxWaitMs;
      assert.deepEqual(new Set(late), new Set(requests.filter(isLate)));
      assert.equal(late.length, requests.filter(isLate).length);
    }),
    { numRuns: 60 },
  );
});
