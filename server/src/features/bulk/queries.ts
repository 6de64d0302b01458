/**
 * SQL for bulk jobs and the items they match. `change-queries.ts` contains the changes to items.
 */
import { sql } from 'kysely';
import type { Static } from 'typebox';
import type { Db, Tx } from '../../platform/database/database.ts';
import { isBehind, type KeysetPage } from '../../platform/database/keyset.ts';
import type { BulkJobOperation, BulkJobStatus } from './tables.ts';
import type { BulkJobId, OrganizationId } from '../../platform/values/ids.ts';
import { matchingItems } from '../content/item-sets/item-sets.ts';
import type { BulkJobFilter, BulkJobUpdate } from './schemas.ts';

type Filter = Static<typeof BulkJobFilter>;

const jobColumns = [
  'bulk_job_id',
  'operation',
  'filter',
  'changes',
  'status',
  'total_items',
  'successful_items',
  'failed_items',
  'created_at',
  'completed_at',
] as const;

export type BulkJobRow = {
  bulk_job_id: string;
  operation: BulkJobOperation;
  filter: unknown;
  changes: unknown;
  status: BulkJobStatus;
  total_items: number;
  successful_items: number;
  failed_items: number;
  created_at: Date;
  completed_at: Date | null;
};

/** The items that a filter matches. A deletion includes archived items, a change does not. */
function matches(db: Db, organizationId: OrganizationId, { filter, operation }: JobMatch) {
  const { tags, archived = operation === 'delete' ? 'true' : 'false', ...conditions } = filter;
  return matchingItems(db, organizationId, {
    ...conditions,
    ...(tags !== undefined && { allTags: tags }),
    ...(archived !== 'false' && { archived }),
  });
}

export type JobMatch = { filter: Filter; operation: BulkJobOperation };

export async function countMatches(
  db: Db,
  organizationId: OrganizationId,
  match: JobMatch,
): Promise<number> {
  const { count } = await matches(db, organizationId, match)
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  return count;
}

/** Reads the newest matching items. */
export async function sampleMatches(
  db: Db,
  organizationId: OrganizationId,
  match: JobMatch,
  limit: number,
): Promise<{ content_id: string; title: string }[]> {
  return matches(db, organizationId, match)
    .select(['content_id', 'title'])
    .orderBy('created_at', 'desc')
    .orderBy('content_id', 'desc')
    .limit(limit)
    .execute();
}

/**
 * Number of items changed in one transaction of a job: some 50 ms, during which others may wait.
 */
const chunkItems = 500;

/**
 * Writes a job and the ids of its items. Collecting the ids into one array and slicing that takes
 * about as long as counting a million items. `row_number()` with `group by` sorted them all first,
 * and one row per item wrote ten times as much.
 */
export async function insertBulkJob(
  tx: Tx,
  organizationId: OrganizationId,
  jobId: BulkJobId,
  request: {
    operation: BulkJobOperation;
    filter: Filter;
    changes: Static<typeof BulkJobUpdate> | null;
  },
): Promise<BulkJobRow> {
  const { operation, filter, changes } = request;
  const ids = matches(tx, organizationId, request).select('content_id');
  const { rows } = await sql<BulkJobRow>`
    with everything as materialized (
      select coalesce(array_agg(content_id), '{}') as content_ids from (${ids}) matching
    ),
    created as (
      insert into bulk_job
        (organization_id, bulk_job_id, operation, filter, changes, status, total_items)
      select ${organizationId}, ${jobId}, ${operation}, ${JSON.stringify(filter)}::jsonb,
        ${changes === null ? null : JSON.stringify(changes)}::jsonb, 'processing',
        cardinality(content_ids)
      from everything
      returning ${sql.join(jobColumns.map((column) => sql.ref(column)))}
    ),
    chunks as (
      insert into bulk_job_chunk (organization_id, bulk_job_id, position, content_ids)
      select ${organizationId}, ${jobId}, position,
        content_ids[position * ${sql.lit(chunkItems)} + 1 : (position + 1) * ${sql.lit(chunkItems)}]
      from everything,
        generate_series(0, (cardinality(content_ids) - 1) / ${sql.lit(chunkItems)}) as position
      where cardinality(content_ids) > 0
    )
    select * from created
  `.execute(tx);
  const [row] = rows;
  if (row === undefined) throw new Error('The bulk job was not written.');
  return row;
}

export async function countProcessing(db: Db, organizationId: OrganizationId): Promise<number> {
  const { count } = await db
    .selectFrom('bulk_job')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('organization_id', '=', organizationId)
    .where('completed_at', 'is', null)
    .executeTakeFirstOrThrow();
  return count;
}

export async function findJob(
  db: Db,
  organizationId: OrganizationId,
  jobId: BulkJobId,
): Promise<BulkJobRow | null> {
  const row = await db
    .selectFrom('bulk_job')
    .select(jobColumns)
    .where('organization_id', '=', organizationId)
    .where('bulk_job_id', '=', jobId)
    .executeTakeFirst();
  return row ?? null;
}

/** Finds a job and locks it until the transaction ends. */
export async function lockJob(
  tx: Tx,
  organizationId: OrganizationId,
  jobId: BulkJobId,
): Promise<BulkJobRow | null> {
  const row = await tx
    .selectFrom('bulk_job')
    .select(jobColumns)
    .where('organization_id', '=', organizationId)
    .where('bulk_job_id', '=', jobId)
    .forUpdate()
    .executeTakeFirst();
  return row ?? null;
}

export async function removeChunks(
  tx: Tx,
  organizationId: OrganizationId,
  jobId: BulkJobId,
): Promise<void> {
  await tx
    .deleteFrom('bulk_job_chunk')
    .where('organization_id', '=', organizationId)
    .where('bulk_job_id', '=', jobId)
    .execute();
}

export async function endJob(
  tx: Tx,
  organizationId: OrganizationId,
  jobId: BulkJobId,
  status: Exclude<BulkJobStatus, 'processing'>,
): Promise<BulkJobRow> {
  return tx
    .updateTable('bulk_job')
    .set({ status, completed_at: sql<Date>`clock_timestamp()` })
    .where('organization_id', '=', organizationId)
    .where('bulk_job_id', '=', jobId)
    .where('status', '=', 'processing')
    .returning(jobColumns)
    .executeTakeFirstOrThrow();
}

export type ListedJob = BulkJobRow & { position: string };

/** Reads one page of jobs, newest first. */
export async function listJobs(
  db: Db,
  organizationId: OrganizationId,
  status: BulkJobStatus | null,
  page: KeysetPage,
): Promise<ListedJob[]> {
  let query = db
    .selectFrom('bulk_job')
    .select(jobColumns)
    .select(sql<string>`created_at::text`.as('position'))
    .where('organization_id', '=', organizationId);
  if (status !== null) query = query.where('status', '=', status);
  return query
    .where(isBehind('created_at', 'bulk_job_id', page.after))
    .orderBy('created_at', 'desc')
    .orderBy('bulk_job_id', 'desc')
    .limit(page.limit)
    .execute();
}

export async function countJobs(
  db: Db,
  organizationId: OrganizationId,
  status: BulkJobStatus | null,
): Promise<number> {
  let query = db
    .selectFrom('bulk_job')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('organization_id', '=', organizationId);
  if (status !== null) query = query.where('status', '=', status);
  return (await query.executeTakeFirstOrThrow()).count;
}

export type FailureRow = { content_id: string; code: string; message: string };

/** Reads one page of the failed items, by id. */
export async function listFailures(
  db: Db,
  organizationId: OrganizationId,
  jobId: BulkJobId,
  page: { limit: number; after: string | null },
): Promise<FailureRow[]> {
  let query = db
    .selectFrom('bulk_job_failure')
    .select(['content_id', 'code', 'message'])
    .where('organization_id', '=', organizationId)
    .where('bulk_job_id', '=', jobId);
  if (page.after !== null) query = query.where('content_id', '>', page.after);
  return query.orderBy('content_id').limit(page.limit).execute();
}

const keptForDays = 30;

/** Removes jobs that ended long ago, with their failures. @returns how many, at most `limit` */
export async function pruneJobs(tx: Tx, limit: number): Promise<number> {
  const { rows } = await sql`
    delete from bulk_job where (organization_id, bulk_job_id) in (
      select organization_id, bulk_job_id from bulk_job
      where completed_at < now() - make_interval(days => ${keptForDays})
      order by completed_at limit ${limit} for update skip locked)
    returning bulk_job_id
  `.execute(tx);
  return rows.length;
}

/**
 * Saves the allowance's row after the database's clock was set back, even though the request that
 * detected this was rejected. Otherwise its entries would never expire.
 */
export async function settleAllowance(tx: Tx, organizationId: OrganizationId): Promise<void> {
  await sql`
    select accepted from take_bulk_allowance(${organizationId}, 0, 0, 0, interval '60 seconds')
  `.execute(tx);
}
