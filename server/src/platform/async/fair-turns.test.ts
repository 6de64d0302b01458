/** Proves the limits of shared places and the order in which owners get them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
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
  // One at a time: each starts as soon as the previous one ends.
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
  gone.abort(new Error('the client disconnected'));
  await assert.rejects(waiting, /the client disconnected/);
  assert.equal(turns.waiting, 1);
  await assert.rejects(late, BusyError);
  assert.equal(turns.waiting, 0);
});

test('of owners whose turns are equal, the one who waits longest is first', async () => {
  const turns = new FairTurns(limits);
  const held = await turns.take('x', never);
  const served: string[] = [];
  const all = start(turns, ['c', 'a', 'b', 'a', 'c'], served);
  held[Symbol.dispose]();
  held[Symbol.dispose]();
  assert.deepEqual([turns.held, turns.waiting], [1, 4], 'a place is given back once');
  await Promise.all(all);
  assert.deepEqual(served, ['c', 'a', 'b', 'c', 'a']);
});

test('whoever comes, the bounds hold, nobody is lost, and no line waits for two turns of another', async () => {
  const owners = fc.array(fc.constantFrom('a', 'b', 'c'), { minLength: 1, maxLength: 30 });
  const sizes = fc.record({ places: fc.integer({ min: 1, max: 3 }), maxWaiting: fc.nat(8) });
  await fc.assert(
    fc.asyncProperty(owners, sizes, async (names, { places, maxWaiting }) => {
      const turns = new FairTurns({ places, maxWaiting, maxWaitMs: 60_000 });
      const held = await Promise.all(Array.from({ length: places }, () => turns.take('x', never)));
      const served: string[] = [];
      const settled = Promise.allSettled(start(turns, names, served));
      assert.equal(turns.waiting, Math.min(maxWaiting, names.length));
      for (const place of held) place[Symbol.dispose]();
      const refused = (await settled).filter(({ status }) => status === 'rejected');
      assert.equal(served.length, names.length - refused.length);
      assert.equal(served.length, Math.min(maxWaiting, names.length));
      assert.deepEqual([turns.held, turns.waiting], [0, 0]);
      for (const owner of new Set(served)) {
        const places = served.flatMap((name, at) => (name === owner ? [at] : []));
        for (const [turn, at] of places.entries()) {
          const others = new Map<string, number>();
          for (const name of served.slice(0, at)) others.set(name, (others.get(name) ?? 0) + 1);
          others.delete(owner);
          for (const count of others.values()) assert.ok(count <= turn + 1, served.join());
        }
      }
    }),
    { numRuns: 60 },
  );
});

test('giving up just as a place is granted removes nobody else from the line', async () => {
  const turns = new FairTurns(limits);
  const held = await turns.take('a', never);
  const gone = new AbortController();
  const first = turns.take('b', gone.signal);
  const second = turns.take('b', never);
  held[Symbol.dispose]();
  gone.abort();
  assert.deepEqual([turns.held, turns.waiting], [1, 1]);
  (await first)[Symbol.dispose]();
  (await second)[Symbol.dispose]();
  assert.deepEqual([turns.held, turns.waiting], [0, 0]);
});
