/**
 * The videos of video carousels. Callers lock the carousel first, to serialize concurrent additions
 * and reorderings.
 */
import { sql } from 'kysely';
import type { Db, Tx } from '../../platform/database/database.ts';
import type { OrganizationId } from '../../platform/values/ids.ts';
import { itemColumns, type ItemRow } from './item.ts';
import { touched } from './touched.ts';

export type CarouselEntry = { id: string; contentId: string; position: number };

/** The entries of a carousel in order, numbered from 0. */
export async function findEntries(
  db: Db,
  organizationId: OrganizationId,
  carouselId: string,
): Promise<CarouselEntry[]> {
  const rows = await db
    .selectFrom('carousel_entry')
    .select(['entry_id', 'video_id'])
    .where('organization_id', '=', organizationId)
    .where('carousel_id', '=', carouselId)
    .orderBy('position')
    .orderBy('entry_id')
    .execute();
  return rows.map((row, position) => ({ id: row.entry_id, contentId: row.video_id, position }));
}

/** Inserts entries; their positions are set by `setEntryOrder`. */
export async function addEntries(
  tx: Tx,
  organizationId: OrganizationId,
  carouselId: string,
  entries: readonly Omit<CarouselEntry, 'position'>[],
): Promise<void> {
  await tx
    .insertInto('carousel_entry')
    .values(
      entries.map(({ id, contentId }) => ({
        organization_id: organizationId,
        entry_id: id,
        carousel_id: carouselId,
        video_id: contentId,
        position: 0,
      })),
    )
    .execute();
}

/** Numbers the entries in the given order and marks the carousel as changed. */
export async function setEntryOrder(
  tx: Tx,
  organizationId: OrganizationId,
  carouselId: string,
  entryIds: readonly string[],
): Promise<ItemRow> {
  await sql`
    update carousel_entry set position = given.position - 1
    from unnest(${entryIds}::uuid[]) with ordinality as given (entry_id, position)
    where carousel_entry.organization_id = ${organizationId}
      and carousel_entry.carousel_id = ${carouselId}::uuid
      and carousel_entry.entry_id = given.entry_id
  `.execute(tx);
  return tx
    .updateTable('content')
    .set(touched())
    .where('organization_id', '=', organizationId)
    .where('content_id', '=', carouselId)
    .returning(itemColumns)
    .executeTakeFirstOrThrow();
}

/** @returns whether the entry existed */
export async function removeEntry(
  tx: Tx,
  organizationId: OrganizationId,
  carouselId: string,
  entryId: string,
): Promise<boolean> {
  const { numDeletedRows } = await tx
    .deleteFrom('carousel_entry')
    .where('organization_id', '=', organizationId)
    .where('carousel_id', '=', carouselId)
    .where('entry_id', '=', entryId)
    .executeTakeFirst();
  return numDeletedRows === 1n;
}

export type CarouselVideo = ItemRow & { carousel_id: string };

/** The videos of carousels that may be in the feed now, in each carousel's order. */
export async function findCarouselVideos(
  db: Db,
  organizationId: OrganizationId,
  carouselIds: readonly string[],
): Promise<CarouselVideo[]> {
  return db
    .selectFrom('carousel_entry as entry')
    .innerJoin('content', (join) =>
      join
        .onRef('content.organization_id', '=', 'entry.organization_id')
        .onRef('content.content_id', '=', 'entry.video_id'),
    )
    .select('entry.carousel_id')
    .select(itemColumns.map((column) => `content.${column}` as const))
    .where('entry.organization_id', '=', organizationId)
    .where('entry.carousel_id', '=', sql<string>`any(${carouselIds}::uuid[])`)
    .where(isEligibleVideo)
    .where(sql<boolean>`(content.publish_at is null or content.publish_at <= now())`)
    .orderBy('entry.position')
    .orderBy('entry.entry_id')
    .execute();
}

/** The feed's conditions for a carousel's video, except that `publishAt` may be in the future. */
export const isEligibleVideo = sql<boolean>`
  content.upload_status = 'ready' and content.publish_status = 'published'
  and content.visibility = 'public' and content.archived_at is null
  and (content.expires_at is null or content.expires_at > now())`;
