import assert from 'node:assert/strict';
import { after, beforeEach, describe, test } from 'node:test';
import { sql } from 'kysely';
import { cloneDatabase, silentLog } from '../../../../test/database.ts';
import { openCountedLine } from '../../../../test/round-trips.ts';
import { inTransaction, openDatabase, sendAhead, type Tx } from '../database.ts';
import { sqlState } from '../database-errors.ts';
import { until } from '../../../../test/waiting.ts';

const line = await openCountedLine(await cloneDatabase());
const database = openDatabase({ connection: line.connection, poolSize: 3, log: silentLog });
after(() => database[Symbol.asyncDispose]());
const { db } = database;
await sql`create table note (text text primary key, place int generated always as identity)`.execute(
  db,
);

beforeEach(async () => {
  await sql`truncate note`.execute(db);
  line.transactions();
});

async function notes(): Promise<string[]> {
  const { rows } = await sql<{ text: string }>`select text from note order by place`.execute(db);
  return rows.map((row) => row.text);
}

function insert(text: string) {
  return sql<{ text: string }>`insert into note (text) values (${text}) returning text`;
}

async function write(tx: Tx, text: string): Promise<void> {
  await insert(text).execute(tx);
}

describe('round trips', () => {
  test('begin travels with the first statement', async () => {
    await inTransaction(db, async (tx) => {
      await write(tx, 'a');
      await write(tx, 'b');
    });
    assert.deepEqual(await notes(), ['a', 'b']);
    const [trips = []] = line.transactions();
    assert.deepEqual(
      trips.map((trip) => trip.map((text) => text.split(' ')[0])),
      [['begin', 'insert'], ['insert'], ['commit']],
    );
  });

  test('what is sent ahead travels with the next statement, or with the commit', async () => {
    const seen = await inTransaction(db, async (tx) => {
      const first = await sendAhead(tx, insert('a').compile(tx));
      const { rows } = await sql<{ n: number }>`select count(*) as n from note`.execute(tx);
      await sendAhead(tx, insert('b').compile(tx));
      return { n: rows[0]?.n, first: (await first.result).rows };
    });
    assert.deepEqual(seen, { n: 1, first: [{ text: 'a' }] });
    assert.deepEqual(await notes(), ['a', 'b']);
    const [trips = []] = line.transactions();
    assert.deepEqual(
      trips.map((trip) => trip.length),
      [3, 2],
    );
  });

  test('a transaction that asks nothing sends nothing', async () => {
    await inTransaction(db, async () => undefined);
    await assert.rejects(
      inTransaction(db, async () => {
        throw new Error('no');
      }),
      /no/,
    );
    assert.deepEqual(line.transactions(), []);
  });
});

describe('failures', () => {
  test('of the first statement leave nothing and a usable connection', async () => {
    await write(db as Tx, 'taken');
    await assert.rejects(
      inTransaction(db, (tx) => write(tx, 'taken')),
      (error: Error) =>
        sqlState(error) === '23505' && /inTransaction|driver/.test(error.stack ?? ''),
    );
    await inTransaction(db, (tx) => write(tx, 'next'));
    assert.deepEqual(await notes(), ['taken', 'next']);
  });

  test('of what was sent ahead keep the statement behind it from running', async () => {
    await write(db as Tx, 'taken');
    const result = inTransaction(db, async (tx) => {
      const ahead = await sendAhead(tx, insert('taken').compile(tx));
      await assert.rejects(write(tx, 'never'), (error) => sqlState(error) === '23505');
      await assert.rejects(ahead.result, (error) => sqlState(error) === '23505');
    });
    await assert.rejects(result, 'a transaction that has failed is never reported as committed');
    assert.deepEqual(await notes(), ['taken']);
  });

  test('of what was sent ahead of the commit undo the whole transaction', async () => {
    await write(db as Tx, 'taken');
    await assert.rejects(
      inTransaction(db, async (tx) => {
        await write(tx, 'undone');
        await sendAhead(tx, insert('taken').compile(tx));
      }),
      (error) => sqlState(error) === '23505',
    );
    assert.deepEqual(await notes(), ['taken']);
  });

  test('of a value that cannot be sent undo the transaction, and the connection continues', async () => {
    const endless: Record<string, unknown> = {};
    endless['self'] = endless;
    await assert.rejects(
      inTransaction(db, async (tx) => {
        await sendAhead(tx, insert('undone').compile(tx));
        await sql`select ${endless}::jsonb`.execute(tx);
      }),
      /circular/i,
    );
    await inTransaction(db, (tx) => write(tx, 'next'));
    assert.deepEqual(await notes(), ['next']);
  });

  test('a deadlock is tried again, with everything that was sent ahead', async () => {
    await inTransaction(db, async (tx) => {
      await write(tx, 'a');
      await write(tx, 'b');
    });
    const touch = (first: string, second: string, mark: string) =>
      inTransaction(db, async (tx) => {
        await sendAhead(
          tx,
          sql`select text from note where text = ${first} for update`.compile(tx),
        );
        await sql`select pg_sleep(0.2)`.execute(tx);
        await sql`select text from note where text = ${second} for update`.execute(tx);
        await write(tx, mark);
      });
    await Promise.all([touch('a', 'b', 'one'), touch('b', 'a', 'two')]);
    assert.deepEqual((await notes()).toSorted(), ['a', 'b', 'one', 'two']);
  });

  test('a connection that ends between two statements ends the transaction, not the process', async () => {
    await assert.rejects(
      inTransaction(db, async (tx) => {
        await write(tx, 'undone');
        const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(tx);
        const pid = rows[0]?.pid;
        await sql`select pg_terminate_backend(${pid})`.execute(db);
        const alive = async () =>
          (await sql`select 1 from pg_stat_activity where pid = ${pid}`.execute(db)).rows.length;
        await until('the end of the connection', alive, (count) => count === 0);
        await write(tx, 'never');
      }),
    );
    await inTransaction(db, (tx) => write(tx, 'next'));
    assert.deepEqual(await notes(), ['next']);
  });
});

describe('statements that are sent often', () => {
  test('are prepared, also behind begin and ahead of others', async () => {
    for (let n = 0; n < 10; n += 1) {
      await inTransaction(db, async (tx) => {
        const ahead = await sendAhead(tx, sql`select ${n}::integer as n`.compile(tx));
        await write(tx, `note ${n}`);
        assert.deepEqual((await ahead.result).rows, [{ n }]);
      });
    }
    const last = line.transactions().at(-1) ?? [];
    assert.deepEqual(last[0], ['begin'], 'nothing but begin was parsed');
    assert.equal((await notes()).length, 10);
  });

  test('survive failures before, at and behind their first parsing', async () => {
    const mark = sql.raw(`/* ${Math.random()} */`);
    const divide = (n: number) => sql`select 1 / ${n}::integer as n ${mark}`;
    const behind = (n: number) => sql`select ${n}::integer + 1 as n ${mark}`;
    for (let n = 0; n < 30; n += 1) {
      // Every third time, the first statement fails, and with it the one that follows.
      const result = inTransaction(db, async (tx) => {
        await sendAhead(tx, divide(n % 3).compile(tx));
        return (await behind(n).execute(tx)).rows;
      });
      if (n % 3 === 0) await assert.rejects(result, (error) => sqlState(error) === '22012');
      else assert.deepEqual(await result, [{ n: n + 1 }]);
    }
  });
});
