/**
 * Reads the items that are or will be in the feed, and follows their changes. This is the only
 * place that defines which items those are. Scheduling is left to the reader: an item with a future
 * `publishAt` is already a member, and its reader shows it when it is due.
 */
import { sql, type RawBuilder } from 'kysely';
import { inTransaction, type Db } from '../../../platform/database/database.ts';
import type { OrganizationId } from '../../../platform/values/ids.ts';
import type { ItemRow } from '../item.ts';

export { findCarouselVideos } from '../carousel-entries.ts';
export { presentPublicItem } from '../item.ts';
export { publicItemFields } from '../schemas.ts';
export { announced } from './announcements.ts';

/** An item as a feed reads it. It has left the feed if `is_member` is false. */
export type FeedItemRow = {
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
  duration_seconds: number | null;
  /** The value in `customMetadata` under this name. */
  geo_targeting: unknown;
  is_member: boolean;
  changed_xid: string;
};

/** Must match the condition of the index `content_in_feed`. */
const isShowable = sql<boolean>`
  upload_status = 'ready' and publish_status = 'published' and visibility = 'public'
  and archived_at is null`;

/** A carousel needs an image. Video carousels are read by `readVideoCarousels`. */
const membership = sql<boolean>`
  ${isShowable} and (content_type <> 'carousel' or assets <> '[]')`;

/** The same condition for a row that was read elsewhere and is not archived. */
export function isInFeed(row: ItemRow): boolean {
  return (
    row.upload_status === 'ready' &&
    row.publish_status === 'published' &&
    row.visibility === 'public'
  );
}

/**
 * Whether a viewer who knows the id may watch it now: items in the feed and unlisted ones. The row
 * must not be archived.
 */
export function isPlayable(row: ItemRow, nowMs: number): boolean {
  const isDue = row.publish_at === null || row.publish_at.getTime() <= nowMs;
  const isOver = row.expires_at !== null && row.expires_at.getTime() <= nowMs;
  const visibility = row.visibility === 'unlisted' ? 'public' : row.visibility;
  return isDue && !isOver && isInFeed({ ...row, visibility });
}

const columns = sql`
  organization_id, serial_number, content_id, revision, created_at, publish_at, expires_at,
  content_type, section, author, tags, duration_seconds,
  custom_metadata -> 'geoTargeting' as geo_targeting, changed_xid::text as changed_xid`;

/** Other requests of this process wait while the rows of one fetch are read. */
const membersAtOnce = 1_000;

/**
 * Passes every item of one organization that is or will be in the feed to `take`, in no particular
 * order. Reads through a database cursor: all rows of a million items at once would take a
 * gigabyte, and keyset pages would each need a sort.
 */
export async function readFeedItems(
  db: Db,
  organizationId: OrganizationId,
  take: (rows: readonly FeedItemRow[]) => Promise<void>,
): Promise<void> {
  await inTransaction(db, async (tx) => {
    await sql`
      declare members no scroll cursor for
        select ${columns}, true as is_member from content
        where organization_id = ${organizationId} and ${membership}
          and content_type <> 'video_carousel'
          and (expires_at is null or expires_at > now())
    `.execute(tx);
    for (;;) {
      const { rows } = await sql<FeedItemRow>`fetch ${sql.lit(membersAtOnce)} from members`.execute(
        tx,
      );
      await take(rows);
      if (rows.length < membersAtOnce) break;
    }
    const carousels = await readVideoCarousels(tx, sql`organization_id = ${organizationId}`);
    await take(carousels.filter((row) => row.is_member));
  });
}

/** `last` is the position of the next page, or null on the last page. */
export type FeedChanges = { rows: FeedItemRow[]; last: ChangePosition | null };

export type ChangePosition = { changedXid: string; serialNumber: number };

/** A version above every other, so that nothing brings a deleted item back into an index. */
const lastRevision = Number.MAX_SAFE_INTEGER;

/**
 * Items changed by transactions that an earlier snapshot did not see, ordered by `changed_xid` and
 * `serial_number`. A deleted item is represented by its row in `deleted_content`.
 *
 * A sequence or a timestamp would miss rows, because transactions do not commit in the order in
 * which they number their rows. A long transaction widens the scanned range but never makes the
 * result wrong.
 */
export async function readFeedChanges(
  db: Db,
  sinceSnapshot: string,
  organizationIds: readonly string[],
  page: { after: ChangePosition | null; limit: number },
): Promise<FeedChanges> {
  // The only lower bound: given two, PostgreSQL starts at the first row of the index, and reads all
  // of it in every poll. A later page begins behind the snapshot's oldest transaction anyway.
  const from =
    page.after === null
      ? sql`pg_snapshot_xmin(${sinceSnapshot}::pg_snapshot), 0::bigint`
      : sql`${page.after.changedXid}::xid8, ${page.after.serialNumber}::bigint`;
  const isNews = sql`
    (changed_xid, serial_number) > (${from})
      and not pg_visible_in_snapshot(changed_xid, ${sinceSnapshot}::pg_snapshot)
      and organization_id = any(${organizationIds}::text[])`;
  const { rows } = await sql<FeedItemRow>`
    (
      select ${columns}, (${membership}) as is_member, content.changed_xid as position
      from content where ${isNews}
      order by content.changed_xid, serial_number
      limit ${page.limit}
    ) union all (
      select organization_id, serial_number, content_id, ${lastRevision}::bigint, deleted_at,
        null, null, '', null, null, '{}', null, null, changed_xid::text, false, changed_xid
      from deleted_content where ${isNews}
      order by deleted_content.changed_xid, serial_number
      limit ${page.limit}
    )
    order by position, serial_number
    limit ${page.limit}
  `.execute(db);
  const last = rows.length < page.limit ? undefined : rows.at(-1);
  const others = rows.filter((row) => row.content_type !== 'video_carousel');
  return {
    rows: [...others, ...(await readChangedCarousels(db, rows))],
    last:
      last === undefined
        ? null
        : { changedXid: last.changed_xid, serialNumber: last.serial_number },
  };
}

/**
 * The video carousels among `changed`, and those that contain a video among them. Their ids are
 * looked up first: a condition with an `or` for both made every poll read the whole table, and 50,000
 * items took 15 ms.
 */
async function readChangedCarousels(
  db: Db,
  changed: readonly FeedItemRow[],
): Promise<FeedItemRow[]> {
  const carousels = changed.filter((row) => row.content_type === 'video_carousel');
  const videos = changed.filter((row) => row.content_type === 'video');
  if (carousels.length + videos.length === 0) return [];
  return readVideoCarousels(
    db,
    sql`(organization_id, content_id) in (
      select * from ${pairs(carousels)} as carousel
      union
      select entry.organization_id, entry.carousel_id from carousel_entry entry
      join ${pairs(videos)} as video (organization_id, content_id)
        on entry.organization_id = video.organization_id and entry.video_id = video.content_id)`,
  );
}

function pairs(rows: readonly FeedItemRow[]): RawBuilder<unknown> {
  return sql`unnest(${rows.map((row) => row.organization_id)}::text[],
    ${rows.map((row) => row.content_id)}::uuid[])`;
}

type CarouselRow = FeedItemRow & { videos: number; since: Date | null; until: Date | null };

/**
 * Video carousels with their membership. A carousel is in the feed while one of its videos is: from
 * the first one's publication until the last one's expiry. The reader of a page omits videos that
 * are not due at that time.
 */
async function readVideoCarousels(db: Db, condition: RawBuilder<unknown>): Promise<FeedItemRow[]> {
  const { rows } = await sql<CarouselRow>`
    select ${columns}, (${isShowable} and shown.videos > 0) as is_member,
      shown.videos, shown.since, shown.until
    from content cross join lateral (
      select count(*) as videos,
        case when bool_or(publish_at is null) then null else min(publish_at) end as since,
        case when bool_or(expires_at is null) then null else max(expires_at) end as until
      from (
        select video.publish_at, video.expires_at
        from carousel_entry entry join content video
          on video.organization_id = entry.organization_id and video.content_id = entry.video_id
        where entry.organization_id = content.organization_id
          and entry.carousel_id = content.content_id
          and video.upload_status = 'ready' and video.publish_status = 'published'
          and video.visibility = 'public' and video.archived_at is null
          and (video.expires_at is null or video.expires_at > now())
      ) video
    ) shown
    where content_type = 'video_carousel' and ${condition}
  `.execute(db);
  return rows.map((row) => ({
    ...row,
    publish_at: later(row.publish_at, row.since),
    expires_at: earlier(row.expires_at, row.until),
  }));
}

function later(a: Date | null, b: Date | null): Date | null {
  return a === null || (b !== null && b > a) ? b : a;
}

function earlier(a: Date | null, b: Date | null): Date | null {
  return a === null || (b !== null && b < a) ? b : a;
}
