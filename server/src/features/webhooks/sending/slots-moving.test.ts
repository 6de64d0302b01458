/** Tests when sends start that had to wait, and which slots and places they hold over time. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { allowance, openSlots } from './slots.fixture.ts';

type World = ReturnType<typeof openSlots>;

/** The number of a webhook's sends that have started and not ended. */
const sendsOf = ({ started }: World, webhookId: string) =>
  started.filter(({ slot }) => slot.webhookId === webhookId).length;

/** Lets a webhook answer once, after 300 ms. */
function proveLeisurely({ enter, end, clock }: World, webhookId: string): void {
  enter(webhookId, 1);
  clock.now += 300;
  end(webhookId, 'success');
}

describe('slots', () => {
  test('are shared evenly by the webhooks of an organization, too (3)', () => {
    const world = openSlots({ total: 8, perWebhook: 8 });
    for (const id of ['a/1', 'a/2']) world.prove(id);
    for (const id of ['a/1', 'a/2']) world.enter(id, 8);
    assert.ok(sendsOf(world, 'a/1') > sendsOf(world, 'a/2') + 1, 'the first had them to itself');
    for (let n = 0; n < 2; n += 1) world.end('a/1', 'success');
    assert.ok(Math.abs(sendsOf(world, 'a/1') - sendsOf(world, 'a/2')) <= 1);
  });

  test('of quick ones are kept by the sends that have not waited long (3)', () => {
    const { slots, enter, prove, started, clock } = openSlots();
    prove('a');
    enter('a', 2);
    clock.now = 1;
    enter('a', 1);
    clock.now = 251;
    slots.room(3);
    assert.deepEqual(
      started.map(({ slot }) => slot.pool),
      ['leisurely', 'leisurely', 'quick'],
    );
  });

  test('of leisurely ones are given up by sends that hang (1)', () => {
    const world = openSlots({ total: 4, perWebhook: 8 });
    const { slots, enter, connectAll, clock } = world;
    for (const id of ['a/1', 'b/1', 'c/1']) proveLeisurely(world, id);
    for (const id of ['a/1', 'b/1']) enter(id, 8);
    connectAll();
    assert.equal(slots.underWay, 6, 'the rest is left to other organizations');
    clock.now += 2_001;
    slots.room(16);
    enter('c/1', 4);
    assert.equal(sendsOf(world, 'c/1'), 4);
  });

  test('are taken at once by a webhook that turns out to be quick while it waits (1)', () => {
    const world = openSlots();
    proveLeisurely(world, 'a');
    world.enter('a', 8);
    assert.equal(sendsOf(world, 'a'), 4, 'four open connections');
    world.end('a', 'success');
    assert.equal(sendsOf(world, 'a'), 7);
  });

  test('are counted once for a send that ends twice', () => {
    const { slots, enter, prove, started } = openSlots();
    prove('a');
    enter('a', 2);
    const [first] = started;
    assert.ok(first !== undefined);
    for (let n = 0; n < 2; n += 1) slots.end(first.slot, 'success');
    assert.equal(slots.underWay, 1);
  });
});

describe('places for connections', () => {
  test('are free again when a connection fails (4)', () => {
    const { enter, end, started } = openSlots();
    for (let n = 0; n < 30; n += 1) enter(`new ${n}`, 1);
    assert.equal(started.length, 12);
    end('new 0', 'failure');
    assert.equal(started.at(-1)?.item, 'new 120');
  });

  test('to slow webhooks are not all held by one organization, however often it is claimed (4)', () => {
    const { slots, enter, started } = openSlots();
    for (const id of ['a/1', 'a/2']) enter(id, 1, true);
    for (let n = 0; n < 3; n += 1) slots.room(2);
    assert.equal(started.length, 1);
    enter('b/1', 1, true);
    assert.equal(started.length, 2);
  });
});

describe('what waits', () => {
  test('for places is not taken back from a slow webhook as long as its window has room (6)', () => {
    const { slots, enter, end, prove, started } = openSlots();
    prove('a');
    enter('a', 1);
    end('a', 'failure');
    enter('a', 10);
    assert.equal(started.length, 1);
    assert.deepEqual(slots.takeWaiting('slow'), ['a8', 'a9']);
    assert.equal(slots.takeWaiting('all').length, 7);
  });

  test('starts in portions, so that other work gets a turn', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const { slots, enter, prove, clock } = openSlots({ total: 256, perWebhook: 8 });
    const [hanging, waiting] = ['a', 'b'].map((part) =>
      Array.from({ length: 24 }, (_, n) => `${part}/${n}`),
    );
    assert.ok(hanging !== undefined && waiting !== undefined);
    for (const id of [...hanging, ...waiting]) prove(id);
    for (const id of hanging) enter(id, 8);
    for (const id of waiting) enter(id, 8);
    const before = slots.underWay;
    const started = () => slots.underWay - before;
    clock.now = 251;
    t.mock.timers.tick(25);
    assert.equal(started(), 32, 'in the slots of those that hang');
    slots.serve();
    assert.equal(started(), 64);
    for (const expected of [96, 128]) {
      await setImmediate();
      assert.equal(started(), expected);
    }
  });

  test('for a connection or a slot starts as time passes, without a call (4)', (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const { enter, started, clock } = openSlots();
    for (let n = 0; n < 30; n += 1) enter(`new ${n}`, 1);
    for (const expected of [12, 24, 30]) {
      assert.equal(started.length, expected);
      clock.now += 25;
      t.mock.timers.tick(25);
    }
  });

  test('for a slot that a hanging send holds starts without a call (3)', (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const world = openSlots({ total: 4, perWebhook: 8 });
    for (const id of ['a/1', 'b/1', 'c/1', 'd/1']) world.prove(id);
    for (const id of ['a/1', 'b/1', 'c/1']) world.enter(id, 8);
    world.enter('d/1', 1);
    assert.equal(sendsOf(world, 'd/1'), 0);
    world.clock.now = 251;
    t.mock.timers.tick(25);
    assert.equal(sendsOf(world, 'd/1'), 1);
  });

  test('for many slow webhooks is claimed in turns (4)', () => {
    const { slots, enter, clock } = openSlots();
    for (let n = 0; n < 40; n += 1) enter(`${n}`, 0, true);
    const claims = new Map<string, number>();
    for (let turn = 0; turn < 40; turn += 1) {
      clock.now += 25;
      const { allowances } = slots.room(0);
      const sum = [...allowances.values()].reduce((a, b) => a + b, 0);
      assert.equal(sum, 32, 'as many as may wait');
      for (const [id, one] of allowances) claims.set(id, (claims.get(id) ?? 0) + one);
    }
    assert.deepEqual([...new Set(claims.values())], [32], 'each of them equally often');
  });
});

describe('a rate limit', () => {
  test('counts a request that failed before its connection (5)', () => {
    const { slots, enter, end, clock, limitRate } = openSlots();
    limitRate('a', 1);
    enter('a', 1);
    end('a', 'failure');
    clock.now = 1_040;
    assert.equal(allowance(slots, 'a'), 0);
    clock.now = 1_065;
    assert.equal(allowance(slots, 'a'), 1, 'and only for its second');
  });

  test('gets back what is taken back (5)', () => {
    const { slots, enter, end, clock, limitRate } = openSlots();
    limitRate('a', 20);
    clock.now = 1_000;
    slots.room(0);
    enter('a', 2);
    assert.deepEqual(slots.takeWaiting('all'), ['a1']);
    end('a', 'success');
    assert.equal(allowance(slots, 'a'), 1);
  });
});
