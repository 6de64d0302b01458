import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { allowance, openSlots } from './slots.fixture.ts';

describe('one webhook', () => {
  test('gets one send at first, then a window that grows with successes and shrinks with failures (2)', () => {
    const { slots, enter, end, started } = openSlots({ total: 1_000, perWebhook: 20 });
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
    const { slots, enter, started, clock } = openSlots();
    enter('a', 1);
    clock.now = 10_000;
    assert.equal(allowance(slots, 'a'), 0);
    assert.equal(started.length, 1);
  });

  test('that turns slow gives back what waits for it (6)', () => {
    const { slots, enter, end, prove, clock } = openSlots({ total: 1_000, perWebhook: 8 });
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
    const { slots, enter, prove, started, clock } = openSlots();
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
  test('has no more claimed than it may send, and says when that is more (5)', () => {
    const { slots, enter, end, clock, limitRate } = openSlots();
    limitRate('a', 10);
    assert.deepEqual([allowance(slots, 'a'), slots.untilRoomMs()], [1, Infinity]);
    enter('a', 1);
    end('a', 'success');
    assert.deepEqual([allowance(slots, 'a'), slots.untilRoomMs()], [0, 100]);
    clock.now = 60;
    assert.deepEqual([allowance(slots, 'a'), slots.untilRoomMs()], [0, 40]);
    clock.now = 100;
    assert.equal(slots.untilRoomMs(), 0, 'it came after the latest claim');
    assert.deepEqual([allowance(slots, 'a'), slots.untilRoomMs()], [1, Infinity]);
    clock.now = 10_000;
    assert.equal(allowance(slots, 'a'), 1, 'a pause saves nothing up');
    limitRate('a', 50);
    clock.now = 20_000;
    assert.equal(allowance(slots, 'a'), 5, 'a tenth of a second');
    limitRate('a', null);
    assert.equal(allowance(slots, 'a'), 8);
  });

  test('begins at most that many requests in any second, however late a connection comes (5)', () => {
    const { slots, started, enter, clock, limitRate } = openSlots({ total: 100, perWebhook: 64 });
    limitRate('a', 20);
    const begun: number[] = [];
    for (clock.now = 0; clock.now < 10_000; clock.now += 10) {
      enter('a', allowance(slots, 'a') ?? 0);
      // Connecting takes 0.9 s, and connections arrive together.
      if (clock.now % 900 !== 890) continue;
      for (const { slot } of started.splice(0)) {
        begun.push(clock.now);
        slots.begin(slot);
        slots.end(slot, 'success');
      }
    }
    assert.ok(begun.length > 80, `${begun.length} began`);
    for (const at of begun) {
      const within = begun.filter((other) => other >= at && other < at + 1_000).length;
      assert.ok(within <= 20, `${within} within the second from ${at}`);
    }
  });

  test('gets back what was claimed and not sent (5)', () => {
    const { slots, enter, end, clock, limitRate } = openSlots();
    limitRate('a', 1);
    enter('a', 1);
    assert.equal(allowance(slots, 'a'), 0);
    end('a', 'not made');
    clock.now = 25;
    assert.equal(allowance(slots, 'a'), 1);
  });

  test('is waited for while sends are under way, but not while its window is full (5)', () => {
    const { slots, enter, end, limitRate } = openSlots();
    limitRate('a', 10);
    enter('a', 1);
    assert.equal(slots.untilRoomMs(), Infinity);
    end('a', 'success');
    enter('a', 1);
    assert.equal(slots.untilRoomMs(), 200);
  });
});

describe('many webhooks', () => {
  test('that hang from their first send on hold no slot of a healthy one (4)', () => {
    const { slots, enter, prove, started, connectAll } = openSlots();
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
    const { slots, enter, started, clock } = openSlots();
    for (let n = 0; n < 30; n += 1) enter(`new ${n}`, 1);
    assert.equal(started.length, 12);
    const [first] = started;
    assert.ok(first !== undefined);
    slots.begin(first.slot);
    assert.equal(started.length, 13);
    clock.now = 25;
    slots.serve();
    assert.equal(started.length, 25);
  });

  test('whose connections hang leave places to an organization that comes later (4)', () => {
    const { enter, started } = openSlots();
    for (let n = 0; n < 300; n += 1) enter(`${n % 6}/${n}`, 1);
    enter('later/first', 1);
    assert.equal(started.at(-1)?.item, 'later/first0');
  });

  test('that are known to fail connect in places of their own (4)', () => {
    const { enter, started } = openSlots();
    for (let n = 0; n < 300; n += 1) enter(`${n}/failing`, 1, true);
    assert.equal(started.length, 2);
    enter('a/new', 1);
    assert.equal(started.at(-1)?.item, 'a/new0');
  });

  for (const organizations of [1, 8, 50]) {
    test(`fifty that answer after 1.9 s, of ${organizations} organizations, use no slot of quick ones (3)`, () => {
      const { enter, end, prove, started, clock, connectAll } = openSlots({
        total: 256,
        perWebhook: 64,
      });
      const names = Array.from({ length: 50 }, (_, n) => `${n % organizations}/${n}`);
      for (const name of ['x/quick', '0/quick']) prove(name);
      for (const name of names) enter(name, 20);
      while (started.length > 0) {
        connectAll();
        clock.now += 1_900;
        for (const { slot } of [...started]) {
          if (clock.now - slot.waitingSince === 1_900) end(slot.webhookId, 'success');
        }
        for (const name of ['x/quick', '0/quick']) {
          enter(name, 8);
          const quick = started.filter(({ slot }) => slot.webhookId === name);
          assert.equal(quick.length, 8, 'all at once');
          for (const { slot } of quick) end(slot.webhookId, 'success');
        }
      }
      assert.ok(clock.now < 10 * 1_900, 'and get what they can take themselves');
    });
  }

  test('that become leisurely leave the slots of quick ones after a quarter of a second (3)', () => {
    const { slots, enter, prove, started, clock, connectAll } = openSlots();
    for (const name of ['a/1', 'b/1', 'c/quick']) prove(name);
    for (const name of ['a/1', 'b/1']) enter(name, 8);
    enter('c/quick', 8);
    assert.ok(slots.underWay <= 16);
    clock.now = 251;
    slots.room(24);
    connectAll();
    assert.equal(started.filter(({ slot }) => slot.webhookId === 'c/quick').length, 8);
  });

  test('that were quick and hang hold the slots of others for two seconds only (1)', () => {
    const { slots, enter, prove, started, clock } = openSlots();
    for (const id of ['a', 'b', 'healthy']) prove(id);
    enter('a', 8);
    enter('b', 8);
    clock.now = 2_001;
    enter('healthy', 8);
    slots.room(24);
    assert.equal(started.filter(({ slot }) => slot.webhookId === 'healthy').length, 8);
    assert.ok(
      started.every(({ slot }) => (slot.pool === 'quick') === (slot.webhookId === 'healthy')),
    );
  });

  test('that are not quick are left out of most claims (6)', () => {
    const { slots, prove, enter, end, clock } = openSlots();
    prove('quick');
    prove('failing');
    enter('failing', 1);
    end('failing', 'failure');
    const both = () => [...slots.room(0).allowances.values()];
    assert.deepEqual([both(), slots.untilRoomMs()], [[8, 8], Infinity]);
    clock.now = 10;
    assert.deepEqual([both(), slots.untilRoomMs()], [[8, 0], 15]);
    clock.now = 25;
    assert.deepEqual([both(), slots.untilRoomMs()], [[8, 8], Infinity]);
  });

  test('that are slow share their slots evenly, and leave some to unknown ones (4)', () => {
    const { slots, enter, end, prove, connectAll, clock } = openSlots({ total: 8, perWebhook: 64 });
    for (const id of ['a', 'b', 'c', 'd']) {
      prove(id);
      enter(id, 1);
      end(id, 'failure');
    }
    // Thirty-two minus a reserve of four, shared by four webhooks and one newcomer.
    assert.equal(allowance(slots, 'a'), 5);
    for (const id of ['a', 'b', 'c', 'd']) enter(id, 5);
    connectAll();
    clock.now = 5_000;
    assert.equal(allowance(slots, 'a'), 0);
    assert.equal(slots.room(20).unknownWebhooks, 12);
    prove('healthy');
    enter('healthy', 5);
    assert.equal(slots.underWay, 25);
  });

  test('take turns where the slots are used up (3)', () => {
    const { enter, end, prove, started } = openSlots({ total: 4, perWebhook: 8 });
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
    const { slots, end, prove, enter } = openSlots({ total: 100, perWebhook: 64 });
    for (const id of ['a', 'b', 'c', 'd']) {
      prove(id);
      enter(id, 8);
      for (let n = 0; n < 8; n += 1) end(id, 'success');
    }
    assert.equal(allowance(slots, 'a'), 16 + 200 / 4);
  });

  test('never claim more than twelve times the total', () => {
    const { slots } = openSlots();
    assert.equal(slots.room(0).total, 12 * 16);
    assert.equal(slots.room(180).total, 12);
    assert.equal(slots.room(192).total, 0);
    assert.equal(slots.room(999).total, 0);
  });
});
