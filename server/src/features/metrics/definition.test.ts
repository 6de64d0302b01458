/** Tests what events contribute to metrics. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LoggedEvent } from '../events/events.ts';
import { countEvent, kindsOf, propertiesRead, type MetricDefinition } from './definition.ts';

const base: MetricDefinition = {
  type: 'count',
  counted: { event: 'custom.purchase', field: null, where: [] },
  denominator: null,
  windowHours: null,
  cap: null,
  direction: 'increase',
};

function eventOf(data: Record<string, unknown>, event: LoggedEvent['event'] = 'custom.purchase') {
  return { eventId: 'e', event, contentId: 'c', at: 0, data } satisfies LoggedEvent;
}

test('counts, sums, means and ratios are integers in millionths', () => {
  const sum = { ...base, type: 'sum' as const, counted: { ...base.counted, field: 'amount' } };
  assert.deepEqual(countEvent(base, eventOf({})), { numerator: 1e6, denominator: 1e6 });
  assert.equal(countEvent(base, eventOf({}, 'like')), null);
  assert.equal(countEvent(sum, eventOf({ amount: 0.1 }))?.numerator, 100_000);
  assert.equal(countEvent(sum, eventOf({ amount: -2.5 }))?.numerator, -2_500_000);
  for (const amount of ['3', null, 2e9, Number.NaN, {}]) {
    assert.equal(countEvent(sum, eventOf({ amount })), null, JSON.stringify(amount));
  }
  assert.equal(countEvent(sum, eventOf({})), null);
  const mean = { ...sum, type: 'mean' as const, cap: 5 };
  assert.deepEqual(countEvent(mean, eventOf({ amount: 9 })), { numerator: 5e6, denominator: 1e6 });
  const ratio: MetricDefinition = {
    ...base,
    type: 'ratio',
    denominator: { event: 'playStart', field: null, where: [] },
  };
  assert.deepEqual(countEvent(ratio, eventOf({})), { numerator: 1e6, denominator: 0 });
  assert.deepEqual(countEvent(ratio, eventOf({}, 'playStart')), { numerator: 0, denominator: 1e6 });
  assert.deepEqual(kindsOf(ratio), ['custom.purchase', 'playStart']);
});

test('conditions compare values of the same type, and an event without the field fails them', () => {
  const holds = (operator: string, value: unknown, data: Record<string, unknown>) => {
    const where = [{ field: 'a', operator, value }] as MetricDefinition['counted']['where'];
    return countEvent({ ...base, counted: { ...base.counted, where } }, eventOf(data)) !== null;
  };
  assert.ok(holds('eq', 1, { a: 1 }) && !holds('eq', 1, { a: '1' }) && !holds('eq', 1, {}));
  assert.ok(holds('ne', 1, { a: '1' }) && !holds('ne', 1, { a: 1 }) && !holds('ne', 1, {}));
  assert.ok(holds('gt', 1, { a: 2 }) && !holds('gt', 1, { a: 1 }) && !holds('gt', 1, { a: '2' }));
  assert.ok(holds('gte', 1, { a: 1 }) && holds('lte', 1, { a: 1 }) && holds('lt', 1, { a: 0 }));
  assert.ok(holds('in', ['x', 'y'], { a: 'y' }) && !holds('in', ['x'], { a: 'y' }));
  assert.ok(holds('exists', true, { a: 0 }) && holds('exists', false, { a: null }));
  assert.ok(holds('exists', false, {}) && !holds('exists', true, {}));
  const inherited = { ...base.counted, field: 'constructor' };
  assert.equal(countEvent({ ...base, type: 'sum', counted: inherited }, eventOf({})), null);
});

test('a metric reports the properties it reads', () => {
  const where = [{ field: 'currency', operator: 'eq', value: 'EUR' }] as const;
  const counted = { ...base.counted, field: 'amount', where };
  assert.deepEqual(propertiesRead({ ...base, type: 'sum', counted }), [
    { event: 'custom.purchase', field: 'currency' },
    { event: 'custom.purchase', field: 'amount' },
  ]);
});
