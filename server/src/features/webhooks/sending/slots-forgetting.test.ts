/** Tests what is kept of webhooks without deliveries, and what is left of those taken back. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openSlots } from './slots.fixture.ts';

test('webhooks are forgotten when they are idle, so that memory does not grow', () => {
  const { slots, prove, clock } = openSlots();
  prove('a');
  assert.equal(slots.room(0).allowances.size, 1);
  clock.now = 61_000;
  assert.equal(slots.room(0).allowances.size, 0);
});

test('webhooks are idle from the end of their last send on', () => {
  const { slots, enter, end, clock } = openSlots();
  enter('a', 1);
  clock.now = 50_000;
  end('a', 'success');
  clock.now = 110_000;
  assert.equal(slots.room(0).allowances.size, 1);
  clock.now = 110_001;
  assert.equal(slots.room(0).allowances.size, 0);
});

/** Lets an hour pass, and all idle webhooks be forgotten. */
function forgetAll({ clock, slots }: ReturnType<typeof openSlots>): void {
  clock.now += 3_600_000;
  assert.equal(slots.room(0).allowances.size, 0);
}

/** The number of eight deliveries that start at once. */
function startsOfEight({ enter, started }: ReturnType<typeof openSlots>, webhookId: string) {
  const before = started.length;
  enter(webhookId, 8);
  return started.length - before;
}

test('a webhook that was healthy when it was forgotten need not prove itself again (2)', () => {
  const world = openSlots();
  world.prove('a');
  forgetAll(world);
  assert.equal(startsOfEight(world, 'a'), 8);
});

test('a webhook that never succeeded, or failed at last, proves itself again (2)', () => {
  const world = openSlots();
  const { enter, end, prove } = world;
  enter('new', 1);
  end('new', 'not made');
  for (const id of ['failed', 'relapsed']) prove(id);
  enter('failed', 1);
  end('failed', 'failure');
  forgetAll(world);
  enter('relapsed', 1);
  end('relapsed', 'failure');
  forgetAll(world);
  for (const id of ['new', 'failed', 'relapsed']) assert.equal(startsOfEight(world, id), 1, id);
});

/** All eight slots are in use, and the organizations that use them also have idle webhooks. */
function openFull() {
  const world = openSlots({ total: 8, perWebhook: 8 });
  for (const id of ['a/1', 'a/2', 'b/1', 'b/2', 'c/1', 'c/2']) world.prove(id);
  for (const id of ['a/1', 'a/2', 'b/1', 'c/1']) world.enter(id, 8);
  assert.equal(world.started.length, 8);
  return world;
}

test('a webhook that is forgotten while it stands in line delays nobody (3)', () => {
  const { slots, clock, enter, started } = openFull();
  enter('b/2', 1);
  slots.takeWaiting('all');
  enter('c/2', 4);
  assert.equal(started.length, 8);
  clock.now = 61_000;
  slots.room(12);
  assert.equal(started.filter(({ slot }) => slot.webhookId === 'c/2').length, 4);
});

test('deliveries that are taken back delay nobody (3)', () => {
  const { slots, clock, enter, started } = openFull();
  enter('b/2', 40);
  assert.equal(slots.takeWaiting({ webhookId: 'b/2' }).length, 40);
  enter('c/2', 4);
  assert.equal(started.length, 8);
  clock.now = 2_001;
  slots.room(12);
  assert.equal(started.filter(({ slot }) => slot.webhookId === 'c/2').length, 4);
});
