import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import { sql } from 'kysely';
import { inTransaction } from '../database/database.ts';
import { doublingDelay, retryDelayMs } from './job-definition.ts';
import { PayloadError } from './job-handler.ts';
import { removeClaimed } from './claim-queries.ts';
import { claimJob, claimStatement, promoteDueJobs } from './queries.ts';
import { add, jobRows, openQueueDatabase } from '../../../test/queue/queue.ts';
import { noteJob, type Note } from '../../../test/queue/queue-jobs.ts';
import { enqueue } from './queue.ts';
import { listFailedJobs, pruneFailedJobs, queueStats } from './queue-reports.ts';
import { until } from '../../../test/waiting.ts';

const job = noteJob('note');
const { db } = await openQueueDatabase();

beforeEach(async () => {
  await sql`truncate job, job_turn`.execute(db);
});

async function claim(after = '') {
  return claimJob(db, { name: 'note', after, worker: 'test', leaseMs: 15_000, except: [] });
}

describe('enqueue', () => {
  test('adds the job with the transaction of its cause, or not at all', async () => {
    const cause = inTransaction(db, async (tx) => {
      await enqueue(tx, job, { note: 'a' }, { organizationId: 'org_a' });
      throw new Error('the cause failed');
    });
    await assert.rejects(cause, /the cause failed/);
    assert.deepEqual(await jobRows(db), []);
    assert.equal(typeof (await add(db, job, 'a')), 'number');
  });

  test('refuses a payload that does not fit the schema, or is content', async () => {
    const wrong: unknown = JSON.parse('{"note":1}');
    const asNote = (value: unknown) => value as Note;
    const options = { organizationId: 'org_a' };
    await assert.rejects(
      inTransaction(db, (tx) => enqueue(tx, job, asNote(wrong), options)),
      (error) => error instanceof PayloadError && /\/note must be string/.test(error.message),
    );
    await assert.rejects(add(db, job, 'x'.repeat(9_000)), RangeError);
  });

  test('adds nothing while a live job has the unique key (invariant 8)', async () => {
    assert.notEqual(await add(db, job, 'a', { uniqueKey: 'k' }), null);
    assert.equal(await add(db, job, 'b', { uniqueKey: 'k' }), null, 'waiting');
    const { job: claimed } = await claim();
    assert.equal(await add(db, job, 'c', { uniqueKey: 'k' }), null, 'running');
    assert.notEqual(await add(db, job, 'd', { uniqueKey: 'k', organizationId: 'org_b' }), null);
    assert.notEqual(await add(db, noteJob('other'), 'e', { uniqueKey: 'k' }), null);
    assert.ok(claimed !== null && (await removeClaimed(db, claimed)));
    assert.notEqual(await add(db, job, 'f', { uniqueKey: 'k' }), null, 'gone');
  });

  test('waits for a finish under way and then adds, so that no job is lost between', async () => {
    await add(db, job, 'old', { uniqueKey: 'k' });
    const { job: claimed } = await claim();
    assert.ok(claimed !== null);
    let added: Promise<number | null> | undefined;
    await inTransaction(db, async (tx) => {
      await removeClaimed(tx, claimed);
      added = add(db, job, 'new', { uniqueKey: 'k' });
      const waiting = async () =>
        (
          await sql`select 1 from pg_stat_activity
            where datname = current_database() and wait_event_type = 'Lock'`.execute(db)
        ).rows.length;
      await until('the other to wait', waiting, (count) => count > 0);
    });
    assert.notEqual(await added, null);
  });

  test('keeps a scheduled job until its time by the clock of the database (invariant 4)', async () => {
    await add(db, job, 'later', { runAt: new Date(Date.now() + 3_600_000) });
    assert.equal(await promoteDueJobs(db, 10), 0);
    assert.equal((await claim()).job, null);
    await sql`update job set run_at = now()`.execute(db);
    assert.equal(await promoteDueJobs(db, 10), 1);
    assert.notEqual((await claim()).job, null);
  });
});

describe('the claim', () => {
  test('takes one job of B next, although A has a thousand older ones (invariant 6)', async () => {
    await sql`insert into job (organization_id, name, payload, state, run_at)
      select 'org_a', 'note', '{"note":"a"}', 'waiting', now() - interval '1 hour'
      from generate_series(1, 1000)`.execute(db);
    await add(db, job, 'b', { organizationId: 'org_b' });
    const order: (string | undefined)[] = [];
    for (let n = 0; n < 4; n += 1) order.push((await claim()).job?.organizationId);
    assert.deepEqual(order, ['org_a', 'org_b', 'org_a', 'org_a']);
  });

  test('gives each organization its turn where one job runs at a time (invariant 6)', async () => {
    for (let n = 0; n < 20; n += 1) await add(db, job, `${n}`);
    const order: (string | undefined)[] = [];
    for (let n = 0; n < 6; n += 1) {
      const { job: claimed } = await claim();
      order.push(claimed?.organizationId);
      assert.ok(claimed !== null && (await removeClaimed(db, claimed)));
      if (n === 0) await add(db, job, 'b', { organizationId: 'org_b' });
      if (n === 3) await add(db, job, 'b', { organizationId: 'org_b' });
    }
    assert.deepEqual(order, ['org_a', 'org_b', 'org_a', 'org_a', 'org_b', 'org_a']);
  });

  test('takes the longest due job among organizations with as many running', async () => {
    await add(db, job, 'a');
    await add(db, job, 'b', { organizationId: 'org_b', runAt: new Date(Date.now() - 60_000) });
    const { job: first } = await claim();
    assert.equal(first?.organizationId, 'org_b');
    assert.ok(first.waitedMs >= 60_000);
  });

  test('takes lower ranks of all organizations first, and short jobs before long ones (invariant 6)', async () => {
    await add(db, job, 'a further', { rank: 1 });
    await add(db, job, 'a long', { expectedMs: 600_000 });
    await add(db, job, 'a waited', { expectedMs: 600_000, runAt: new Date(Date.now() - 900_000) });
    await add(db, job, 'a short', { expectedMs: 10_000 });
    await add(db, job, 'b further', { organizationId: 'org_b', rank: 1 });
    await add(db, job, 'b first', { organizationId: 'org_b' });
    const order: unknown[] = [];
    for (let n = 0; n < 6; n += 1) {
      const { job: claimed } = await claim();
      order.push((claimed?.payload as Note | undefined)?.note);
      assert.ok(claimed !== null && (await removeClaimed(db, claimed)));
    }
    assert.deepEqual(order, ['a waited', 'b first', 'a short', 'a long', 'b further', 'a further']);
  });

  test('gives different jobs to simultaneous claims (invariant 2)', async () => {
    for (let n = 0; n < 20; n += 1) await add(db, job, `${n}`);
    const claims = await Promise.all(Array.from({ length: 20 }, () => claim()));
    const ids = claims.flatMap((result) => (result.job === null ? [] : [result.job.jobId]));
    assert.equal(new Set(ids).size, ids.length);
    assert.ok(ids.length > 0);
  });

  test('rotates through more organizations than one claim compares', async () => {
    await sql`insert into organization (organization_id, name)
      select 'org_many_' || lpad(n::text, 4, '0'), '' from generate_series(1, 700) n`.execute(db);
    await sql`insert into job (organization_id, name, payload, state)
      select organization_id, 'note', '{}', 'waiting' from organization`.execute(db);
    const rounds: { organizationId: string | undefined; isLast: boolean }[] = [];
    let after = '';
    for (let n = 0; n < 3; n += 1) {
      const result = await claim(after);
      after = result.nextAfter;
      rounds.push({ organizationId: result.job?.organizationId, isLast: after === '' });
    }
    assert.deepEqual(
      rounds.map((round) => round.isLast),
      [false, false, true],
      'three windows of 300, 300 and 102 organizations, then from the start',
    );
    assert.equal(new Set(rounds.map((round) => round.organizationId)).size, 3);
  });

  test('scans no whole table with 100,000 jobs waiting', async (t) => {
    await sql`insert into job (organization_id, name, payload, state)
      select 'org_a', 'note', '{}', 'waiting' from generate_series(1, 100000)`.execute(db);
    await add(db, job, 'b', { organizationId: 'org_b' });
    for (const statistics of ['absent', 'fresh']) {
      if (statistics === 'fresh') await sql`analyze job`.execute(db);
      const explained = await sql<{ 'QUERY PLAN': string }>`explain (analyze)
        ${claimStatement({ name: 'note', after: '', worker: 'test', leaseMs: 15_000, except: [] })}`.execute(
        db,
      );
      const plan = explained.rows.map((row) => row['QUERY PLAN']).join('\n');
      assert.doesNotMatch(plan, /Seq Scan on job\b/, plan);
      t.diagnostic(`statistics ${statistics}: ${/Execution Time.*/.exec(plan)?.[0] ?? ''}`);
    }
    const times: number[] = [];
    for (let n = 0; n < 100; n += 1) {
      const startedAt = performance.now();
      assert.notEqual((await claim()).job, null);
      times.push(performance.now() - startedAt);
    }
    const median = times.toSorted((a, b) => a - b)[50] ?? 0;
    t.diagnostic(`a claim with its round trip: median ${median.toFixed(2)} ms`);
    const startedAt = performance.now();
    await queueStats(db);
    t.diagnostic(`statistics of the queue: ${(performance.now() - startedAt).toFixed(1)} ms`);
  });
});

describe('reports', () => {
  test('count jobs by name and state, and know the age of the oldest due one', async () => {
    await add(db, job, 'a', { runAt: new Date(Date.now() - 60_000) });
    await add(db, job, 'a');
    await add(db, job, 'a', { runAt: new Date(Date.now() + 60_000) });
    await add(db, noteJob('other'), 'a');
    const stats = await queueStats(db);
    const brief = stats.map(({ name, state, jobs }) => `${name} ${state} ${jobs}`);
    assert.deepEqual(brief, ['note scheduled 1', 'note waiting 2', 'other waiting 1']);
    assert.equal(stats[0]?.oldestDueAgeMs, 0);
    assert.ok((stats[1]?.oldestDueAgeMs ?? 0) >= 60_000);
  });

  test('list failed jobs and delete them after 30 days', async () => {
    await sql`insert into job (organization_id, name, payload, state, attempts, last_error, failed_at)
      select 'org_a', 'note', '{"note":"a"}', 'failed', 3, 'broken', now() - age
      from unnest(array[interval '1 day', interval '29 days', interval '31 days']) age`.execute(db);
    const failedJobs = await listFailedJobs(db);
    assert.deepEqual(
      failedJobs.map(({ payload, lastError }) => [payload, lastError]),
      [1, 2, 3].map(() => [{ note: 'a' }, 'broken']),
    );
    assert.equal(await pruneFailedJobs(db, new AbortController().signal), 1);
    assert.equal((await listFailedJobs(db)).length, 2);
  });
});

describe('a definition', () => {
  test('without sound limits is refused at once', () => {
    assert.throws(() => noteJob('Wrong Name'), RangeError);
    assert.throws(() => noteJob('a', { timeoutMs: 0 }), RangeError);
    assert.throws(() => noteJob('a', { maxAttempts: 1.5 }), RangeError);
    assert.throws(() => noteJob('a', { concurrency: 0 }), RangeError);
  });

  test('has a delay that doubles up to its maximum, and never leaves its bounds', () => {
    const delayMs = doublingDelay(1_000, 5_000);
    assert.deepEqual([1, 2, 3, 4].map(delayMs), [1_000, 2_000, 4_000, 5_000]);
    assert.equal(retryDelayMs({ maxAttempts: 3, delayMs: () => -5 }, 1), 0);
    assert.equal(retryDelayMs({ maxAttempts: 3, delayMs: () => Infinity }, 1), 2_592_000_000);
  });
});
