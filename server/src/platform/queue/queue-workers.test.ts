import assert from 'node:assert/strict';
import { once } from 'node:events';
import { beforeEach, describe, test } from 'node:test';
import { sql } from 'kysely';
import { silentLog } from '../../../test/database.ts';
import type { HandledJob, JobContext } from './job-handler.ts';
import { done, failed, handle, JobAbortedError, LeaseLostError, skipped } from './job-handler.ts';
import {
  add,
  effects,
  eventually,
  jobRows,
  openQueueDatabase,
  queueIsEmpty,
} from '../../../test/queue/queue.ts';
import { noteJob, quickTiming, writeEffect } from '../../../test/queue/queue-jobs.ts';
import { startQueueWorkers, type AttemptReport, type QueueTiming } from './queue-workers.ts';
import { Hints } from '../hints/hints.ts';
import { StorageUnavailableError } from '../storage/storage-errors.ts';
import { pause, until } from '../../../test/waiting.ts';

const { db } = await openQueueDatabase();

beforeEach(async () => {
  await sql`truncate job, effect`.execute(db);
});

function start(jobs: HandledJob[], timing: Partial<QueueTiming> = {}) {
  const reports: AttemptReport[] = [];
  const hints = new Hints();
  const workers = startQueueWorkers({
    db,
    jobs,
    log: silentLog,
    hints,
    timing: { ...quickTiming, ...timing },
    onAttempt: (report) => reports.push(report),
  });
  const outcomes = () => reports.map((report) => report.outcome);
  return {
    hints,
    reports,
    outcomes,
    running: () => workers.running(),
    [Symbol.asyncDispose]: () => workers[Symbol.asyncDispose](),
  };
}

/** Resolves with the kind of the abort when the signal aborts. */
async function aborted(context: JobContext): Promise<string> {
  if (!context.signal.aborted) await once(context.signal, 'abort');
  const reason: unknown = context.signal.reason;
  return reason instanceof JobAbortedError ? reason.kind : 'not a JobAbortedError';
}

describe('workers', () => {
  test('of two processes never run one job twice, and each effect happens once (1, 2)', async () => {
    const job = noteJob('note', { concurrency: 3 });
    const underWay = new Set<number>();
    const handler = handle(job, async ({ note }, context) => {
      assert.ok(!underWay.has(context.jobId), 'no other handler has this job');
      underWay.add(context.jobId);
      await pause(Math.random() * 20, 'the work takes a moment');
      underWay.delete(context.jobId);
      await context.finish((tx) => writeEffect(tx, note));
      return done;
    });
    const notes = Array.from({ length: 120 }, (_, n) => `${n}`.padStart(3, '0'));
    for (const note of notes) await add(db, job, note);
    await using one = start([handler]);
    await using two = start([handler]);
    await eventually('all jobs are gone', queueIsEmpty(db));
    assert.deepEqual(await effects(db), notes);
    await eventually(
      'all attempts are reported',
      () => one.reports.length + two.reports.length === 120,
    );
    assert.ok([...one.outcomes(), ...two.outcomes()].every((outcome) => outcome === 'done'));
  });

  test('keep to the concurrency of each name, and serve organizations in turn (6)', async () => {
    const job = noteJob('note', { concurrency: 2 });
    let most = 0;
    let underWay = 0;
    const order: string[] = [];
    const handler = handle(job, async (_, context) => {
      order.push(context.organizationId);
      underWay += 1;
      most = Math.max(most, underWay);
      await pause(30, 'the work takes a moment');
      underWay -= 1;
      return done;
    });
    for (let n = 0; n < 10; n += 1) await add(db, job, 'a');
    for (let n = 0; n < 2; n += 1) await add(db, job, 'b', { organizationId: 'org_b' });
    await using workers = start([handler]);
    await eventually('all jobs are gone', queueIsEmpty(db));
    assert.equal(most, 2);
    assert.deepEqual(order.slice(0, 4).toSorted(), ['org_a', 'org_a', 'org_b', 'org_b']);
    assert.equal(workers.running().get('note'), 0);
  });

  test('leave a place to the next organization, where places are shared (6)', async () => {
    const job = noteJob('note', { concurrency: 16, sharesPlaces: true });
    const over = new AbortController();
    const started: string[] = [];
    const handler = handle(job, async (_, context) => {
      started.push(context.organizationId);
      if (!over.signal.aborted) await once(over.signal, 'abort');
      return done;
    });
    const count = (organizationId: string) => started.filter((id) => id === organizationId).length;
    const addTen = async (organizationId: string) => {
      for (let n = 0; n < 10; n += 1) await add(db, job, 'a', { organizationId });
    };
    await using workers = start([handler]);
    await addTen('org_a');
    await until(
      'a share of the places to be taken',
      () => count('org_a'),
      (taken) => taken === 4,
    );
    for (const organizationId of ['org_b', 'org_c', 'org_d', 'org_e', 'org_f']) {
      await addTen(organizationId);
      await until(
        'the newcomer to start',
        () => count(organizationId),
        (places) => places > 0,
      );
    }
    assert.ok(started.length < 16);
    assert.equal(count('org_a'), 4);
    over.abort();
    await eventually('all jobs are gone', queueIsEmpty(db));
    await eventually('all attempts are over', () => workers.running().get('note') === 0);
  });

  test('start a job at once when they are nudged', async () => {
    const job = noteJob('note');
    const handler = handle(job, async () => done);
    await using workers = start([handler], { pollEveryMs: 60_000 });
    await pause(100, 'the workers have looked and found nothing');
    await add(db, job, 'a');
    workers.hints.give('note');
    await eventually('the job is gone', queueIsEmpty(db), 2_000);
  });

  test('remove a job that was skipped or answered done without finish', async () => {
    const job = noteJob('note');
    const handler = handle(job, async ({ note }) => (note === 'a' ? done : skipped('deleted')));
    await add(db, job, 'a');
    await add(db, job, 'b');
    await using workers = start([handler]);
    await eventually('all jobs are gone', queueIsEmpty(db));
    await eventually('two reports', () => workers.reports.length === 2);
    assert.deepEqual(workers.outcomes(), ['done', 'skipped']);
  });

  test('refuse two handlers for one name', () => {
    const handler = handle(noteJob('note'), async () => done);
    assert.throws(() => start([handler, handler]), RangeError);
  });
});

describe('a failing job', () => {
  test('is tried again at its delays, and then fails with its onExhausted (3)', async () => {
    const job = noteJob('note', { maxAttempts: 3, delayMs: 400 });
    const startedAt: number[] = [];
    const handler = handle(job, async () => {
      startedAt.push(performance.now());
      throw new Error(`broken ${startedAt.length}`);
    });
    await add(db, job, 'a');
    await using workers = start([handler]);
    await eventually('the job has failed', async () => (await jobRows(db))[0]?.state === 'failed');
    const [row] = await jobRows(db);
    assert.deepEqual([row?.attempts, row?.last_error], [3, 'broken 3']);
    assert.deepEqual(await effects(db), ['a failed: broken 3']);
    await eventually('three reports', () => workers.reports.length === 3);
    assert.deepEqual(workers.outcomes(), ['retry', 'retry', 'failed']);
    const gaps = startedAt.slice(1).map((at, n) => at - (startedAt[n] ?? 0));
    for (const gap of gaps) assert.ok(gap >= 400, `a gap of ${gap} ms`);
  });

  test('is not tried again when its answer says so', async () => {
    const job = noteJob('note', { maxAttempts: 5 });
    const handler = handle(job, async () => failed('not a video', { retryable: false }));
    await add(db, job, 'a');
    await using workers = start([handler]);
    await eventually('the job has failed', async () => (await jobRows(db))[0]?.state === 'failed');
    assert.equal((await jobRows(db))[0]?.attempts, 1);
    assert.deepEqual(await effects(db), ['a failed: not a video']);
    await workers[Symbol.asyncDispose]();
  });

  test('is aborted at its timeout, which counts as an attempt', async () => {
    const job = noteJob('note', { maxAttempts: 2, timeoutMs: 100 });
    const kinds: string[] = [];
    const handler = handle(job, async (_, context) => {
      kinds.push(await aborted(context));
      throw context.signal.reason;
    });
    await add(db, job, 'a');
    await using workers = start([handler]);
    await eventually('the job has failed', async () => (await jobRows(db))[0]?.state === 'failed');
    assert.deepEqual(kinds, ['timeout', 'timeout']);
    assert.deepEqual(await effects(db), ['a failed: timed out after 100 ms']);
    await workers[Symbol.asyncDispose]();
  });

  test('releases its slot although its handler ignores the signal; a late finish writes nothing (1)', async () => {
    const job = noteJob('note', { maxAttempts: 1, timeoutMs: 50 });
    const late: unknown[] = [];
    const handler = handle(job, async ({ note }, context) => {
      if (note === 'next') return done;
      await pause(800, 'the handler ignores the signal');
      const finish = context.finish((tx) => writeEffect(tx, 'too late'));
      await finish.catch((error: unknown) => late.push(error));
      return done;
    });
    await add(db, job, 'a');
    await add(db, job, 'next');
    await using workers = start([handler], { graceMs: 200 });
    await eventually('the next has run', async () => (await jobRows(db)).length === 1);
    await eventually('the late finish was refused', () => late.length === 1);
    assert.ok(late[0] instanceof LeaseLostError);
    assert.equal((await effects(db)).length, 1, 'only onExhausted');
    await workers[Symbol.asyncDispose]();
  });

  test('with an invalid payload is kept with the reason', async () => {
    const job = noteJob('note', { maxAttempts: 1 });
    await sql`insert into job (organization_id, name, payload, state)
      values ('org_a', 'note', '{"wrong":1}', 'waiting')`.execute(db);
    await using workers = start([handle(job, async () => done)]);
    await eventually('the job has failed', async () => (await jobRows(db))[0]?.state === 'failed');
    assert.match((await jobRows(db))[0]?.last_error ?? '', /payload of note is not valid/);
    await eventually('six reports', () => workers.reports.length === 6);
    const before = workers.outcomes().slice(0, 5);
    assert.ok(
      before.every((outcome) => outcome === 'retry'),
      'five more tries of onExhausted (3)',
    );
  });
});

describe('finish', () => {
  test('whose lease was lost writes nothing and says so (1)', async () => {
    const job = noteJob('note');
    const errors: unknown[] = [];
    const handler = handle(job, async (_, context) => {
      // Simulates a claim by another worker, as after an outage longer than the lease.
      await sql`update job set claim_id = gen_random_uuid()`.execute(db);
      await context
        .finish((tx) => writeEffect(tx, 'must not be'))
        .catch((error: unknown) => errors.push(error));
      return done;
    });
    await add(db, job, 'a');
    await using workers = start([handler]);
    await eventually('it is reported', () => workers.reports.length === 1);
    assert.deepEqual(workers.outcomes(), ['lost']);
    assert.ok(errors[0] instanceof LeaseLostError);
    assert.deepEqual(await effects(db), []);
    assert.equal((await jobRows(db)).length, 1, 'the job belongs to the other claim');
  });

  test('that throws leaves the job unchanged, even if the handler ignores the error', async () => {
    const job = noteJob('note', { maxAttempts: 2 });
    const handler = handle(job, async ({ note }, context) => {
      const finish = context.finish(async (tx) => {
        await writeEffect(tx, note);
        if (context.attempt === 1) throw new Error('the effect failed');
      });
      await finish.catch(() => undefined);
      return done;
    });
    await add(db, job, 'a');
    await using workers = start([handler]);
    await eventually('the job is gone', queueIsEmpty(db));
    await eventually('two reports', () => workers.reports.length === 2);
    assert.deepEqual(workers.outcomes(), ['retry', 'done']);
    assert.deepEqual(await effects(db), ['a']);
  });

  test('that is not awaited is waited for, and a second one is refused', async () => {
    const job = noteJob('note');
    const refusals: unknown[] = [];
    const handler = handle(job, async ({ note }, context) => {
      void context.finish(async (tx) => {
        await pause(100, 'the finish takes a moment');
        await writeEffect(tx, note);
      });
      const second = context.finish((tx) => writeEffect(tx, 'second'));
      await second.catch((error: unknown) => refusals.push(error));
      return done;
    });
    await add(db, job, 'a');
    await using workers = start([handler]);
    await eventually('the job is gone', queueIsEmpty(db));
    await eventually('it is reported', () => workers.reports.length === 1);
    assert.deepEqual([workers.outcomes(), await effects(db)], [['done'], ['a']]);
    assert.match(String(refusals[0]), /finish was called twice/);
  });

  test('that takes longer than the lease keeps it by its lock, and does not delay renewals (1)', async () => {
    const job = noteJob('note', { concurrency: 2 });
    const handler = handle(job, async ({ note }, context) => {
      const slowly = () => pause(2_000, 'longer than the lease');
      if (note === 'slow handler') await slowly();
      await context.finish(async (tx) => {
        await writeEffect(tx, `${note} ${context.attempt}`);
        if (note === 'slow finish') await slowly();
      });
      return done;
    });
    await add(db, job, 'slow finish');
    await add(db, job, 'slow handler');
    await using one = start([handler], { leaseMs: 600, renewEveryMs: 100 });
    await eventually('both run', () => one.running().get('note') === 2);
    await using two = start([handler], { leaseMs: 600, renewEveryMs: 100 });
    await eventually('the jobs are gone', queueIsEmpty(db));
    assert.deepEqual(await effects(db), ['slow finish 1', 'slow handler 1']);
    await eventually('two reports', () => one.reports.length + two.reports.length === 2);
  });
});

describe('a lease', () => {
  test('is kept by a handler that runs for much longer', async () => {
    const job = noteJob('note');
    const handler = handle(job, async ({ note }, context) => {
      await pause(2_500, 'much longer than the lease');
      await context.finish((tx) => writeEffect(tx, `${note} ${context.attempt}`));
      return done;
    });
    await add(db, job, 'a');
    const timing = { leaseMs: 800, renewEveryMs: 200 };
    await using one = start([handler], timing);
    await using two = start([handler], timing);
    await eventually('the job is gone', queueIsEmpty(db));
    assert.deepEqual(await effects(db), ['a 1']);
    await eventually('one report', () => one.reports.length + two.reports.length === 1);
  });

  test('that is lost aborts the handler (2)', async () => {
    const job = noteJob('note');
    const kinds: string[] = [];
    const handler = handle(job, async (_, context) => {
      if (context.attempt > 1) return done;
      await sql`update job set state = 'waiting', lease_until = null`.execute(db);
      kinds.push(await aborted(context));
      return done;
    });
    await add(db, job, 'a');
    await using workers = start([handler]);
    await eventually('it is reported', () => workers.outcomes().includes('lost'));
    assert.deepEqual(kinds, ['lease_lost']);
    await eventually('the other claim has removed the job', queueIsEmpty(db));
  });
});

test('while the media storage is away, a job waits and no attempt is counted', async () => {
  const job = noteJob('note', { maxAttempts: 1 });
  const handler = handle(job, async () => {
    throw new StorageUnavailableError('S3: the bucket is out of reach');
  });
  await add(db, job, 'a');
  await using workers = start([handler]);
  await eventually('it is reported', () => workers.outcomes().includes('retry'));
  const [row] = await jobRows(db);
  assert.deepEqual([row?.state, row?.attempts], ['scheduled', 0]);
  assert.equal(row?.last_error, 'S3: the bucket is out of reach');
  assert.ok((row?.run_at.getTime() ?? 0) > Date.now() + 5_000);
});

describe('shutdown', () => {
  test('releases the job uncounted, and another process takes over at once', async () => {
    const job = noteJob('note', { maxAttempts: 1 });
    const kinds: string[] = [];
    const slow = handle(job, async (_, context) => {
      kinds.push(await aborted(context));
      throw context.signal.reason;
    });
    const quick = handle(job, async ({ note }, context) => {
      await context.finish((tx) => writeEffect(tx, `${note} ${context.attempt}`));
      return done;
    });
    await add(db, job, 'a');
    const first = start([slow]);
    await eventually('it runs', () => first.running().get('note') === 1);
    const startedAt = performance.now();
    await first[Symbol.asyncDispose]();
    assert.ok(performance.now() - startedAt < 5_000);
    assert.deepEqual([kinds, first.outcomes()], [['shutdown'], ['released']]);
    const [row] = await jobRows(db);
    assert.deepEqual([row?.state, row?.attempts], ['waiting', 0]);
    await using second = start([quick]);
    await eventually('the job is gone', queueIsEmpty(db), 2_000);
    assert.deepEqual(await effects(db), ['a 1']);
    await second[Symbol.asyncDispose]();
  });

  test('lets a handler end within the grace, and releases one that does not', async () => {
    const job = noteJob('note', { concurrency: 2 });
    const handler = handle(job, async ({ note }, context) => {
      await aborted(context);
      await pause(note === 'short' ? 100 : 5_000, 'within the grace, or not');
      await context.finish((tx) => writeEffect(tx, note)).catch(() => undefined);
      return done;
    });
    await add(db, job, 'short');
    await add(db, job, 'long');
    const workers = start([handler], { graceMs: 500 });
    await eventually('both run', () => workers.running().get('note') === 2);
    await workers[Symbol.asyncDispose]();
    assert.deepEqual(workers.outcomes(), ['done', 'released']);
    assert.deepEqual(await effects(db), ['short']);
    assert.deepEqual(
      (await jobRows(db)).map((row) => [row.state, row.attempts]),
      [['waiting', 0]],
    );
  });
});
