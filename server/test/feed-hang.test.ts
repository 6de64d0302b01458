/** Proves that a hanging database delays no feed page while pages come from memory. */
import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { claimDataDirectory } from '../src/platform/data-directory/data-directory.ts';
import { migrate } from '../src/platform/database/migrate.ts';
import { startEmbeddedPostgres } from '../src/platform/postgres/embedded-postgres.ts';
import { clusterProcesses, readPostmasterFile } from '../src/platform/postgres/leftovers.ts';
import { atEnd, silentLog } from './database.ts';
import { createReadyItems } from './seed.ts';
import { eventually, startService, temporaryFolder } from './service.ts';
import { pause } from './waiting.ts';

/** Pages come from memory for five seconds, and the last page before may be a second old. */
const servedForMs = 3_500;
const hangMs = 9_000;
/**
 * The first pages wait up to a second, since the database might just be slow; the rest allows for a
 * busy machine.
 */
const longestMs = 2_500;
/**
 * Duration of a page once the database is known to be away: several waits within the 50 ms budget.
 */
const usualMs = 400;

/** A dedicated PostgreSQL whose processes can be stopped. */
async function startStoppable() {
  const folder = await temporaryFolder();
  const dataDir = await claimDataDirectory(folder);
  const server = await startEmbeddedPostgres({
    dataDir,
    log: silentLog,
    signal: new AbortController().signal,
    durabilityChecked: false,
    settings: { fsync: false, synchronous_commit: false },
  });
  const cluster = path.join(folder, 'postgres');
  const signal = async (name: 'SIGSTOP' | 'SIGCONT') => {
    const pids = await clusterProcesses(cluster, await readPostmasterFile(cluster));
    assert.ok(pids.length > 1);
    for (const pid of pids) {
      try {
        process.kill(pid, name);
      } catch {
        // The backend has already ended.
      }
    }
  };
  atEnd(async () => {
    await signal('SIGCONT');
    await server[Symbol.asyncDispose]();
    await dataDir[Symbol.asyncDispose]();
  });
  await migrate(server.connection, silentLog);
  return { connection: server.connection, signal };
}

type Page = { status: number; tookMs: number; ids: string[]; cursor: string | null };

test('PostgreSQL is stopped: known viewers get their pages, others newest first, and none waits', async () => {
  const database = await startStoppable();
  const service = await startService(
    { REELFEED_ROLES: 'api,worker', REELFEED_FEED_RANKING_BUDGET: '50ms' },
    { connection: database.connection },
  );
  const ids = await createReadyItems(service, 60, (index) => ({ tags: [`t${index % 3}`] }));
  const read = async (search: string): Promise<Page> => {
    const askedAt = performance.now();
    const key = service.publishableKey;
    const { status, body, text } = await service.call('GET', `/v1/feed?${search}`, { key });
    const tookMs = performance.now() - askedAt;
    if (status !== 200) return { status, tookMs, ids: [], cursor: text };
    const found = body.data.map(({ id }: { id: string }) => id);
    return { status, tookMs, ids: found, cursor: body.meta.nextCursor };
  };
  await eventually('the items', async () =>
    (await read('limit=50')).ids.length === 50 ? true : null,
  );
  // The viewer and some items are cached, but not those of the following pages.
  const [liked = ''] = ids;
  const event = { eventId: 'e1', event: 'like', contentId: liked, userId: 'ada' };
  assert.equal((await service.call('POST', '/v1/events', { body: event })).status, 200);
  const first = await read('userId=ada&limit=5');
  const unread = await read('userId=bob&limit=5&tags=t1');
  assert.equal(unread.status, 200);

  const stoppedAt = performance.now();
  await database.signal('SIGSTOP');
  const pages: Page[] = [];
  let cursor = first.cursor;
  const asks = ['userId=ada&limit=5', 'userId=stranger&limit=5', 'limit=5&deviceId=new'];
  for (let at = 0; performance.now() - stoppedAt < servedForMs; at += 1) {
    // One session continues, and others start.
    const isNext = at % 2 === 0 && cursor !== null;
    const page = await read(isNext ? `userId=ada&limit=5&cursor=${cursor}` : (asks[at % 3] ?? ''));
    if (isNext) cursor = page.cursor;
    pages.push(page);
    await pause(100, 'some pages a second');
  }
  await pause(hangMs - servedForMs, 'longer than pages come from memory');
  const late = await read('userId=ada&limit=5');
  await database.signal('SIGCONT');

  assert.ok(pages.length >= 5, `${pages.length} pages`);
  for (const { status, ids: shown, cursor: text } of pages) {
    assert.equal(status, 200, String(text));
    assert.equal(shown.length, 5, 'whole pages');
  }
  const times = pages.map(({ tookMs }) => Math.round(tookMs));
  assert.ok(Math.max(...times) < longestMs, times.join());
  assert.ok(times.filter((ms) => ms > usualMs).length <= 3, times.join());
  assert.equal(late.status, 503, 'nothing is shown that may have been taken back');

  await eventually('the feed to be back', async () =>
    (await read('userId=ada&limit=5')).status === 200 ? true : null,
  );
  const after = await read(`userId=ada&limit=5&cursor=${first.cursor}`);
  assert.equal(after.status, 200, 'a cursor from before continues');
});
