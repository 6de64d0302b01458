/** The announcement of an item that can't be watched yet. */
import { sql } from 'kysely';
import type { Db } from '../../../platform/database/database.ts';
import type { OrganizationId } from '../../../platform/values/ids.ts';
import { organizationSetting } from '../../organizations/organizations.ts';
import { contentTraits } from '../content-types.ts';
import type { ItemRow } from '../item.ts';

/**
 * An item as announced to viewers who know its id, without media. Returns null if nothing
 * is announced: the item is private, expired, neither published nor scheduled for automatic
 * publication, or can already be watched. The caller checks whether it can still be awaited.
 */
export async function announced(
  db: Db,
  organizationId: OrganizationId,
  row: ItemRow,
  nowMs: number,
): Promise<ItemRow | null> {
  if (!contentTraits[row.content_type].isAnnounced || row.visibility === 'private') return null;
  if (row.expires_at !== null && row.expires_at.getTime() <= nowMs) return null;
  const isAwaited =
    row.upload_status === 'pending'
      ? await publishesItself(db, organizationId)
      : row.upload_status === 'ready' &&
        row.publish_status === 'published' &&
        isHeldBack(row, nowMs);
  if (!isAwaited) return null;
  return {
    ...row,
    upload_status: 'pending',
    progress: 0,
    media_prefix: null,
    has_thumbnail: false,
  };
}

function isHeldBack({ publish_at: publishAt }: ItemRow, nowMs: number): boolean {
  return publishAt !== null && publishAt.getTime() > nowMs;
}

async function publishesItself(db: Db, organizationId: OrganizationId): Promise<boolean> {
  const { rows } = await sql<{ publishes: boolean }>`
    select ${organizationSetting('auto_publish', sql`${organizationId}`)} as publishes`.execute(db);
  return rows[0]?.publishes === true;
}
