/** Shared parts of the bulk job tests. */
import { sql } from 'kysely';
import { atEnd, silentLog } from '../database.ts';
import type { Reply } from '../service.ts';
import { openDatabase, type Db } from '../../src/platform/database/database.ts';
import { startQueueWorkers } from '../../src/platform/queue/queue-workers.ts';
import { quickTiming } from '../queue/queue-jobs.ts';
import { startBulkService, type BulkService } from './bulk.ts';
import { bulkJobHandler } from '../../src/features/bulk/jobs.ts';

export type BulkJobService = BulkService & {
  db: Db;
  createJob: (body: object) => Promise<Reply>;
};

/** A service with access to its database; jobs wait for `startWorkers`. */
export async function startBulkJobService(): Promise<BulkJobService> {
  const service = await startBulkService();
  const database = openDatabase({ connection: service.connection, poolSize: 6, log: silentLog });
  atEnd(() => database[Symbol.asyncDispose]());
  return {
    ...service,
    db: database.db,
    createJob: (body) => service.call('POST', '/v1/content/bulk/jobs', { body }),
  };
}

/** Processes bulk jobs until disposed. */
export function startWorkers(db: Db) {
  return startQueueWorkers({
    db,
    jobs: [bulkJobHandler({ db })],
    log: silentLog,
    timing: quickTiming,
  });
}

/** Inserts ready items by SQL, tagged `all` and `even` or `odd`. */
export async function insertItems(db: Db, organizationId: string, count: number): Promise<void> {
  await sql`
    insert into content (organization_id, content_id, content_type, title, upload_status,
      publish_status, tags, playback_id, created_at)
    select ${organizationId}, gen_random_uuid(), 'video', 'Item ' || n, 'ready', 'published',
      array['all', case when n % 2 = 0 then 'even' else 'odd' end],
      md5(${organizationId} || n || random()), now() - n * interval '1 millisecond'
    from generate_series(1, ${count}::integer) n
  `.execute(db);
}

export async function insertOrganization(db: Db, organizationId: string): Promise<void> {
  await db
    .insertInto('organization')
    .values({ organization_id: organizationId, name: organizationId })
    .execute();
}

/** Number of items by how often they have changed since creation. */
export async function changes(db: Db, organizationId: string): Promise<Record<string, number>> {
  const { rows } = await sql<{ changes: number; items: number }>`
    select revision - 1 as changes, count(*) as items from content
    where organization_id = ${organizationId} group by 1 order by 1
  `.execute(db);
  return Object.fromEntries(rows.map(({ changes: times, items }) => [times, items]));
}
