/**
 * Proves that a transaction applies completely or not at all, and is retried after losing a
 * conflict.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { openTestDatabase } from '../../../test/database.ts';
import { inTransaction, type Tx } from './database.ts';
import { isContention, sqlState } from './database-errors.ts';

const { db } = await openTestDatabase();
await sql`create table account (name text primary key, amount int not null)`.execute(db);

async function amounts(): Promise<Record<string, number>> {
  const { rows } = await sql<{
    name: string;
    amount: number;
  }>`select name, amount from account`.execute(db);
  return Object.fromEntries(rows.map(({ name, amount }) => [name, amount]));
}

async function setUp(...names: string[]): Promise<void> {
  await sql`truncate account`.execute(db);
  await sql`insert into account select name, 0 from unnest(${names}::text[]) as name`.execute(db);
}

const add = (tx: Tx, name: string) =>
  sql`update account set amount = amount + 1 where name = ${name}`.execute(tx);

/**
 * A barrier: resolves for all callers once `count` of them have arrived. Later callers do not wait.
 */
function meeting(count: number): () => Promise<void> {
  const all = Promise.withResolvers<void>();
  let present = 0;
  return () => {
    present += 1;
    if (present >= count) all.resolve();
    return all.promise;
  };
}

test('two transactions that deadlock both take effect, once each', async () => {
  await setUp('a', 'b');
  const bothHoldOne = meeting(2);
  let tries = 0;
  const both = (first: string, second: string) =>
    inTransaction(db, async (tx) => {
      tries += 1;
      await add(tx, first);
      await bothHoldOne();
      await add(tx, second);
    });
  await Promise.all([both('a', 'b'), both('b', 'a')]);
  assert.ok(tries > 2, 'there was a deadlock');
  assert.deepEqual(await amounts(), { a: 2, b: 2 });
});

test('a serialization failure is retried with a fresh snapshot', async () => {
  await setUp('a');
  const bothHaveRead = meeting(2);
  let tries = 0;
  const increase = () =>
    inTransaction(db, async (tx) => {
      tries += 1;
      await sql`set transaction isolation level repeatable read`.execute(tx);
      const { rows } = await sql<{ amount: number }>`select amount from account`.execute(tx);
      await bothHaveRead();
      await sql`update account set amount = ${(rows[0]?.amount ?? 0) + 1}`.execute(tx);
    });
  await Promise.all([increase(), increase()]);
  assert.equal(tries, 3);
  assert.deepEqual(await amounts(), { a: 2 });
});

test('a transaction that loses four times fails with the error from the database', async () => {
  let tries = 0;
  const lost = inTransaction(db, async (tx) => {
    tries += 1;
    await sql`do $$ begin raise exception 'lost' using errcode = '40P01'; end $$`.execute(tx);
  });
  await assert.rejects(lost, (error) => isContention(error));
  assert.equal(tries, 4);
});

test('any other error is not retried and leaves nothing of the transaction', async () => {
  await setUp('a');
  let tries = 0;
  const work = async (tx: Tx) => {
    tries += 1;
    await add(tx, 'a');
    throw new Error('no');
  };
  await assert.rejects(inTransaction(db, work), /^Error: no$/);
  assert.equal(tries, 1);
  const broken = inTransaction(db, async (tx) => {
    await add(tx, 'a');
    await sql`insert into account values ('a', 1)`.execute(tx);
  });
  await assert.rejects(broken, (error) => sqlState(error) === '23505');
  assert.deepEqual(await amounts(), { a: 0 });
});

test('a failure that the caller overlooked does not commit', async () => {
  await setUp('a');
  const overlooked = inTransaction(db, async (tx) => {
    await add(tx, 'a');
    await sql`select 1 / 0`.execute(tx).catch(() => undefined);
  });
  await assert.rejects(overlooked);
  assert.deepEqual(await amounts(), { a: 0 });
});

test('after failures of every kind no transaction stays open', async () => {
  const { rows } = await sql<{ open: number }>`
    select count(*)::int as open from pg_stat_activity
    where datname = current_database() and state like 'idle in transaction%'`.execute(db);
  assert.deepEqual(rows, [{ open: 0 }]);
});
