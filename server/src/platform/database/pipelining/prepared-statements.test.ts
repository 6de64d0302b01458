/**
 * Proves that recurring statements are prepared, each under a single name, and that their number is
 * bounded.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { openTestDatabase, silentLog } from '../../../../test/database.ts';
import { openDatabase, type Db } from '../database.ts';

const { connection } = await openTestDatabase();

/** Runs `work` on each of several connections of a pool, all held at the same time. */
async function onConnections(count: number, work: (db: Db) => Promise<void>): Promise<void> {
  await using database = openDatabase({ connection, poolSize: count, log: silentLog });
  const all = Promise.withResolvers<void>();
  let held = 0;
  const hold = () =>
    database.db.connection().execute(async (db) => {
      held += 1;
      if (held === count) all.resolve();
      await all.promise;
      await work(db);
    });
  await Promise.all(Array.from({ length: count }, hold));
}

type Prepared = { name: string; statement: string };

async function prepared(db: Db): Promise<Prepared[]> {
  const { rows } = await sql<Prepared>`select name, statement from pg_prepared_statements`.execute(
    db,
  );
  return rows;
}

test('a statement sent 20 times is prepared under one name on each connection, with the same rows', async () => {
  const names: string[] = [];
  await onConnections(3, async (db) => {
    for (let round = 0; round < 20; round += 1) {
      const { rows } = await sql<{ n: number; t: string }>`
        select ${round}::int + n as n, ${`t${round}`}::text as t
        from generate_series(1, 3) as n`.execute(db);
      const expected = [1, 2, 3].map((n) => ({ n: round + n, t: `t${round}` }));
      assert.deepEqual(rows, expected);
    }
    const found = (await prepared(db)).filter(({ statement }) =>
      statement.includes('generate_series'),
    );
    assert.equal(found.length, 1);
    names.push(...found.map(({ name }) => name));
  });
  assert.equal(names.length, 3);
  assert.equal(new Set(names).size, 1);
  assert.match(names[0] ?? '', /^[\w-]{22}$/);
});

test('null, arrays, bytes, JSON and times come through the same before and after', async () => {
  const values = [null, 'ü🎬', ['a', null, 'c'], Buffer.of(0, 255), new Date(0), '{"a":[1]}'];
  await onConnections(1, async (db) => {
    const answers: unknown[] = [];
    for (let round = 0; round < 8; round += 1) {
      const [none, text, list, bytes, moment, json] = values;
      const { rows } = await sql`
        select ${none}::text as none, ${text}::text as text, ${list}::text[] as list,
          ${bytes}::bytea as bytes, ${moment}::timestamptz as moment, ${json}::jsonb as json,
          9007199254740991::bigint as big`.execute(db);
      answers.push(rows);
    }
    assert.equal((await prepared(db)).length, 1);
    const [row] = answers[0] as Record<string, unknown>[];
    assert.deepEqual(Object.values(row ?? {}), [...values.slice(0, 5), { a: [1] }, 2 ** 53 - 1]);
    for (const answer of answers) assert.deepEqual(answer, answers[0]);
  });
});

test('an error of a prepared statement leaves connection and statement usable', async () => {
  await onConnections(1, async (db) => {
    for (let round = 0; round < 10; round += 1) {
      const divide = (by: number) => sql<{ n: number }>`select 10 / ${by}::int as n`.execute(db);
      await assert.rejects(divide(0), /division by zero/);
      assert.deepEqual((await divide(5)).rows, [{ n: 2 }]);
    }
    assert.equal((await prepared(db)).length, 1);
  });
});

test('statements that come once, and those without parameters, are not prepared', async () => {
  await onConnections(1, async (db) => {
    for (let round = 0; round < 50; round += 1) {
      await sql`select ${round}::int, ${sql.lit(round)}`.execute(db);
      await sql`select 1`.execute(db);
    }
    assert.deepEqual(await prepared(db), []);
  });
});

test('at most 200 statements are prepared, and the rest still answer', async () => {
  await onConnections(1, async (db) => {
    for (let text = 0; text < 230; text += 1) {
      for (let round = 0; round < 7; round += 1) {
        const { rows } = await sql<{
          n: number;
        }>`select ${round}::int + ${sql.lit(text)} as n`.execute(db);
        assert.deepEqual(rows, [{ n: round + text }]);
      }
    }
    assert.equal((await prepared(db)).length, 200);
  });
});

test('a table that changes under a prepared statement does not break it', async () => {
  await onConnections(1, async (db) => {
    await sql`create temp table shape (id int, name text)`.execute(db);
    const read = () => sql`select id, name from shape where id = ${1}::int`.execute(db);
    for (let round = 0; round < 8; round += 1) await read();
    await sql`alter table shape add column more text default 'x'`.execute(db);
    await sql`insert into shape values (1, 'a')`.execute(db);
    assert.deepEqual((await read()).rows, [{ id: 1, name: 'a' }]);
  });
});
