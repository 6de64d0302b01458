/** Shared by the tests of logs in PostgreSQL, with and without a stream. */
import { sql } from 'kysely';
import { silentLog, type openTestDatabase } from '../database.ts';
import { until } from '../waiting.ts';
import { openDatabase, type Db } from '../../src/platform/database/database.ts';
import type { BlockStream } from '../../src/platform/event-log/block-stream.ts';
import type { LogUnderTest, SampleEvent } from '../../src/platform/event-log/conformance-parts.ts';
import { RecentBlocks } from '../../src/platform/event-log/recent-blocks.ts';
import { joinOldBlocks } from '../../src/platform/event-log/postgres/join.ts';
import { createPostgresLog } from '../../src/platform/event-log/postgres/postgres-log.ts';

type TestDatabase = Awaited<ReturnType<typeof openTestDatabase>>;

/** Makes blocks of the last minute old enough to be joined. */
const joinAtOnceMs = -60_000;

const signal = new AbortController().signal;

/** @param stream holds the bytes of blocks; null if the database does */
export function logUnderTest(
  { db, connection }: TestDatabase,
  stream: BlockStream | null = null,
): LogUnderTest {
  return {
    open: ({ remembers } = { remembers: false }) =>
      createPostgresLog<SampleEvent>({
        db,
        stream,
        ...(remembers && { recent: new RecentBlocks() }),
      }),
    async appendAt(drafts, receivedAtMs) {
      const moment = new Date(receivedAtMs).toISOString();
      await sql`select create_day_partition('event_block', 'received_at', ${moment.slice(0, 10)}::date)`.execute(
        db,
      );
      const added = await createPostgresLog<SampleEvent>({ db, stream }).append(drafts);
      const sequences = added.map(({ sequence }) => sequence);
      await sql`update event_block set received_at = ${moment}
        where sequence = any(${sequences}::bigint[])`.execute(db);
    },
    arrange: () => joinAll(db, stream),
    async pagesRead(work) {
      // A single connection, whose statistics are complete once it has reported them.
      await using one = openDatabase({ connection, poolSize: 1, log: silentLog });
      const log = createPostgresLog<SampleEvent>({ db: one.db, stream });
      await work(log);
      const before = await touchedPages(one.db);
      await work(log);
      return (await touchedPages(one.db)) - before;
    },
  };
}

/** Pages of the log's tables and indexes read so far, from memory or from disk. */
async function touchedPages(one: Db): Promise<number> {
  await sql`select pg_stat_force_next_flush()`.execute(one);
  await sql`select pg_stat_clear_snapshot()`.execute(one);
  const { rows } = await sql<{ pages: number }>`
    select sum(heap_blks_read + heap_blks_hit + idx_blks_read + idx_blks_hit)::int as pages
    from pg_statio_user_tables where relname like 'event\_block%'`.execute(one);
  return rows[0]?.pages ?? 0;
}

/** Transactions in other databases of the server delay joining for as long as they run. */
async function joinAll(db: Db, stream: BlockStream | null): Promise<void> {
  await until(
    'all blocks to be joined',
    async () => {
      await joinOldBlocks({ db, stream }, signal, joinAtOnceMs);
      const { rows } = await sql<{ left: number }>`
        select count(*)::int as left from event_block
        where written_by > (select joined_to from event_block_joining)`.execute(db);
      return rows[0]?.left;
    },
    (left) => left === 0,
  );
}
