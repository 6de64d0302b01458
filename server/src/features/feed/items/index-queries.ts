import { sql } from 'kysely';
import type { Db } from '../../../platform/database/database.ts';
import type { OrganizationId } from '../../../platform/values/ids.ts';
import {
  readFeedChanges,
  readFeedItems,
  type ChangePosition,
  type FeedItemRow,
} from '../../content/feed-items/feed-items.ts';
import { readGeoTargeting } from '../ranking/signals/geo-relevance.ts';
import type { EntryFields } from './feed-entry.ts';
import { StringPool } from './string-pool.ts';

export type { ChangePosition } from '../../content/feed-items/feed-items.ts';

/** An item as read by the feed index. If `isMember` is false, it has left the feed. */
export type IndexedItem = EntryFields & { organizationId: string; isMember: boolean };

/** Passes everything of one organization that is or will be in the feed to `take`, in chunks. */
export async function readMembers(
  db: Db,
  organizationId: OrganizationId,
  take: (items: readonly IndexedItem[]) => Promise<void>,
): Promise<void> {
  await readFeedItems(db, organizationId, (rows) => take(rows.map(toIndexedItem)));
}

/** A PostgreSQL snapshot in text form, and the database's time when it was taken. */
export type Moment = { snapshot: string; nowMs: number };

export async function readMoment(db: Db): Promise<Moment> {
  const { rows } = await sql<{ snapshot: string; now: Date }>`
    select pg_current_snapshot()::text as snapshot, clock_timestamp() as now
  `.execute(db);
  const [row] = rows;
  if (row === undefined) throw new Error('The database returned no snapshot.');
  return { snapshot: row.snapshot, nowMs: row.now.getTime() };
}

export type ChangePage = { items: IndexedItem[]; last: ChangePosition | null };

export async function readChanges(
  db: Db,
  sinceSnapshot: string,
  organizationIds: readonly string[],
  page: { after: ChangePosition | null; limit: number },
): Promise<ChangePage> {
  const { rows, last } = await readFeedChanges(db, sinceSnapshot, organizationIds, page);
  return { items: rows.map(toIndexedItem), last };
}

const pool = new StringPool();

function toIndexedItem(row: FeedItemRow): IndexedItem {
  const createdAtMs = row.created_at.getTime();
  const publishAtMs = row.publish_at?.getTime() ?? -Infinity;
  return {
    organizationId: pool.share(row.organization_id),
    isMember: row.is_member,
    serialNumber: row.serial_number,
    contentId: row.content_id,
    revision: row.revision,
    freshSinceMs: Math.max(createdAtMs, publishAtMs),
    publishAtMs,
    expiresAtMs: row.expires_at?.getTime() ?? Infinity,
    contentType: pool.share(row.content_type),
    section: row.section === null ? null : pool.share(row.section),
    author: row.author === null ? null : pool.share(row.author),
    tags: row.tags.map((tag) => pool.share(tag)),
    durationSeconds: row.duration_seconds,
    geo: readGeoTargeting(row.geo_targeting),
  };
}
