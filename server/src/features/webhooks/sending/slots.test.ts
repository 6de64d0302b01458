import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Slots } from './slots.ts';
import type { Slot } from './webhook-load.ts';

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
  const end = (webhookId: string, result: 'success' | 'failure' | 'not made') => {
    const index = started.findIndex(({ slot }) => slot.webhookId === webhookId);
    const [ended] = started.splice(index, 1);
    assert.ok(ended !== undefined);
    slots.end(ended.slot, result);
  };
  /** Lets a webhook succeed once. */
  const prove = (webhookId: string) => {
    enter(webhookId, 1);
    end(webhookId, 'success');
  };
  /** Gives each send its connection. */
  const connectAll = () => {
    // More of them start while it continues.
    for (const { slot } of started) slots.begin(slot);
  };
  return { clock, started, slots, enter, end, prove, connectAll };
}

const allowance = (slots: Slots<string>, webhookId: string) =>
  slots.room(0).allowances.get(webhookId);

describe('one webhook', () => {
  test('gets one send at first, then a window that grows with successes and shrinks with failures (2)', () => {
    const { slots, enter, end, started } = open({ total: 1_000, perWebhook: 20 });
    enter('a', 3);
    assert.equal(started.length, 1);
    end('a', 'success');
    assert.equal(started.length, 2, 'the others were waiting');
    assert.equal(allowance(slots, 'a'), 6);
    enter('a', 6);
    for (let n = 0; n < 8; n += 1) end('a', 'success');
    // Sixteen under way, and eight such windows waiting (6).
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

  test('whose first send hangs gets no other one (2)', () => {
    const { slots, enter, started, clock } = open();
    enter('a', 1);
    clock.now = 10_000;
    assert.equal(allowance(slots, 'a'), 0);
    assert.equal(started.length, 1);
  });

  test('that turns slow gives back what waits for it (6)', () => {
    const { slots, enter, end, prove, clock } = open({ total: 1_000, perWebhook: 8 });
    prove('a');
    enter('a', 12);
    assert.deepEqual(slots.takeWaiting('slow'), []);
    clock.now = 2_001;
    assert.deepEqual(slots.takeWaiting('slow'), ['a8', 'a9', 'a10', 'a11']);
    end('a', 'failure');
    assert.equal(slots.underWay, 7);
    prove('b');
    enter('b', 9);
    assert.deepEqual(slots.takeWaiting({ webhookId: 'c' }), []);
    assert.deepEqual(slots.takeWaiting({ webhookId: 'b' }), ['b8']);
  });

  test('is not slow for the time that a connection took beside that of its answer (1)', () => {
    const { slots, enter, prove, started, clock } = open();
    prove('a');
    enter('a', 9);
    clock.now = 1_900;
    for (const { slot } of started) slots.begin(slot);
    clock.now = 3_000;
    assert.deepEqual(slots.takeWaiting('slow'), []);
    clock.now = 4_000;
    assert.deepEqual(slots.takeWaiting('slow'), ['a8']);
  });
});

describe('one webhook with a rate limit', () => {
  test('has no more claimed than its bucket holds, and says when there is more (5)', () => {
    const { slots, enter, end, clock } = open();
    slots.limitRate('a', 10);
    assert.deepEqual([allowance(slots, 'a'), slots.untilTokenMs()], [1, Infinity]);
    enter('a', 1);
    end('a', 'success');
    assert.deepEqual([allowance(slots, 'a'), slots.untilTokenMs()], [0, 100]);
    clock.now = 60;
    assert.deepEqual([allowance(slots, 'a'), slots.untilTokenMs()], [0, 40]);
    clock.now = 100;
    assert.equal(slots.untilTokenMs(), 0, 'it came after the latest claim');
    assert.deepEqual([allowance(slots, 'a'), slots.untilTokenMs()], [1, Infinity]);
    clock.now = 10_000;
    assert.equal(allowance(slots, 'a'), 1, 'a pause saves nothing up');
    slots.limitRate('a', 50);
    clock.now = 20_000;
    assert.equal(allowance(slots, 'a'), 5, 'a tenth of a second');
    slots.limitRate('a', null);
    assert.equal(allowance(slots, 'a'), 8);
  });

  test('is waited for while sends are under way, but not while its window is full (5)', () => {
    const { slots, enter, end } = open();
    slots.limitRate('a', 10);
    enter('a', 1);
    assert.equal(slots.untilTokenMs(), Infinity);
    end('a', 'success');
    enter('a', 1);
    assert.equal(slots.untilTokenMs(), 200);
  });
});

describe('many webhooks', () => {
  test('that hang from their first send on hold no slot of a healthy one (4)', () => {
    const { slots, enter, prove, started, connectAll } = open();
    prove('healthy');
    for (let n = 0; n < 64; n += 1) enter(`hanging ${n}`, 1);
    connectAll();
    assert.equal(slots.underWay, 64);
    assert.equal(slots.room(64).unknownWebhooks, 0);
    enter('healthy', 8);
    assert.equal(slots.underWay, 72);
    assert.equal(started.at(-1)?.item, 'healthy7');
  });

  test('that are unknown open few connections at a time, unless these take too long (4)', () => {
    const { slots, enter, started, clock } = open();
    for (let n = 0; n < 30; n += 1) enter(`new ${n}`, 1);
    assert.equal(started.length, 8);
    const [first] = started;
    assert.ok(first !== undefined);
    slots.begin(first.slot);
    assert.equal(started.length, 9);
    clock.now = 100;
    slots.serve();
    assert.equal(started.length, 17);
  });

  test('that were healthy and hang hold the slots of others for two seconds only (1)', () => {
    const { slots, enter, prove, started, clock } = open();
    for (const id of ['a', 'b', 'healthy']) prove(id);
    enter('a', 8);
    enter('b', 8);
    enter('healthy', 1);
    assert.equal(slots.underWay, 16);
    clock.now = 2_001;
    slots.room(17);
    assert.equal(slots.underWay, 17);
    assert.equal(started.at(-1)?.item, 'healthy0');
  });

  test('that are slow share their slots evenly, and leave some to unknown ones (4)', () => {
    const { slots, enter, end, prove, connectAll, clock } = open({ total: 8, perWebhook: 64 });
    for (const id of ['a', 'b', 'c', 'd']) {
      prove(id);
      enter(id, 1);
      end(id, 'failure');
    }
    // Thirty-two less a reserve of four, for four of them.
    assert.equal(allowance(slots, 'a'), 7);
    for (const id of ['a', 'b', 'c', 'd']) enter(id, 7);
    connectAll();
    clock.now = 5_000;
    assert.equal(allowance(slots, 'a'), 0);
    assert.equal(slots.room(28).unknownWebhooks, 4);
    prove('healthy');
    enter('healthy', 8);
    assert.equal(slots.underWay, 36);
  });

  test('take turns where the slots are used up (3)', () => {
    const { enter, end, prove, started } = open({ total: 4, perWebhook: 8 });
    prove('a');
    prove('b');
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

  test('that are quick share what may wait for them (6)', () => {
    const { slots, end, prove, enter } = open({ total: 100, perWebhook: 64 });
    for (const id of ['a', 'b', 'c', 'd']) {
      prove(id);
      enter(id, 8);
      for (let n = 0; n < 8; n += 1) end(id, 'success');
    }
    assert.equal(allowance(slots, 'a'), 16 + 200 / 4);
  });

  test('never claim more than seven times the total', () => {
    const { slots } = open();
    assert.equal(slots.room(0).total, 7 * 16);
    assert.equal(slots.room(100).total, 12);
    assert.equal(slots.room(112).total, 0);
    assert.equal(slots.room(999).total, 0);
  });

  test('are forgotten when they are idle, so that memory does not grow', () => {
    const { slots, prove, clock } = open();
    prove('a');
    assert.equal(slots.room(0).allowances.size, 1);
    clock.now = 61_000;
    assert.equal(slots.room(0).allowances.size, 0);
  });
});
