import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { openTestDatabase, silentLog } from '../../../test/database.ts';
import { eventually } from '../../../test/service.ts';
import { Hints } from './hints.ts';
import { followSharedHint, shareHint } from './shared-hints.ts';

const { db, connection } = await openTestDatabase();
const name = 'something-is-due';

/** A process that receives hints. */
async function listen(id: string) {
  const heard = { count: 0 };
  const ending = new AbortController();
  let isListening = false;
  const done = followSharedHint(
    {
      connection,
      log: silentLog,
      name,
      id,
      onHint: () => (heard.count += 1),
      onListening: () => (isListening = true),
    },
    ending.signal,
  );
  const ready = () => eventually('it listens', async () => (isListening ? true : null));
  await ready();
  heard.count = 0;
  const end = async () => {
    ending.abort();
    await done;
  };
  return { heard, end, ready, lost: () => (isListening = false) };
}

test('a hint reaches other processes and not its own; many hints are few notifications', async () => {
  const hints = new Hints();
  const stop = shareHint(db, hints, name, 'a');
  const own = await listen('a');
  const other = await listen('b');
  hints.give(name);
  await eventually('the hint', async () => (other.heard.count === 1 ? true : null));
  for (let n = 0; n < 1_000; n += 1) hints.give(name);
  await eventually('the hints', async () => (other.heard.count >= 2 ? true : null));
  assert.ok(other.heard.count <= 10, `${other.heard.count} notifications`);
  assert.equal(own.heard.count, 0);
  stop();
  await own.end();
  await other.end();
});

test('a connection that breaks is opened again', async () => {
  const listener = await listen('b');
  listener.lost();
  await sql`select pg_terminate_backend(pid) from pg_stat_activity
    where application_name = 'reelfeed-hints' and datname = current_database()`.execute(db);
  await listener.ready();
  assert.ok(listener.heard.count >= 1, 'what it may have missed counts as a hint');
  await listener.end();
});
