/** The rows left behind by permanently deleted items; see the feature `purges`. */
import { sql } from 'kysely';
import type { Db, Tx } from '../../../platform/database/database.ts';
import { isBehind, type KeysetPage } from '../../../platform/database/keyset.ts';
import type { FileWriter } from '../../../platform/feature/feature.ts';
import type { OrganizationId } from '../../../platform/values/ids.ts';
import { jobRows } from '../../../platform/queue/queries.ts';

export type DeletedItem = {
  organizationId: string;
  contentId: string;
  serialNumber: number;
  playbackId: string | null;
  sourceKey: string | null;
  /** Exact deletion time. */
  position: string;
};

export type PendingQuery = {
  readonly writers: readonly FileWriter[];
  readonly minAgeMs: number;
  readonly after: PendingPosition | null;
};

export type PendingPosition = Pick<DeletedItem, 'position' | 'contentId'>;

/**
 * Items waiting for their purge after `after`, longest waiting first. Skips items deleted less than
 * `minAgeMs` ago, and those for which a live job may still write files. A job from an earlier
 * version, whose payload lacks the field, may write for any item of its organization.
 */
export async function findPending(
  db: Db,
  { writers, minAgeMs, after }: PendingQuery,
  limit: number,
): Promise<DeletedItem[]> {
  const from = after ?? {
    position: '-infinity',
    contentId: '00000000-0000-0000-0000-000000000000',
  };
  const { rows } = await sql<DeletedItem>`
    select organization_id as "organizationId", content_id as "contentId", serial_number as "serialNumber",
      playback_id as "playbackId", source_key as "sourceKey", deleted_at::text as position
    from deleted_content
    where purged_at is null
      and (deleted_at, content_id) > (${from.position}::timestamptz, ${from.contentId}::uuid)
      and deleted_at <= clock_timestamp() - make_interval(secs => ${minAgeMs}::float8 / 1000)
      and not exists (
        select from unnest(${writers.map(({ name }) => name)}::text[],
          ${writers.map(({ field }) => field)}::text[]) as writer (name, field)
        join ${jobRows} job on job.name = writer.name and job.state <> 'failed'
          and job.organization_id = deleted_content.organization_id
          and coalesce(job.payload ->> writer.field, deleted_content.content_id::text)
            = deleted_content.content_id::text
      )
    order by deleted_content.deleted_at, deleted_content.content_id
    limit ${limit}
  `.execute(db);
  return rows;
}

/** pending → complete; the file names are dropped. */
export async function markPurged(tx: Tx, items: readonly DeletedItem[]): Promise<void> {
  await sql`
    update deleted_content set purged_at = now(), playback_id = null, source_key = null
    from unnest(
      ${items.map((item) => item.organizationId)}::text[],
      ${items.map((item) => item.contentId)}::uuid[]
    ) as purged (organization_id, content_id)
    where deleted_content.organization_id = purged.organization_id
      and deleted_content.content_id = purged.content_id
      and deleted_content.purged_at is null
  `.execute(tx);
}

const keptForDays = 30;

/**
 * Removes purges that ended long ago; the feed's indexes read these rows within a second.
 * @returns how many, at most `limit`
 */
export async function forgetPurged(tx: Tx, limit: number): Promise<number> {
  const { rows } = await sql`
    delete from deleted_content where (organization_id, content_id) in (
      select organization_id, content_id from deleted_content
      where purged_at < now() - make_interval(days => ${keptForDays})
      order by purged_at limit ${limit} for update skip locked)
    returning content_id
  `.execute(tx);
  return rows.length;
}

export type PurgeStatus = 'pending' | 'complete';
export type PurgeRow = {
  content_id: string;
  deleted_at: Date;
  purged_at: Date | null;
  position: string;
};

function purges(db: Db, organizationId: OrganizationId, status: PurgeStatus | null) {
  const query = db.selectFrom('deleted_content').where('organization_id', '=', organizationId);
  if (status === null) return query;
  return query.where('purged_at', status === 'pending' ? 'is' : 'is not', null);
}

/** One page of purges, latest deletion first. */
export async function listPurges(
  db: Db,
  organizationId: OrganizationId,
  status: PurgeStatus | null,
  page: KeysetPage,
): Promise<PurgeRow[]> {
  return purges(db, organizationId, status)
    .select(['content_id', 'deleted_at', 'purged_at'])
    .select(sql<string>`deleted_at::text`.as('position'))
    .where(isBehind('deleted_at', 'content_id', page.after))
    .orderBy('deleted_at', 'desc')
    .orderBy('content_id', 'desc')
    .limit(page.limit)
    .execute();
}

export async function countPurges(
  db: Db,
  organizationId: OrganizationId,
  status: PurgeStatus | null,
): Promise<number> {
  const { count } = await purges(db, organizationId, status)
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  return count;
}
