import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Slots, type Slot } from './slots.ts';

/** Slots with a clock that stands until it is moved; what has started, in order. */
function open(limits = { total: 16, perWebhook: 64 }) {
  const clock = { now: 0 };
  const started: { item: string; slot: Slot }[] = [];
  const slots = new Slots<string>(
    limits,
    (item, slot) => started.push({ item, slot }),
    () => clock.now,
  );
  const enter = (webhookId: string, count: number) => {
    for (let n = 0; n < count; n += 1) slots.enter(webhookId, `${webhookId}${n}`);
  };
  /** Ends the oldest send of a webhook. */
  const end = (webhookId: string, result: 'success' | 'failure' | 'not made', tookMs = 1) => {
    const index = started.findIndex(({ slot }) => slot.webhookId === webhookId);
    const [ended] = started.splice(index, 1);
    assert.ok(ended !== undefined);
    slots.end(ended.slot, result, tookMs);
  };
  return { clock, started, slots, enter, end };
}

const allowance = (slots: Slots<string>, webhookId: string) =>
  slots.room(0).allowances.get(webhookId) ?? slots.room(0).defaultAllowance;

describe('one webhook', () => {
  test('starts with a small window, which grows with successes and shrinks with failures (1)', () => {
    const { slots, enter, end, started } = open({ total: 1_000, perWebhook: 20 });
    assert.equal(allowance(slots, 'a'), 8);
    enter('a', 8);
    assert.equal(started.length, 8);
    assert.equal(allowance(slots, 'a'), 0);
    for (let n = 0; n < 8; n += 1) end('a', 'success');
    // Sixteen under way, and eight such windows waiting.
    assert.equal(allowance(slots, 'a'), 16 * 9);
    enter('a', 16 * 5 - 1);
    assert.equal(started.length, 16);
    assert.equal(allowance(slots, 'a'), 16 * 4 + 1);
    enter('a', 2);
    assert.equal(allowance(slots, 'a'), 0, 'no claim is worth it while half of them wait');
    end('a', 'success');
    assert.equal(slots.underWay, 17);
    end('a', 'failure');
    assert.equal(slots.underWay, 16, 'nothing starts above the halved window');
    end('a', 'not made');
    assert.equal(slots.underWay, 15);
  });

  test('that turns slow gives back what waits for it (2)', () => {
    const { slots, enter, end, clock } = open({ total: 1_000, perWebhook: 8 });
    enter('a', 12);
    assert.deepEqual(slots.takeWaiting('slow'), []);
    clock.now = 2_001;
    assert.deepEqual(slots.takeWaiting('slow'), ['a8', 'a9', 'a10', 'a11']);
    end('a', 'failure');
    assert.equal(slots.underWay, 7);
    enter('b', 9);
    assert.deepEqual(slots.takeWaiting('all'), ['b8']);
  });
});

describe('many webhooks', () => {
  test('that hang hold the slots of others for two seconds only (3)', () => {
    const { slots, enter, started, clock } = open();
    enter('a', 8);
    enter('b', 8);
    enter('healthy', 1);
    assert.equal(slots.underWay, 16);
    clock.now = 2_001;
    slots.room(17);
    assert.equal(slots.underWay, 17);
    assert.equal(started.at(-1)?.item, 'healthy0');
    assert.equal(slots.room(0).defaultAllowance, 1, 'an unknown one starts carefully');
  });

  test('that are slow share their own slots evenly, and no more (2)', () => {
    const { slots, enter, end, clock } = open();
    for (const id of ['a', 'b', 'c', 'd']) {
      enter(id, 1);
      end(id, 'failure');
    }
    assert.equal(allowance(slots, 'a'), 4);
    for (const id of ['a', 'b', 'c', 'd']) enter(id, 4);
    slots.room(0);
    clock.now = 5_000;
    assert.equal(allowance(slots, 'a'), 0);
    enter('healthy', 8);
    assert.equal(slots.underWay, 24);
  });

  test('take turns where the slots are used up (4)', () => {
    const { enter, end, started } = open({ total: 4, perWebhook: 8 });
    enter('a', 8);
    enter('b', 8);
    const order: string[] = [];
    for (let n = 0; n < 6; n += 1) {
      end(started[0]?.slot.webhookId ?? '', 'success');
      order.push(started.at(-1)?.slot.webhookId ?? '');
    }
    assert.deepEqual([...new Set(order)].toSorted(), ['a', 'b']);
    assert.ok(order.filter((id) => id === 'b').length >= 2, order.join());
  });

  test('that are quick share what may wait for them (1)', () => {
    const { slots, enter, end } = open({ total: 100, perWebhook: 64 });
    for (const id of ['a', 'b', 'c', 'd']) {
      enter(id, 8);
      for (let n = 0; n < 8; n += 1) end(id, 'success');
    }
    assert.equal(allowance(slots, 'a'), 16 + 200 / 4);
  });

  test('never claim more than four times the total (5)', () => {
    const { slots } = open();
    assert.equal(slots.room(0).total, 64);
    assert.equal(slots.room(60).total, 4);
    assert.equal(slots.room(64).total, 0);
    assert.equal(slots.room(99).total, 0);
  });

  test('are forgotten when they are idle, so that memory does not grow', () => {
    const { slots, enter, end, clock } = open();
    enter('a', 1);
    end('a', 'success');
    assert.equal(slots.room(0).allowances.size, 1);
    clock.now = 61_000;
    assert.equal(slots.room(0).allowances.size, 0);
  });
});
