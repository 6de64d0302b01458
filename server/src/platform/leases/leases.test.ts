import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { beforeEach, test } from 'node:test';
import { sql } from 'kysely';
import { openTestDatabase, silentLog } from '../../../test/database.ts';
import { inTransaction } from '../database/database.ts';
import { background } from '../async/lifecycle.ts';
import { electedLoop, type ElectedChore } from './elected-chore.ts';
import { claimLeases, readHeldLeases, releaseLeases } from './leases.ts';
import { pause, until } from '../../../test/waiting.ts';

const { db } = await openTestDatabase();
const [one, other] = [randomUUID(), randomUUID()];

beforeEach(async () => void (await sql`delete from lease`.execute(db)));

async function claim(holderId: string, names: readonly string[], leaseMs = 60_000) {
  const held = await claimLeases(db, { names, holderId, leaseMs });
  return held.toSorted();
}

test('a lease has one holder, who renews it; others get the free ones', async () => {
  assert.deepEqual(await claim(one, ['a', 'b']), ['a', 'b']);
  assert.deepEqual(await claim(other, ['a', 'b', 'c']), ['c']);
  assert.deepEqual(await claim(one, ['a', 'b', 'c']), ['a', 'b']);
  assert.deepEqual(await readHeldLeases(db, ['a', 'c', 'nothing']), new Set(['a', 'c']));
});

test('a lease whose time has run out, or that was released, is free', async () => {
  await claim(one, ['out'], 1);
  await claim(one, ['released', 'kept']);
  const held = () => readHeldLeases(db, ['out']);
  await until('its time to run out', held, ({ size }) => size === 0);
  const names = ['released'];
  // Does not release leases of other holders.
  await inTransaction(db, (tx) => releaseLeases(tx, { names, holderId: other }));
  assert.deepEqual(await claim(other, ['out', 'released', 'kept']), ['out']);
  await inTransaction(db, (tx) => releaseLeases(tx, { names, holderId: one }));
  assert.deepEqual(await claim(other, ['out', 'released', 'kept']), ['out', 'released']);
});

test('of many simultaneous claims, in any order, one gets each lease', async () => {
  const names = ['a', 'b', 'c', 'd', 'e', 'f'];
  const claims = Array.from({ length: 12 }, (_, index) =>
    claim(randomUUID(), index % 2 === 0 ? names : names.toReversed()),
  );
  assert.deepEqual((await Promise.all(claims)).flat().toSorted(), names);
});

/** Processes with the same chore; `runs` contains the process of each run. */
function startChores(chore: Partial<ElectedChore> = {}) {
  const runs: number[] = [];
  const processes = [0, 1, 2].map((index) =>
    background(
      'chore',
      electedLoop(db, randomUUID(), {
        name: 'test',
        intervalMs: 300,
        run: async () => void runs.push(index),
        ...chore,
      }),
      silentLog,
    ),
  );
  return { runs, processes };
}

test('a chore runs in each process at its start, then in one of them', async () => {
  const { runs, processes } = startChores();
  await pause(3_000, 'ten intervals pass');
  for (const each of processes) await each[Symbol.asyncDispose]();
  assert.deepEqual(runs.slice(0, 3).toSorted(), [0, 1, 2]);
  // Ten intervals: three independent processes would have run it 30 times.
  assert.ok(runs.length >= 5 && runs.length <= 15, `it ran ${runs.length} times`);
  assert.deepEqual(await readHeldLeases(db, ['chore test']), new Set(), 'the end releases it');
});

test('a chore continues in another process when its process ends', async () => {
  const { runs, processes } = startChores();
  await until(
    'each to have run',
    () => new Set(runs).size,
    (size) => size === 3,
  );
  await processes[0]?.[Symbol.asyncDispose]();
  await processes[1]?.[Symbol.asyncDispose]();
  runs.length = 0;
  await until(
    'three runs',
    () => runs.length,
    (count) => count >= 3,
  );
  await processes[2]?.[Symbol.asyncDispose]();
  assert.deepEqual(new Set(runs), new Set([2]));
});

test('a chore that takes longer than its interval keeps its lease', async () => {
  const chore = {
    name: 'test',
    intervalMs: 300,
    run: () => pause(1_000, 'longer than its interval'),
  };
  await using _running = background('chore', electedLoop(db, one, chore), silentLog);
  await pause(700, 'the first run goes on');
  assert.deepEqual(await claim(other, ['chore test']), []);
});
