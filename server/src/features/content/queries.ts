import { sql } from 'kysely';
import type { Db, Tx } from '../../platform/database/database.ts';
import { ApiError } from '../../platform/http/errors.ts';
import { contentTraits, type ContentType } from './content-types.ts';
import type { PublishStatus, StoredAsset } from './tables.ts';
import type { ContentId, OrganizationId } from '../../platform/values/ids.ts';
import { organizationSetting } from '../organizations/organizations.ts';
import { lockAndJudge, updateApplied, type ChangeProblem } from './item-sets/change-parts.ts';
import { contentErrors } from './errors.ts';
import { itemColumns, type ItemRow } from './item.ts';
import type { ItemChange } from './item-sets/item-change.ts';
import type { MetadataColumns } from './metadata.ts';
import { archivedLimit } from './archive.ts';
import { touched } from './touched.ts';

export type NewItem = {
  organizationId: OrganizationId;
  contentId: ContentId;
  contentType: ContentType;
  playbackId: string;
  columns: MetadataColumns & { title: string };
  customMetadata: Record<string, unknown>;
  /** Whether a carousel is `pending` until its images arrive. */
  isWaiting?: boolean;
};

/**
 * Inserts an item: a video as `pending`; a carousel that does not wait as `ready`, and published if
 * its organization publishes automatically. `protected` defaults to the organization's setting.
 */
export async function insertItem(tx: Tx, item: NewItem): Promise<ItemRow> {
  const { columns } = item;
  return tx
    .insertInto('content')
    .values({
      organization_id: item.organizationId,
      content_id: item.contentId,
      content_type: item.contentType,
      playback_id: item.playbackId,
      ...columns,
      description: columns.description ?? null,
      section: columns.section ?? null,
      author: columns.author ?? null,
      auto_scroll_interval_seconds: columns.auto_scroll_interval_seconds ?? null,
      external_id: columns.external_id ?? null,
      article_url: columns.article_url ?? null,
      ...(contentTraits[item.contentType].hasOwnStream
        ? { video_quality: columns.video_quality ?? 'basic' }
        : {
            video_quality: null,
            ...(item.isWaiting !== true && {
              upload_status: 'ready' as const,
              progress: 1,
              publish_status: sql<PublishStatus>`case
                when ${organizationSetting('auto_publish', sql`${item.organizationId}`)}
                then 'published' else 'unpublished' end`,
            }),
          }),
      custom_metadata: JSON.stringify(item.customMetadata),
      protected:
        columns.protected ?? organizationSetting('default_protected', sql`${item.organizationId}`),
    })
    .returning(itemColumns)
    .executeTakeFirstOrThrow();
}

/** An item; archived ones only with `withArchived`. */
export async function findItem(
  db: Db,
  organizationId: OrganizationId,
  contentId: ContentId,
  { withArchived = false } = {},
): Promise<ItemRow | null> {
  const row = await db
    .selectFrom('content')
    .select(itemColumns)
    .where('organization_id', '=', organizationId)
    .where('content_id', '=', contentId)
    .$if(!withArchived, (query) => query.where('archived_at', 'is', null))
    .executeTakeFirst();
  return row ?? null;
}

/** Sets the item's assets as readers see them; the rows are owned by the feature `assets`. */
export async function setAssets(
  tx: Tx,
  organizationId: string,
  contentId: string,
  assets: readonly StoredAsset[],
): Promise<ItemRow> {
  return tx
    .updateTable('content')
    .set({ assets: JSON.stringify(assets), ...touched() })
    .where('organization_id', '=', organizationId)
    .where('content_id', '=', contentId)
    .returning(itemColumns)
    .executeTakeFirstOrThrow();
}

/** Whether the item exists and is not archived. */
export async function isPresent(
  db: Db,
  organizationId: OrganizationId,
  contentId: string,
): Promise<boolean> {
  const { rows } = await sql`
    select from content
    where organization_id = ${organizationId} and content_id = ${contentId}::uuid
      and archived_at is null
  `.execute(db);
  return rows.length === 1;
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

/** The items with the given ids, in no particular order; unknown ids are omitted. */
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

export type ArchivedMedia = {
  organization_id: string;
  content_id: string;
  playback_id: string;
  source_key: string | null;
};

/** Items that can no longer be restored and still have files. */
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

/** The item with an external id, archived or not. */
export async function findItemByExternalId(
  db: Db,
  organizationId: OrganizationId,
  externalId: string,
): Promise<ItemRow | null> {
  const row = await db
    .selectFrom('content')
    .select(itemColumns)
    .where('organization_id', '=', organizationId)
    .where('external_id', '=', externalId)
    .executeTakeFirst();
  return row ?? null;
}

/**
 * Applies a change to one item locked by the transaction.
 * @throws {ApiError} with the code of the violated rule
 */
export async function changeItem(
  tx: Tx,
  organizationId: OrganizationId,
  contentId: string,
  change: ItemChange,
): Promise<ItemRow> {
  const set = {
    organizationId,
    contentIds: sql`array[${contentId}::uuid]`,
    gate: sql<boolean>`true`,
    withArchived: false,
  };
  const { rows } = await sql<ItemRow & { problem: ChangeProblem | null; message: string }>`
    with input as (
      select 0 as position, ${contentId}::text as id, ${contentId}::uuid as content_id,
        ${JSON.stringify(change)}::jsonb as change, null::text as problem
    ),
    ${lockAndJudge(set)},
    applied as (select * from judged where code is null),
    written as (${updateApplied(organizationId, [change], itemColumns)})
    select judged.code as problem, judged.message, written.*
    from judged left join written on written.content_id = judged.content_id
  `.execute(tx);
  const [row] = rows;
  if (row === undefined) throw new Error('The update of an item returned no row.');
  const { problem, message, ...item } = row;
  if (problem === null) return item;
  const [path = ''] = message.split(':');
  const details = message.startsWith(`${path}: `)
    ? [{ path, message: message.slice(path.length + 2) }]
    : undefined;
  const error = problem === 'CONTENT_NOT_READY' ? contentErrors.CONTENT_NOT_READY : problem;
  throw new ApiError(error, { message, ...(details !== undefined && { details }) });
}

/** The given IDs that belong to items of the organization, including archived items. */
export async function selectExisting(
  db: Db,
  organizationId: string,
  ids: readonly ContentId[],
): Promise<Map<ContentId, ContentType>> {
  const { rows } = await sql<{ content_id: ContentId; content_type: ContentType }>`
    select content_id, content_type from content
    where organization_id = ${organizationId} and content_id = any(${ids}::uuid[])
  `.execute(db);
  return new Map(rows.map((row) => [row.content_id, row.content_type]));
}

/**
 * The items of every organization, archived ones included, as a relation that other features may
 * join. They may rely only on these columns.
 */
export const contentItems = sql.raw(
  `(select organization_id, content_id, serial_number, content_type, title, tags, author, section,
      external_id, upload_status, error_code, error_message, duration_seconds, created_at,
      visibility, archived_at, playback_id,
      custom_metadata ->> 'language' as language
      from content)`,
);

/**
 * Analyzes the content table if it has no statistics. After a large import, the database takes a
 * minute to do so by itself, and never does without autovacuum. Without statistics, each chunk of a
 * bulk job scans all the organization's items: 1.5 s among 100,000.
 */
export async function ensureStatistics(db: Db): Promise<void> {
  const { rows } = await sql<{ isMissing: boolean }>`
    select reltuples <= 0 as "isMissing" from pg_class where oid = 'content'::regclass`.execute(db);
  if (rows[0]?.isMissing === true) await sql`analyze (skip_locked) content`.execute(db);
}
