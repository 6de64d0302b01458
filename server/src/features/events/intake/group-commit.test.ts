import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, test } from 'node:test';
import { openTestDatabase, silentLog } from '../../../../test/database.ts';
import { ApiError } from '../../../platform/http/errors.ts';
import type { LogPosition } from '../../../platform/event-log/event-log.ts';
import { openEventLog, type LoggedEvent } from '../events.ts';
import { GroupCommit, type FlushReport, type GroupCommitOptions } from './group-commit.ts';
import { pause, until } from '../../../../test/waiting.ts';

const { db } = await openTestDatabase();
const eventLog = openEventLog(db);

function event(fields: Partial<LoggedEvent> = {}): LoggedEvent {
  return {
    eventId: randomUUID(),
    event: 'like',
    contentId: '0198c0de-0000-7000-8000-000000000000',
    at: 1,
    data: {},
    ...fields,
  };
}

const events = (count: number) => Array.from({ length: count }, () => event());

function openCommit(options: Partial<GroupCommitOptions> = {}) {
  const reports: FlushReport[] = [];
  const poison: LoggedEvent[] = [];
  const commit = new GroupCommit({
    log: silentLog,
    append: (drafts) => eventLog.append(drafts),
    onFlush: (report) => reports.push(report),
    onPoison: (_error, one) => poison.push(one),
    ...options,
  });
  return { commit, reports, poison };
}

async function storedSince(start: LogPosition): Promise<string[]> {
  const page = await eventLog.read(start, { limitBlocks: 10_000, limitEvents: 1_000_000 });
  assert.ok(page.isLast);
  return page.blocks.flatMap((block) => block.events.map(({ eventId }) => eventId)).toSorted();
}

/** Waits until this many flushes are in progress. */
async function flushes(commit: GroupCommit, count: number): Promise<void> {
  await until(
    'flushes',
    () => commit.depth().flushes,
    (flushes) => flushes >= count,
  );
}

const ids = (sent: readonly LoggedEvent[]) => sent.map(({ eventId }) => eventId).toSorted();

/** An event whose block cannot be written, as a bug in the service might produce. */
const impossible = () => event({ data: { big: 10n } });

describe('a request is answered after its events are durable (1, 3)', () => {
  test('requests at the same time share a flush, one block for each organization', async () => {
    const start = await eventLog.end();
    const { commit, reports } = openCommit();
    const sent = events(30);
    await Promise.all(
      sent.map((one, n) => commit.submit(n % 3 === 0 ? 'org_a' : 'org_b', [one], 100)),
    );
    assert.deepEqual(await storedSince(start), ids(sent));
    assert.equal(reports.length, 1);
    assert.deepEqual(
      reports[0]?.drafts.map((draft) => draft.events.length),
      [10, 20],
    );
  });

  test('nothing is answered before its commit, and at most two flushes are under way', async () => {
    let running = 0;
    let most = 0;
    const { commit, reports } = openCommit({
      async append(drafts) {
        running += 1;
        most = Math.max(most, running);
        await pause(20, 'the disk is slow');
        const added = await eventLog.append(drafts);
        running -= 1;
        return added;
      },
      limits: { flushEvents: 50, maxWaitingEvents: 100_000 },
    });
    const start = await eventLog.end();
    const sent = Array.from({ length: 60 }, () => events(10));
    await Promise.all(
      sent.map(async (some) => {
        await commit.submit('org_a', some, 1_000);
        const stored = new Set(await storedSince(start));
        assert.ok(some.every(({ eventId }) => stored.has(eventId)));
      }),
    );
    assert.equal(most, 2);
    assert.ok(reports.every(({ drafts }) => (drafts[0]?.events.length ?? 0) <= 60));
    assert.deepEqual(commit.depth(), { events: 0, bytes: 0, flushes: 0 });
  });

  test('the first of an idle process goes at once, and what comes beside it soon', async () => {
    const slow = Promise.withResolvers<void>();
    const { commit } = openCommit({
      async append(drafts) {
        await slow.promise;
        return eventLog.append(drafts);
      },
    });
    const first = commit.submit('org_a', events(1), 100);
    await flushes(commit, 1);
    const second = commit.submit('org_a', events(1), 100);
    // The second does not wait for the first to finish.
    await flushes(commit, 2);
    slow.resolve();
    await Promise.all([first, second]);
  });
});

test('a database that does not respond is 503 after a while, also for waiting requests (5)', async () => {
  const hang = Promise.withResolvers<void>();
  const { commit } = openCommit({
    async append(drafts) {
      await hang.promise;
      return eventLog.append(drafts);
    },
    limits: { maxWaitMs: 1_000, maxFlushes: 1, flushEvents: 1 },
  });
  const start = await eventLog.end();
  const sent = events(3);
  const early = sent.map((one) => commit.submit('org_a', [one], 100));
  await pause(600, 'the late one comes late');
  const late = commit.submit('org_a', events(1), 100);
  for (const one of early) {
    await assert.rejects(one, (error: ApiError) => {
      assert.deepEqual([error.code, error.headers], ['UNAVAILABLE', { 'retry-after': '2' }]);
      return true;
    });
  }
  assert.deepEqual(commit.depth(), { events: 1, bytes: 100, flushes: 1 }, 'the later one may wait');
  hang.resolve();
  assert.equal((await late).size, 0);
  assert.equal(
    (await storedSince(start)).length,
    2,
    'the first was under way, the last came later',
  );
  await Promise.all(sent.map((one) => commit.submit('org_a', [one], 100)));
  assert.equal((await storedSince(start)).length, 4, 'sent again, each counts once');
});

describe('waiting requests are bounded (2)', () => {
  const stuck = () => {
    const gate = Promise.withResolvers<void>();
    const opened = openCommit({
      async append(drafts) {
        await gate.promise;
        return eventLog.append(drafts);
      },
      limits: { flushEvents: 10, maxWaitingEvents: 100, maxWaitingBytes: 50_000 },
    });
    return { ...opened, gate };
  };

  const isOverload = (error: unknown) =>
    error instanceof ApiError && error.statusCode === 503 && error.headers['retry-after'] === '1';

  test('by events: what comes beyond is refused at once, what was taken is stored', async () => {
    const start = await eventLog.end();
    const { commit, gate } = stuck();
    const taken: Promise<unknown>[] = [];
    const sent: LoggedEvent[] = [];
    let refused = 0;
    for (let n = 0; n < 50; n += 1) {
      const some = events(10);
      const submitted = commit.submit('org_a', some, 10).then(
        () => sent.push(...some),
        (error: unknown) => {
          assert.ok(isOverload(error));
          refused += 1;
        },
      );
      taken.push(submitted);
      await pause(1, 'requests come one after another');
    }
    // Two flushes of ten and a hundred waiting.
    assert.equal(refused, 50 - 12);
    gate.resolve();
    await Promise.all(taken);
    assert.deepEqual(await storedSince(start), ids(sent));
    assert.equal(sent.length, 120);
  });

  test('by bytes', async () => {
    const { commit, gate } = stuck();
    const first = commit.submit('org_a', events(1), 49_000);
    await assert.rejects(commit.submit('org_a', events(1), 2_000), isOverload);
    gate.resolve();
    await first;
    await commit.submit('org_a', events(1), 2_000);
  });
});

describe('when a flush fails', () => {
  test('only the event that cannot be stored fails (4)', async () => {
    const start = await eventLog.end();
    const { commit, poison } = openCommit();
    const bad = impossible();
    const sent = Array.from({ length: 9 }, () => events(5));
    const outcomes = await Promise.all(
      sent.map((some, n) =>
        commit.submit('org_a', n === 4 ? [...some.slice(0, 2), bad, ...some.slice(2)] : some, 100),
      ),
    );
    assert.deepEqual(
      outcomes.map((failed) => [...failed]),
      outcomes.map((_, n) => (n === 4 ? [bad] : [])),
    );
    assert.deepEqual(poison, [bad]);
    assert.deepEqual(await storedSince(start), ids(sent.flat()));
  });

  test('nothing is acknowledged while the database is away, and a repeat counts once', async () => {
    let isAway = true;
    const { commit } = openCommit({
      async append(drafts) {
        // The worst case: it was stored, and the connection broke before the response.
        const added = await eventLog.append(drafts);
        if (isAway) throw Object.assign(new Error('gone'), { code: 'ECONNRESET' });
        return added;
      },
    });
    const start = await eventLog.end();
    const sent = events(3);
    await assert.rejects(
      commit.submit('org_a', sent, 100),
      (error) => error instanceof ApiError && error.statusCode === 503,
    );
    isAway = false;
    await commit.submit('org_a', sent, 100);
    assert.deepEqual(await storedSince(start), ids(sent));
  });

  test('is retried after a deadlock', async () => {
    let calls = 0;
    const { commit } = openCommit({
      append(drafts) {
        calls += 1;
        if (calls < 3) return Promise.reject(Object.assign(new Error('lost'), { code: '40P01' }));
        return eventLog.append(drafts);
      },
    });
    await commit.submit('org_a', events(1), 100);
    assert.equal(calls, 3);
  });

  test('an unexpected failure is reported to its requests, and the next ones are stored', async () => {
    let isBroken = true;
    const { commit } = openCommit({
      append(drafts) {
        if (isBroken) return Promise.reject(new Error('unexpected'));
        return eventLog.append(drafts);
      },
    });
    await assert.rejects(commit.submit('org_a', events(1), 100), /unexpected/);
    isBroken = false;
    await commit.submit('org_a', events(1), 100);
  });
});

test('disposing stores everything accepted, and accepts nothing more (6)', async () => {
  const start = await eventLog.end();
  const { commit } = openCommit({ limits: { flushEvents: 10 } });
  const sent = events(100);
  const submitted = sent.map((one) => commit.submit('org_a', [one], 10));
  const disposed = commit[Symbol.asyncDispose]();
  await assert.rejects(commit.submit('org_a', events(1), 10), ApiError);
  await disposed;
  assert.deepEqual(await storedSince(start), ids(sent));
  await Promise.all(submitted);
});
