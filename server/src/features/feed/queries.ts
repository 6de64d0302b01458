import { sql } from 'kysely';
import { inTransaction, type Db } from '../../platform/database/database.ts';
import type { OrganizationId } from '../../platform/ids.ts';
import type { FeedEntry } from './feed-entry.ts';
import { StringPool } from './string-pool.ts';

/** An item as a feed index reads it; not in the feed any more when `isMember` is false. */
export type IndexedItem = FeedEntry & { organizationId: string; isMember: boolean };

type Row = {
  organization_id: string;
  serial_number: number;
  content_id: string;
  revision: number;
  created_at: Date;
  publish_at: Date | null;
  expires_at: Date | null;
  content_type: string;
  section: string | null;
  author: string | null;
  tags: string[];
  is_member: boolean;
  changed_xid: string;
};

const membership = sql<boolean>`
  upload_status = 'ready' and publish_status = 'published' and visibility = 'public'
  and archived_at is null`;

const columns = sql`
  organization_id, serial_number, content_id, revision, created_at, publish_at, expires_at,
  content_type, section, author, tags, changed_xid::text as changed_xid`;

const membersAtOnce = 20_000;

/**
 * Everything of one organization that is or will be in the feed. It is read through a cursor: the
 * rows of a million items at once would take a gigabyte, and pages by a key a sort each.
 */
export async function loadMembers(db: Db, organizationId: OrganizationId): Promise<IndexedItem[]> {
  return inTransaction(db, async (tx) => {
    await sql`
      declare members no scroll cursor for
        select ${columns}, true as is_member from content
        where organization_id = ${organizationId} and ${membership}
          and (expires_at is null or expires_at > now())
    `.execute(tx);
    const members: IndexedItem[] = [];
    for (;;) {
      const { rows } = await sql<Row>`fetch ${sql.lit(membersAtOnce)} from members`.execute(tx);
      for (const row of rows) members.push(toIndexedItem(row));
      if (rows.length < membersAtOnce) return members;
    }
  });
}

/** A snapshot of PostgreSQL in its text form, and the database's time when it was taken. */
export type Moment = { snapshot: string; nowMs: number };

export async function readMoment(db: Db): Promise<Moment> {
  const { rows } = await sql<{ snapshot: string; now: Date }>`
    select pg_current_snapshot()::text as snapshot, clock_timestamp() as now
  `.execute(db);
  const [row] = rows;
  if (row === undefined) throw new Error('The database gave no snapshot.');
  return { snapshot: row.snapshot, nowMs: row.now.getTime() };
}

export type ChangePosition = { changedXid: string; serialNumber: number };
export type ChangePage = { items: IndexedItem[]; last: ChangePosition | null };

/** A version above every other, so that nothing brings a deleted item back into an index. */
const lastRevision = Number.MAX_SAFE_INTEGER;

/**
 * Items that a transaction changed which was not yet visible in an earlier snapshot. A row that was
 * deleted cannot be found so: what its deletion has left in `deleted_content` is read in its place.
 *
 * A sequence or
 * a timestamp would lose rows here: transactions commit in another order than they number their
 * rows. A transaction that is open for long makes the scanned range longer, never the answer wrong.
 */
export async function readChanges(
  db: Db,
  sinceSnapshot: string,
  organizationIds: readonly string[],
  page: { after: ChangePosition | null; limit: number },
): Promise<ChangePage> {
  const after = page.after ?? { changedXid: '0', serialNumber: 0 };
  const isNews = sql`
    changed_xid >= pg_snapshot_xmin(${sinceSnapshot}::pg_snapshot)
      and (changed_xid, serial_number) > (${after.changedXid}::xid8, ${after.serialNumber}::bigint)
      and not pg_visible_in_snapshot(changed_xid, ${sinceSnapshot}::pg_snapshot)
      and organization_id = any(${organizationIds}::text[])`;
  const { rows } = await sql<Row>`
    (
      select ${columns}, (${membership}) as is_member, content.changed_xid as position
      from content where ${isNews}
      order by content.changed_xid, serial_number
      limit ${page.limit}
    ) union all (
      select organization_id, serial_number, content_id, ${lastRevision}::bigint, deleted_at,
        null, null, '', null, null, '{}', changed_xid::text, false, changed_xid
      from deleted_content where ${isNews}
      order by deleted_content.changed_xid, serial_number
      limit ${page.limit}
    )
    order by position, serial_number
    limit ${page.limit}
  `.execute(db);
  const last = rows.at(-1);
  return {
    items: rows.map(toIndexedItem),
    last:
      last === undefined
        ? null
        : { changedXid: last.changed_xid, serialNumber: last.serial_number },
  };
}

const pool = new StringPool();

function toIndexedItem(row: Row): IndexedItem {
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
  };
}
