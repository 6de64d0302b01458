/** Proves the limits and the order of places that several owners share. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BusyError, FairTurns } from './fair-turns.ts';

const limits = { places: 1, maxWaiting: 200, maxWaitMs: 60_000 };
const never = new AbortController().signal;

/** Takes places in the given order and records who gets one. */
function start(turns: FairTurns, owners: readonly string[], served: string[]): Promise<void>[] {
  return owners.map(async (owner) => {
    using _place = await turns.take(owner, never);
    served.push(owner);
  });
}

test('an owner waits for one turn of each other, however long their lines are', async () => {
  const turns = new FairTurns(limits);
  const held = await turns.take('a', never);
  const served: string[] = [];
  const all = start(
    turns,
    [...Array<string>(100).fill('a'), ...Array<string>(50).fill('b')],
    served,
  );
  all.push(...start(turns, ['c'], served));
  assert.deepEqual([turns.held, turns.waiting], [1, 151]);
  held[Symbol.dispose]();
  await Promise.all(all);
  assert.ok(served.indexOf('c') <= 2, served.slice(0, 4).join());
  assert.equal(
    served.slice(0, 90).filter((owner) => owner === 'b').length,
    45,
    'turn and turn about',
  );
  assert.deepEqual([turns.held, turns.waiting], [0, 0]);
});

test('who leaves and comes back starves nobody', async () => {
  const turns = new FairTurns(limits);
  const served: string[] = [];
  const held = await turns.take('a', never);
  const waiting = start(turns, Array<string>(20).fill('a'), served);
  // One at a time, each as soon as the previous one ends.
  const comeAgain = async () => {
    for (let time = 0; time < 20; time += 1) await Promise.all(start(turns, ['b'], served));
  };
  const again = comeAgain();
  held[Symbol.dispose]();
  await Promise.all([...waiting, again]);
  const first = served.slice(0, 20);
  assert.ok(first.filter((owner) => owner === 'a').length >= 9, first.join());
});

test('of full lines the longest loses its last', async () => {
  const turns = new FairTurns({ ...limits, maxWaiting: 4 });
  const held = await turns.take('a', never);
  const served: string[] = [];
  const outcomes = Promise.allSettled(start(turns, ['a', 'a', 'a', 'a', 'b', 'b', 'a'], served));
  assert.equal(turns.waiting, 4);
  assert.throws(() => turns.requireRoom('a'), BusyError);
  turns.requireRoom('c');
  held[Symbol.dispose]();
  const refused = (await outcomes).map(({ status }) => status === 'rejected');
  assert.deepEqual(refused, [false, false, true, true, false, false, true]);
});

test('who gives up, and who has waited too long, leaves the line', async () => {
  const turns = new FairTurns({ ...limits, maxWaitMs: 50 });
  using _held = await turns.take('a', never);
  const gone = new AbortController();
  const waiting = turns.take('a', gone.signal);
  const late = turns.take('b', never);
  gone.abort(new Error('the client has gone'));
  await assert.rejects(waiting, /the client has gone/);
  assert.equal(turns.waiting, 1);
  await assert.rejects(late, BusyError);
  assert.equal(turns.waiting, 0);
});
