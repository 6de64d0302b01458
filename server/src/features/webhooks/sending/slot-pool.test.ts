import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SlotPool } from './slot-pool.ts';

/** A pool in which every webhook wants more slots and keeps those it gets. */
function fill(names: readonly string[], limits = { size: 256, share: 3 }) {
  const pool = new SlotPool(limits);
  const held = new Map<string, number>();
  const sendsOf = (name: string) => held.get(name) ?? 0;
  const organizationOf = (name: string) => name.split('/')[0] ?? '';
  const next = () => pool.next(sendsOf);
  const take = (name: string) => {
    held.set(name, sendsOf(name) + 1);
    pool.take(organizationOf(name));
  };
  const wait = (name: string) => pool.wait(organizationOf(name), name);
  for (const name of names) wait(name);
  for (let name = next(); name !== null; name = next()) {
    take(name);
    wait(name);
  }
  return { pool, held, next, wait, take, total: [...held.values()].reduce((a, b) => a + b, 0) };
}

test('one organization takes three quarters, its webhooks even parts of them', () => {
  const { held, total, next, wait } = fill(Array.from({ length: 50 }, (_, n) => `a/${n}`));
  assert.equal(total, 191);
  assert.deepEqual([...new Set(held.values())].toSorted(), [3, 4]);
  wait('a/later');
  assert.equal(next(), 'a/later', 'one is left for the next of its webhooks');
});

test('organizations have even parts, whatever the number of their webhooks', () => {
  const many = Array.from({ length: 49 }, (_, n) => `many/${n}`);
  const { held } = fill([...many, 'one/1']);
  const ofMany = many.reduce((sum, name) => sum + (held.get(name) ?? 0), 0);
  assert.ok(Math.abs(ofMany - (held.get('one/1') ?? 0)) <= 24, `${ofMany}`);
});

for (const organizations of [1, 8, 50, 200]) {
  test(`beside ${organizations} greedy organizations the next to come finds a slot`, () => {
    const { total, next, wait } = fill(Array.from({ length: organizations }, (_, n) => `${n}/1`));
    assert.ok(total < 256 && total >= 177, `${total} are held`);
    wait('later/1');
    assert.equal(next(), 'later/1');
  });
}

test('who holds fewest is next, and none waits twice', () => {
  const { pool, next, wait, take } = fill([]);
  take('a/1');
  wait('a/1');
  wait('a/2');
  wait('b/1');
  assert.deepEqual([next(), next(), next(), next()], ['b/1', 'a/2', 'a/1', null]);
  assert.equal(pool.isWaitedFor, false);
});

test('an organization stops when it holds its share of what is left, a webhook at three times that', () => {
  const limits = { size: 9, share: 1 };
  // Four of nine leave four to newcomers besides the last slot.
  assert.equal(fill(['a/1', 'a/2', 'a/3', 'a/4', 'a/5', 'a/6'], limits).total, 4);
  // Three leave one to the organization's other webhooks: (9 − 3 − 1) − 3 − 1.
  assert.equal(fill(['a/1'], limits).total, 3);
});

test('of organizations that hold equally many, the one that waits longest is next', () => {
  const { next, wait, take } = fill([]);
  for (const name of ['a/1', 'b/1']) take(name);
  for (const name of ['b/1', 'a/1']) wait(name);
  assert.deepEqual([next(), next()], ['b/1', 'a/1']);
});

test('slots are counted correctly however many organizations have come and gone', () => {
  const { pool, next, wait } = fill([], { size: 9_000, share: 3 });
  for (let n = 0; n < 1_500; n += 1) pool.take(`idle ${n}`);
  for (const name of ['gone', 'kept', 'kept']) pool.take(name);
  for (const name of ['gone', 'kept']) pool.giveBack(name);
  wait('kept/1');
  wait('gone/1');
  assert.deepEqual([next(), next()], ['gone/1', 'kept/1']);
});

test('slots that are given back can be taken again, and none is left in a full pool', () => {
  const { pool, next, wait } = fill([], { size: 2, share: 3 });
  pool.take('a');
  pool.take('b');
  wait('c/1');
  assert.equal(next(), null, 'none is free');
  assert.equal(pool.isWaitedFor, true);
  pool.giveBack('a');
  assert.equal(next(), 'c/1');
  for (let n = 0; n < 2_500; n += 1) {
    pool.take(`idle ${n}`);
    pool.giveBack(`idle ${n}`);
  }
  wait('d/1');
  assert.equal(next(), 'd/1');
});
