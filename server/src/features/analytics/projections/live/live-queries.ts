import { sql } from 'kysely';
import {
  textArray,
  timestampArray,
  uuidArray,
} from '../../../../platform/database/binary-arrays.ts';
import type { Tx } from '../../../../platform/database/database.ts';
import { contentItems } from '../../../content/content.ts';
import type { ContentKey } from '../engagement/counter-queries.ts';
import { viewerKeys } from '../../statistics/viewer-keys.ts';
import type { Hash } from '../../statistics/viewer-key.ts';

export type LiveViewer = ContentKey & { key: Hash; lastAt: number };

export async function selectLiveStreams(
  tx: Tx,
  items: readonly ContentKey[],
): Promise<ContentKey[]> {
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

export async function upsertLiveViewers(tx: Tx, viewers: readonly LiveViewer[]): Promise<void> {
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
export async function deleteFormerViewers(
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

export async function clearLiveViewers(tx: Tx): Promise<void> {
  await sql`delete from live_viewer`.execute(tx);
}
