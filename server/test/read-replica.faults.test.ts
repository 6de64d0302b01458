/**
 * The service with a streaming replica for reports: reports come from the replica and state their
 * age. While it lags or is away, the primary is used, and nobody misses their own writes.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { openDatabase } from '../src/platform/database/database.ts';
import { openReplica } from '../src/platform/database/read-replica.ts';
import { silentLog } from './database.ts';
import { createFirstItem } from './event-journal.ts';
import { sampleEvent } from './event-samples.ts';
import { startInstance, stopInstance, type Instance } from './killable-service.ts';
import { run } from './outside-postgres.ts';
import { hasReplication, startPostgresPair } from './postgres-pair.ts';
import { temporaryFolder } from './service.ts';
import { until } from './waiting.ts';

const options = { skip: hasReplication ? false : 'needs the programs of an installed PostgreSQL' };
const maxLagMs = 4_000;

async function readOverview({ call }: Instance): Promise<{ likes: number; asOfMs: number }> {
  const { status, body } = await call('GET', '/v1/analytics/overview');
  assert.equal(status, 200, JSON.stringify(body));
  return { likes: body.data.summary.likes, asOfMs: Date.parse(body.meta.asOf) };
}

async function readReady({ url }: Instance): Promise<string> {
  const answer = await fetch(`${url}/readyz`);
  assert.equal(answer.status, 200, 'the service is ready whatever the replica does');
  return String(((await answer.json()) as { readReplica?: string }).readReplica);
}

async function awaitReplica(instance: Instance, what: 'used' | 'behind' | 'away'): Promise<void> {
  await until(
    `the replica to be ${what}`,
    () => readReady(instance),
    (text) => text.startsWith(what),
  );
}

test('reports come from the replica while it is close enough', options, async () => {
  const pair = await startPostgresPair({ isSynchronous: false });
  const onReplica = (statement: string) => run(pair.urlOf(1), statement);
  const instance = await startInstance(await temporaryFolder(), {
    DATABASE_URL: pair.urlOf(0),
    REELFEED_DATABASE_READ_URL: pair.urlOf(1),
    REELFEED_DATABASE_READ_MAX_LAG: `${maxLagMs}ms`,
  });
  const { process: running, url, call } = instance;
  const { key, contentId } = await createFirstItem({ url, output: running.output.stdout });
  const like = async () => {
    const { status } = await call('POST', '/v1/events/batch', {
      key,
      body: { events: [sampleEvent('like', contentId)] },
    });
    assert.equal(status, 200);
    return Date.now();
  };
  const awaitLikes = (likes: number) =>
    until(
      `${likes} likes`,
      () => readOverview(instance),
      (overview) => overview.likes === likes,
    );
  await awaitReplica(instance, 'used');
  await like();
  await awaitLikes(1);

  // The replica is paused: reports state how old they are.
  await onReplica('select pg_wal_replay_pause()');
  const answeredAt = await like();
  const pausedAt = performance.now();
  await until(
    'the primary to have counted the second like',
    () => run(pair.urlOf(0), `select 1 from projection where name = 'engagement' and events >= 2`),
    (rows) => rows.length === 1,
  );
  const old = await readOverview(instance);
  assert.ok(performance.now() - pausedAt < maxLagMs, 'this machine is too slow for this test');
  assert.equal(old.likes, 1, 'the replica answered');
  assert.ok(old.asOfMs < answeredAt, 'asOf tells its lag');
  // Rows that the replica lacks are read from the primary.
  const made = await call('POST', '/v1/content/upload', { body: { title: 'New' } });
  const item = await call('GET', `/v1/analytics/content/${made.body.data.id}`);
  assert.equal(item.status, 200, 'an item that the replica does not know yet');

  // Too far behind: the primary is used.
  await awaitReplica(instance, 'behind');
  assert.equal((await readOverview(instance)).likes, 2);
  const metrics = await (await fetch(`${url}/metrics`)).text();
  assert.match(metrics, /db_read_replica_state\{state="behind"\} 1/);
  await onReplica('select pg_wal_replay_resume()');
  await awaitReplica(instance, 'used');
  await awaitLikes(2);

  // Replica away: no report fails in the meantime.
  let reports = 0;
  const stopping = new AbortController();
  const reading = (async () => {
    while (!stopping.signal.aborted) {
      await readOverview(instance);
      reports += 1;
    }
  })();
  pair.kill(1);
  await awaitReplica(instance, 'away');
  await like();
  await awaitLikes(3);
  await pair.restart(1);
  await awaitReplica(instance, 'used');
  await awaitLikes(3);
  stopping.abort();
  await reading;
  assert.ok(reports > 0);
  await stopInstance(instance);
});

test('reads that must be current wait for the replica, or use the primary', options, async () => {
  const pair = await startPostgresPair({ isSynchronous: false });
  const connection = { url: pair.urlOf(0) };
  await using primary = openDatabase({ connection, poolSize: 2, log: silentLog });
  await using reads = await openReplica({
    primary: primary.db,
    url: pair.urlOf(1),
    maxLagMs: 60_000,
    poolSize: 2,
    log: silentLog,
  });
  await until(
    'the replica to be used',
    () => reads.state()?.is,
    (is) => is === 'used',
  );
  await run(pair.urlOf(0), 'create table probe as select 1 as value');
  const fresh = await reads.upToDate();
  assert.notEqual(fresh, primary.db, 'the replica');
  const read = async (db: typeof fresh) =>
    (await sql<{ value: number }>`select value from probe`.execute(db)).rows[0]?.value;
  assert.equal(await read(fresh), 1);
  await assert.rejects(sql`update probe set value = 0`.execute(fresh), /read-only transaction/);
  await run(pair.urlOf(1), 'select pg_wal_replay_pause()');
  await run(pair.urlOf(0), 'update probe set value = 2');
  assert.equal(await reads.read(read), 1, 'a heavy read takes what the replica has');
  assert.equal(await reads.upToDate(), primary.db);
  await run(pair.urlOf(0), 'create table later as select 3 as value');
  const later = await reads.read(
    async (db) =>
      (await sql<{ value: number }>`select value from later`.execute(db)).rows[0]?.value,
  );
  assert.equal(later, 3, 'what fails on the replica is asked of the primary');
});
