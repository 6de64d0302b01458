import { sql } from 'kysely';
import { textArray, timestampArray, uuidArray } from '../../../platform/database/binary-arrays.ts';
import type { Db, Tx } from '../../../platform/database/database.ts';
import type { ProjectedItem, Viewer } from '../../../platform/projections/projection.ts';
import type { OrganizationId } from '../../../platform/values/ids.ts';
import { erasedKeys, viewerKeys, type ContentKey, type Hash } from '../../analytics/analytics.ts';
import { contentItems } from '../../content/content.ts';

export type StreamViewer = ContentKey & { key: Hash; lastAt: number };

export async function selectStreams(tx: Tx, items: readonly ContentKey[]): Promise<ContentKey[]> {
  const { rows } = await sql<ContentKey>`
    select given.organization_id as "organizationId", given.content_id as "contentId"
    from unnest(${textArray(items.map(({ organizationId }) => organizationId))}::text[],
      ${uuidArray(items.map(({ contentId }) => contentId))}::uuid[])
      as given (organization_id, content_id)
    join ${contentItems} item on item.organization_id = given.organization_id
      and item.content_id = given.content_id
    where item.content_type = 'live_stream'
  `.execute(tx);
  return rows;
}

export async function upsertViewers(tx: Tx, viewers: readonly StreamViewer[]): Promise<void> {
  if (viewers.length === 0) return;
  await sql`
    insert into live_viewer as known (organization_id, content_id, viewer_key, last_at)
    select * from unnest(${textArray(viewers.map(({ organizationId }) => organizationId))}::text[],
      ${uuidArray(viewers.map(({ contentId }) => contentId))}::uuid[],
      ${viewerKeys(viewers.map(({ key }) => key))}::bytea[],
      ${timestampArray(viewers.map(({ lastAt }) => lastAt))}::timestamptz[])
    on conflict (organization_id, content_id, viewer_key)
      do update set last_at = greatest(known.last_at, excluded.last_at)
  `.execute(tx);
}

/** Removes viewers who left long ago. @returns the number of removed rows, at most `limit` */
export async function deleteFormerStreamViewers(
  tx: Tx,
  olderThanSeconds: number,
  limit: number,
): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    delete from live_viewer where ctid = any(array(
      select ctid from live_viewer
      where last_at < clock_timestamp() - make_interval(secs => ${olderThanSeconds}::float8)
      limit ${limit}))
  `.execute(tx);
  return Number(numAffectedRows);
}

export async function deleteViewersOfItems(tx: Tx, items: readonly ProjectedItem[]): Promise<void> {
  await sql`
    delete from live_viewer
    using unnest(${textArray(items.map(({ organizationId }) => organizationId))}::text[],
      ${uuidArray(items.map(({ contentId }) => contentId))}::uuid[])
      as gone (organization_id, content_id)
    where live_viewer.organization_id = gone.organization_id
      and live_viewer.content_id = gone.content_id
  `.execute(tx);
}

/** Removes the rows of an erased viewer. @returns the number of rows */
export async function forgetStreamViewer(tx: Tx, viewer: Viewer): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    delete from live_viewer where viewer_key = any(${await erasedKeys(tx, viewer)}::bytea[])
  `.execute(tx);
  return Number(numAffectedRows);
}

export async function clearViewers(tx: Tx): Promise<void> {
  await sql`delete from live_viewer`.execute(tx);
}

export type ViewersRow = { content_id: string; viewers: number };

/** Viewers of each item since a given time; items without any are missing. */
export async function readStreamViewers(
  db: Db,
  organizationId: OrganizationId,
  contentIds: readonly string[],
  windowSeconds: number,
): Promise<ViewersRow[]> {
  const { rows } = await sql<ViewersRow>`
    select content_id, count(*) as viewers from live_viewer
    where organization_id = ${organizationId} and content_id = any(${contentIds}::uuid[])
      and last_at > clock_timestamp() - make_interval(secs => ${windowSeconds}::float8)
    group by content_id
  `.execute(db);
  return rows;
}
