/** Tests the headers that tell clients about the limits of bulk operations. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AllowanceRefusal, allowanceHeaders, askFor, type Allowance } from './allowance.ts';

const allowance = (given: Partial<Allowance> = {}): Allowance => ({
  isAccepted: true,
  clockWentBack: false,
  requestsLeft: 12,
  itemsLeft: 340,
  nextFreeMs: 1_001,
  retryAfterMs: 0,
  ...given,
});

test('the headers name both limits, what is left, and whole seconds that are never too few', () => {
  assert.deepEqual(allowanceHeaders(allowance()), {
    'ratelimit-policy': '"requests";q=60;w=60, "items";q=1000;w=60',
    ratelimit: '"requests";r=12;t=2, "items";r=340;t=2',
  });
  assert.deepEqual(askFor(7), { requests: 60, itemsInAll: 1_000, windowSeconds: 60, newItems: 7 });
});

test('a refusal says which limit was met and when to come back, at the earliest in a second', () => {
  const refusal = (given: Partial<Allowance>) => {
    const error = new AllowanceRefusal(allowance({ isAccepted: false, ...given }));
    return { ...error, message: error.message, retryAfter: error.headers['retry-after'] };
  };
  const byRequests = refusal({ requestsLeft: 0, retryAfterMs: 3_000 });
  assert.equal(byRequests.message, 'Bulk operations are limited to 60 requests in 60 seconds.');
  assert.equal(byRequests.retryAfter, '3');
  assert.equal(
    byRequests.headers['ratelimit-policy'],
    allowanceHeaders(allowance())['ratelimit-policy'],
  );
  assert.equal(byRequests.clockWentBack, false);
  const byItems = refusal({ requestsLeft: 1, retryAfterMs: 0, clockWentBack: true });
  assert.equal(byItems.message, 'Bulk operations are limited to 1000 items in 60 seconds.');
  assert.deepEqual([byItems.retryAfter, byItems.clockWentBack], ['1', true]);
});
