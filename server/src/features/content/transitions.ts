/**
 * The states of an item and who moves them.
 *
 *   uploadStatus: pending → processing → ready | error; error → pending by a retry. Processing moves
 *     it; an upload that expires or an import that fails moves pending → error. A ready item whose
 *     further renditions could not be made stays ready, with an errorReason, and can be retried.
 *   publishStatus: unpublished → published when the item becomes ready and its organization
 *     publishes by itself, or by a change; back by a change, a failure or a restore.
 *   archived: set by `archiveItem`, cleared by `restoreItem` within its time.
 *
 * Changes of metadata and of `publishStatus` by clients are in `change-parts.ts`.
 */
import { sql, type RawBuilder } from 'kysely';
import type { Db, Tx } from '../../platform/database/database.ts';
import type { ContentId, OrganizationId } from '../../platform/ids.ts';
import type { MediaInfo } from '../media/media.ts';
import { organizationSetting } from '../organizations/organizations.ts';
import { itemColumns, type ItemRow } from './item.ts';

/** Every change that a client can see increments the revision and moves `updatedAt`. */
export function touched() {
  return {
    revision: sql<number>`revision + 1`,
    updated_at: sql<Date>`greatest(clock_timestamp(), updated_at + interval '1 microsecond')`,
  };
}

export type MediaSource = {
  uploadStatus: ItemRow['upload_status'];
  playbackId: string;
  sourceKey: string | null;
  quality: 'basic' | 'plus';
  /** The folder of the attempt that made the item ready; null before that. */
  mediaPrefix: string | null;
};

/**
 * The media of an item; null when the item is gone. Archived items are processed as well, so that
 * one that is restored later was not left half-way.
 */
export async function findMediaSource(
  db: Db,
  organizationId: string,
  contentId: string,
): Promise<MediaSource | null> {
  const row = await db
    .selectFrom('content')
    .select(['upload_status', 'playback_id', 'source_key', 'video_quality', 'media_prefix'])
    .where('organization_id', '=', organizationId)
    .where('content_id', '=', contentId)
    .executeTakeFirst();
  if (row === undefined) return null;
  return {
    uploadStatus: row.upload_status,
    playbackId: row.playback_id,
    sourceKey: row.source_key,
    quality: row.video_quality ?? 'basic',
    mediaPrefix: row.media_prefix,
  };
}

/** Locks an item that plays from this folder; false when there is none. */
export async function lockMedia(
  tx: Tx,
  { organizationId, contentId }: ItemName,
  mediaPrefix: string,
): Promise<boolean> {
  const row = await tx
    .selectFrom('content')
    .select('content_id')
    .where('organization_id', '=', organizationId)
    .where('content_id', '=', contentId)
    .where('media_prefix', '=', mediaPrefix)
    .forUpdate()
    .executeTakeFirst();
  return row !== undefined;
}

/** `pending` → `processing`; an item in any other state is left as it is. */
export async function markProcessing(
  tx: Tx,
  organizationId: string,
  contentId: string,
): Promise<void> {
  await tx
    .updateTable('content')
    .set({ upload_status: 'processing', progress: 0, ...touched() })
    .where('organization_id', '=', organizationId)
    .where('content_id', '=', contentId)
    .where('upload_status', '=', 'pending')
    .execute();
}

/** Progress does not count as a change of the item: it moves neither `updatedAt` nor the ETag. */
export async function recordProgress(
  tx: Tx,
  organizationId: string,
  contentId: string,
  fraction: number,
): Promise<void> {
  await tx
    .updateTable('content')
    .set({ progress: fraction })
    .where('organization_id', '=', organizationId)
    .where('content_id', '=', contentId)
    .where('upload_status', '=', 'processing')
    .execute();
}

/** Records the received fraction of a `pending` item's bytes as its progress. */
export async function recordTransfer(
  tx: Tx,
  organizationId: string,
  contentId: string,
  fraction: number,
): Promise<void> {
  await tx
    .updateTable('content')
    .set({ progress: fraction })
    .where('organization_id', '=', organizationId)
    .where('content_id', '=', contentId)
    .where('upload_status', '=', 'pending')
    .where('source_key', 'is', null)
    .execute();
}

export type ReadyMedia = {
  mediaPrefix: string;
  /** Null where there is no thumbnail. */
  thumbnailHash: string | null;
  info: MediaInfo;
  /** BCP 47, `und` for no speech; null where it is not known. */
  language: string | null;
};

/** `processing` → `ready`, and `published` where the organization publishes by itself. */
export async function markReady(
  tx: Tx,
  organizationId: string,
  contentId: string,
  { mediaPrefix, thumbnailHash, info, language }: ReadyMedia,
): Promise<ItemRow | null> {
  const row = await tx
    .updateTable('content')
    .set({
      upload_status: 'ready',
      progress: 1,
      error_code: null,
      error_message: null,
      media_prefix: mediaPrefix,
      has_thumbnail: thumbnailHash !== null,
      thumbnail_hash: thumbnailHash,
      duration_seconds: info.durationSeconds,
      width: info.width,
      height: info.height,
      aspect_ratio: info.aspectRatio,
      max_frame_rate: info.maxFrameRate,
      resolution_tier: info.resolutionTier,
      custom_metadata: withLanguage(language),
      publish_status: sql<'published'>`case
        when ${organizationSetting('auto_publish', sql.ref('content.organization_id'))}
        then 'published' else publish_status end`,
      ...touched(),
    })
    .where('organization_id', '=', organizationId)
    .where('content_id', '=', contentId)
    .where('upload_status', 'in', ['pending', 'processing'])
    .returning(itemColumns)
    .executeTakeFirst();
  return row ?? null;
}

/** Custom metadata with the key of the service: see `mergeCustomMetadata`. */
function withLanguage(language: string | null): RawBuilder<string> {
  if (language === null) return sql`custom_metadata - 'language'`;
  return sql`custom_metadata || jsonb_build_object('language', ${language}::text)`;
}

/** Locks an item for background work, which goes on while it is archived; null when it is gone. */
export async function lockEvenArchived(
  tx: Tx,
  organizationId: string,
  contentId: string,
): Promise<ItemRow | null> {
  const row = await tx
    .selectFrom('content')
    .select(itemColumns)
    .where('organization_id', '=', organizationId)
    .where('content_id', '=', contentId)
    .forUpdate()
    .executeTakeFirst();
  return row ?? null;
}

/** Records the language that is spoken in an item; null when the item is gone. */
export async function setLanguage(
  tx: Tx,
  organizationId: string,
  contentId: string,
  language: string,
): Promise<ItemRow | null> {
  const row = await tx
    .updateTable('content')
    .set({ custom_metadata: withLanguage(language), ...touched() })
    .where('organization_id', '=', organizationId)
    .where('content_id', '=', contentId)
    .returning(itemColumns)
    .executeTakeFirst();
  return row ?? null;
}

/** `pending` or `processing` → `error`. Null when the item is in another state. */
export async function markFailed(
  tx: Tx,
  organizationId: string,
  contentId: string,
  reason: { code: string; message: string },
): Promise<ItemRow | null> {
  const row = await tx
    .updateTable('content')
    .set({
      upload_status: 'error',
      publish_status: 'unpublished',
      error_code: reason.code,
      error_message: reason.message,
      ...touched(),
    })
    .where('organization_id', '=', organizationId)
    .where('content_id', '=', contentId)
    .where('upload_status', 'in', ['pending', 'processing'])
    .returning(itemColumns)
    .executeTakeFirst();
  return row ?? null;
}

/** Says on a `ready` item why its further renditions are missing. Items in other states stay. */
export async function markIncomplete(
  tx: Tx,
  organizationId: string,
  contentId: string,
  reason: { code: string; message: string },
): Promise<void> {
  await tx
    .updateTable('content')
    .set({ error_code: reason.code, error_message: reason.message, ...touched() })
    .where('organization_id', '=', organizationId)
    .where('content_id', '=', contentId)
    .where('upload_status', '=', 'ready')
    .execute();
}

/** `error` → `pending`, for another run over the same bytes. A `ready` item stays playable. */
export async function markPendingAgain(
  tx: Tx,
  organizationId: string,
  contentId: string,
): Promise<ItemRow> {
  return tx
    .updateTable('content')
    .set({
      upload_status: sql`case when upload_status = 'ready' then 'ready' else 'pending' end`,
      progress: sql`case when upload_status = 'ready' then 1 else 0 end`,
      error_code: null,
      error_message: null,
      ...touched(),
    })
    .where('organization_id', '=', organizationId)
    .where('content_id', '=', contentId)
    .returning(itemColumns)
    .executeTakeFirstOrThrow();
}

export type Source = { key: string; mediaType: string };

/** Records where the original bytes of an item lie; null when the item is gone or archived. */
export async function setSource(
  tx: Tx,
  organizationId: OrganizationId,
  contentId: string,
  source: Source,
): Promise<ItemRow | null> {
  const row = await tx
    .updateTable('content')
    .set({ source_key: source.key, source_format: source.mediaType, ...touched() })
    .where('organization_id', '=', organizationId)
    .where('content_id', '=', contentId)
    .where('archived_at', 'is', null)
    .returning(itemColumns)
    .executeTakeFirst();
  return row ?? null;
}

export type ItemName = { organizationId: string; contentId: string };
export type FailedItem = ItemName & { title: string };

/** `pending` → `error` for items whose bytes have not arrived. @returns those that failed by it */
export async function failWithoutSource(
  tx: Tx,
  items: readonly ItemName[],
  reason: { code: string; message: string },
): Promise<FailedItem[]> {
  if (items.length === 0) return [];
  const { rows } = await sql<FailedItem>`
    update content set
      upload_status = 'error', error_code = ${reason.code}, error_message = ${reason.message},
      revision = revision + 1,
      updated_at = greatest(clock_timestamp(), updated_at + interval '1 microsecond')
    from unnest(
      ${items.map((item) => item.organizationId)}::text[],
      ${items.map((item) => item.contentId)}::uuid[]
    ) as failed (organization_id, content_id)
    where content.organization_id = failed.organization_id
      and content.content_id = failed.content_id
      and content.upload_status = 'pending' and content.source_key is null
    returning content.organization_id as "organizationId", content.content_id as "contentId",
      content.title
  `.execute(tx);
  return rows;
}

/** Which of the given storage keys no item names as its original. */
export async function findUnnamedSources(db: Db, keys: readonly string[]): Promise<string[]> {
  const { rows } = await sql<{ key: string }>`
    select candidate.key from unnest(${keys}::text[]) as candidate (key)
    where not exists (select from content where content.source_key = candidate.key)
  `.execute(db);
  return rows.map((row) => row.key);
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

/**
 * Brings back an item that was archived within the last `retentionMs`. It comes back unpublished,
 * so that nobody sees it before somebody has looked at it.
 */
export async function restoreItem(
  tx: Tx,
  organizationId: OrganizationId,
  contentId: ContentId,
  retentionMs: number,
): Promise<ItemRow | null> {
  const row = await tx
    .updateTable('content')
    .set({ archived_at: null, publish_status: 'unpublished', ...touched() })
    .where('organization_id', '=', organizationId)
    .where('content_id', '=', contentId)
    .where('archived_at', '>', archivedLimit(retentionMs))
    .returning(itemColumns)
    .executeTakeFirst();
  return row ?? null;
}

/** Items archived before this moment can no longer be restored. */
export function archivedLimit(retentionMs: number) {
  return sql<Date>`now() - ${retentionMs} * interval '1 millisecond'`;
}
