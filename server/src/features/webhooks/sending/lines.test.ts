import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { WebhookId } from '../../../platform/values/ids.ts';
import { lineStart, type ClaimedDelivery } from './claim-queries.ts';
import { Lines } from './lines.ts';

/** Deliveries of a webhook, numbered from `first`, due one second apart. */
function claimed(webhookId: string, count: number, first = 1): ClaimedDelivery[] {
  return Array.from({ length: count }, (_, n) => ({
    webhookId: webhookId as WebhookId,
    deliveryId: `dlv_${String(first + n).padStart(4, '0')}`,
    dueAtS: first + n,
    kind: 'content.ready',
    body: '{}',
    occurredAtMs: 0,
    attempts: 0,
    isManual: false,
    isTest: false,
    traceparent: null,
  }));
}

const allowing = (...webhookIds: string[]) => new Map(webhookIds.map((id) => [id, 64]));
const place = (number: number) => ({
  dueAtS: number,
  deliveryId: `dlv_${String(number).padStart(4, '0')}`,
});

test('at most half of the time goes to looking at all lines (1)', () => {
  const lines = new Lines();
  assert.equal(lines.next(0, allowing('a')), null);
  lines.looked(10, 13, claimed('a', 64));
  assert.notEqual(lines.next(15, allowing('a')), null);
  assert.equal(lines.next(16, allowing('a')), null);
});

test('meanwhile long lines are read on from the last of what was claimed (2)', () => {
  const lines = new Lines();
  const mixed = [...claimed('b', 32, 100), ...claimed('a', 64).toReversed(), ...claimed('c', 31)];
  lines.looked(0, 3, mixed);
  const next = lines.next(4, allowing('a', 'c', 'd'));
  const started = new Map([
    ['a', place(64)],
    ['c', lineStart],
    ['d', lineStart],
  ]);
  assert.deepEqual(next, started, 'b has no room now, c and d are not long');
  lines.readOn(next ?? new Map(), allowing('a'), claimed('a', 64, 65));
  const later = new Map([
    ['a', place(128)],
    ['b', place(131)],
  ]);
  assert.deepEqual(lines.next(5, allowing('a', 'b')), later);
});

test('of deliveries due at the same time, the last is the one with the largest id (2)', () => {
  const due = claimed('a', 64).map((one, n) => ({ ...one, dueAtS: n < 60 ? n : 60 }));
  // Positions are compared by time first: an early one has the largest id of all.
  const all = due.map((one, n) => (n === 0 ? { ...one, deliveryId: 'dlv_9999' as const } : one));
  for (const order of [all, all.toReversed(), [...all.slice(62), ...all.slice(0, 62)]]) {
    const lines = new Lines();
    lines.looked(0, 3, order);
    const next = lines.next(4, allowing('a'));
    assert.deepEqual(next?.get('a'), { dueAtS: 60, deliveryId: 'dlv_0064' });
  }
});

test('a line that returns less than was requested is no longer a long one (2)', () => {
  const lines = new Lines();
  lines.looked(0, 3, [...claimed('a', 64), ...claimed('b', 64)]);
  const allowances = new Map([
    ['a', 5],
    ['b', 64],
  ]);
  lines.readOn(lines.next(4, allowances) ?? new Map(), allowances, [
    ...claimed('a', 5, 65),
    ...claimed('b', 6, 65),
  ]);
  const next = new Map([
    ['a', place(69)],
    ['b', lineStart],
  ]);
  assert.deepEqual(lines.next(5, allowing('a', 'b')), next);
});

test('a line without room during a scan keeps its place (2)', () => {
  const lines = new Lines();
  lines.looked(0, 3, claimed('a', 64));
  lines.looked(33, 34, []);
  assert.deepEqual(lines.next(34, allowing('a'))?.get('a'), place(64));
});

test('webhooks that may get nothing are not scanned (2)', () => {
  const lines = new Lines();
  lines.looked(0, 3, []);
  assert.deepEqual(lines.next(3, new Map([['a', 0]])), new Map());
});

test('a reason to claim that came between two looks is not forgotten', () => {
  const lines = new Lines();
  assert.equal(lines.untilLookMs(0), Infinity, 'there is no reason yet');
  lines.looked(0, 3, claimed('a', 64));
  assert.equal(lines.untilLookMs(3), Infinity);
  assert.notEqual(lines.next(4, allowing('a')), null);
  assert.equal(lines.untilLookMs(5), 1);
  assert.equal(lines.untilLookMs(40), 0);
  lines.looked(40, 41, []);
  assert.equal(lines.untilLookMs(41), Infinity);
});
