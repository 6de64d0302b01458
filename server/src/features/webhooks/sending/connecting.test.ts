import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Connecting } from './connecting.ts';
import type { PoolName, Slot } from './webhook-load.ts';

function enter(connecting: Connecting, pool: PoolName, now: number): Slot {
  const base = { webhookId: 'a', hasBegun: false, pool, place: 0 };
  const slot = { ...base, startedAt: now, waitingSince: now };
  connecting.add(slot, pool);
  return slot;
}

test('failing webhooks open few connections at a time, with a pause behind each', () => {
  const connecting = new Connecting();
  const first = enter(connecting, 'slow', 0);
  const second = enter(connecting, 'slow', 0);
  assert.ok(connecting.untilRoomMs('slow', 0) > 0);
  assert.equal(connecting.untilRoomMs('unknown', 0), 0, 'others have places of their own');
  assert.equal(connecting.leave(first, 4), true);
  assert.equal(connecting.untilRoomMs('slow', 4), 16);
  assert.equal(connecting.leave(second, 4), true);
  assert.equal(connecting.untilRoomMs('slow', 4), 32);
  assert.equal(connecting.untilRoomMs('slow', 36), 0);
});

test('a connection established within half a millisecond costs no pause', () => {
  const connecting = new Connecting();
  connecting.leave(enter(connecting, 'slow', 100), 100.4);
  assert.equal(connecting.untilRoomMs('slow', 100.4), 0);
  connecting.leave(enter(connecting, 'slow', 200), 200.5);
  assert.equal(connecting.untilRoomMs('slow', 200.5), 16);
});

test('a handshake that hangs leaves its place', () => {
  const connecting = new Connecting();
  const hanging = enter(connecting, 'slow', 0);
  enter(connecting, 'slow', 20);
  assert.deepEqual(connecting.takeOverdue(25), [hanging]);
  assert.equal(connecting.leave(hanging, 30), false);
  assert.equal(connecting.untilRoomMs('slow', 41), 0);
});

test('quick webhooks open connections as they need them', () => {
  const connecting = new Connecting();
  const sends = Array.from({ length: 100 }, () => enter(connecting, 'quick', 0));
  assert.equal(connecting.untilRoomMs('quick', 0), 0);
  assert.deepEqual(connecting.takeOverdue(1_000), [], 'none of them holds a place');
  for (const send of sends) assert.equal(connecting.leave(send, 10), false);
});
