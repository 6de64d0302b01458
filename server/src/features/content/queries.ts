import { sql } from 'kysely';
import type { Db, Tx } from '../../platform/database/database.ts';
import type { ContentType, PublishStatus } from '../../platform/database/tables.ts';
import type { ContentId, OrganizationId } from '../../platform/ids.ts';
import { itemColumns, type ItemRow } from './item.ts';
import type { MetadataColumns } from './metadata.ts';

export type NewItem = {
  organizationId: OrganizationId;
  contentId: ContentId;
  contentType: ContentType;
  playbackId: string;
  columns: MetadataColumns & { title: string };
  customMetadata: Record<string, unknown>;
};

/** Inserts an item in `pending`; `protected` falls back to the organization's default. */
export async function insertItem(tx: Tx, item: NewItem): Promise<ItemRow> {
  const { columns } = item;
  return tx
    .insertInto('content')
    .values((eb) => ({
      organization_id: item.organizationId,
      content_id: item.contentId,
      content_type: item.contentType,
      playback_id: item.playbackId,
      ...columns,
      description: columns.description ?? null,
      section: columns.section ?? null,
      author: columns.author ?? null,
      external_id: columns.external_id ?? null,
      article_url: columns.article_url ?? null,
      video_quality: columns.video_quality ?? 'basic',
      custom_metadata: JSON.stringify(item.customMetadata),
      protected:
        columns.protected ??
        eb
          .selectFrom('organization')
          .select('default_protected')
          .where('organization_id', '=', item.organizationId)
          .$asScalar()
          .$notNull(),
    }))
    .returning(itemColumns)
    .executeTakeFirstOrThrow();
}

/** An item that is not archived. */
export async function findItem(
  db: Db,
  organizationId: OrganizationId,
  contentId: ContentId,
): Promise<ItemRow | null> {
  const row = await db
    .selectFrom('content')
    .select(itemColumns)
    .where('organization_id', '=', organizationId)
    .where('content_id', '=', contentId)
    .where('archived_at', 'is', null)
    .executeTakeFirst();
  return row ?? null;
}

export type LockedItem = ItemRow & { source_key: string | null };

/** An item that is not archived, locked until the transaction ends. */
export async function lockItem(
  tx: Tx,
  organizationId: OrganizationId,
  contentId: ContentId,
): Promise<LockedItem | null> {
  const row = await tx
    .selectFrom('content')
    .select([...itemColumns, 'source_key'])
    .where('organization_id', '=', organizationId)
    .where('content_id', '=', contentId)
    .where('archived_at', 'is', null)
    .forUpdate()
    .executeTakeFirst();
  return row ?? null;
}

/** The items of the given ids, in no particular order; unknown ids are left out. */
export async function findItems(
  db: Db,
  organizationId: OrganizationId,
  contentIds: readonly string[],
): Promise<ItemRow[]> {
  return db
    .selectFrom('content')
    .select(itemColumns)
    .where('organization_id', '=', organizationId)
    .where('content_id', '=', sql<string>`any(${contentIds}::uuid[])`)
    .where('archived_at', 'is', null)
    .execute();
}

export async function findByExternalId(
  db: Db,
  organizationId: OrganizationId,
  externalId: string,
): Promise<string | null> {
  const row = await db
    .selectFrom('content')
    .select('content_id')
    .where('organization_id', '=', organizationId)
    .where('external_id', '=', externalId)
    .executeTakeFirst();
  return row?.content_id ?? null;
}

export type ItemChange = MetadataColumns & {
  custom_metadata?: string;
  publish_status?: PublishStatus;
};

export async function updateItem(
  tx: Tx,
  organizationId: OrganizationId,
  contentId: ContentId,
  change: ItemChange,
): Promise<ItemRow> {
  return tx
    .updateTable('content')
    .set({ ...change, ...touched() })
    .where('organization_id', '=', organizationId)
    .where('content_id', '=', contentId)
    .returning(itemColumns)
    .executeTakeFirstOrThrow();
}

/** Every change that a client can see counts up the revision and moves `updatedAt`. */
export function touched() {
  return {
    revision: sql<number>`revision + 1`,
    updated_at: sql<Date>`greatest(clock_timestamp(), updated_at + interval '1 microsecond')`,
  };
}

/** Archives an item; false when there is none, or it is archived already. */
export async function archiveItem(
  tx: Tx,
  organizationId: OrganizationId,
  contentId: ContentId,
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('content')
    .set({ archived_at: sql<Date>`now()`, ...touched() })
    .where('organization_id', '=', organizationId)
    .where('content_id', '=', contentId)
    .where('archived_at', 'is', null)
    .executeTakeFirst();
  return numUpdatedRows === 1n;
}

/** Brings back an item that was archived within the last `retentionMs`. */
export async function restoreItem(
  tx: Tx,
  organizationId: OrganizationId,
  contentId: ContentId,
  retentionMs: number,
): Promise<ItemRow | null> {
  const row = await tx
    .updateTable('content')
    .set({ archived_at: null, ...touched() })
    .where('organization_id', '=', organizationId)
    .where('content_id', '=', contentId)
    .where('archived_at', '>', archivedLimit(retentionMs))
    .returning(itemColumns)
    .executeTakeFirst();
  return row ?? null;
}

export type ArchivedMedia = {
  organization_id: string;
  content_id: string;
  playback_id: string;
  source_key: string | null;
};

/** Items whose time to be restored is over and whose files are still there. */
export async function findExpiredArchived(
  db: Db,
  retentionMs: number,
  limit: number,
): Promise<ArchivedMedia[]> {
  return db
    .selectFrom('content')
    .select(['organization_id', 'content_id', 'playback_id', 'source_key'])
    .where('archived_at', '<=', archivedLimit(retentionMs))
    .where((eb) => eb.or([eb('media_prefix', 'is not', null), eb('source_key', 'is not', null)]))
    .orderBy('archived_at')
    .limit(limit)
    .execute();
}

export async function forgetMedia(tx: Tx, item: ArchivedMedia): Promise<void> {
  await tx
    .updateTable('content')
    .set({ media_prefix: null, has_thumbnail: false, source_key: null })
    .where('organization_id', '=', item.organization_id)
    .where('content_id', '=', item.content_id)
    .execute();
}

function archivedLimit(retentionMs: number) {
  return sql<Date>`now() - ${retentionMs} * interval '1 millisecond'`;
}
