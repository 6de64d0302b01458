import { sql } from 'kysely';
import type { Db, Tx } from '../../platform/database/database.ts';
import { itemColumns, touched, type ItemRow } from '../content/content.ts';
import type { MediaInfo, PrepareResult } from '../media/media.ts';

export type MediaSource = {
  uploadStatus: ItemRow['upload_status'];
  playbackId: string;
  sourceKey: string | null;
  /** The folder of the attempt that made the item ready; null before that. */
  mediaPrefix: string | null;
};

/**
 * What processing needs to know of an item; null when it is gone. Archived items are processed as
 * well, so that one that is restored later was not left half way.
 */
export async function findSource(
  db: Db,
  organizationId: string,
  contentId: string,
): Promise<MediaSource | null> {
  const row = await db
    .selectFrom('content')
    .select(['upload_status', 'playback_id', 'source_key', 'media_prefix'])
    .where('organization_id', '=', organizationId)
    .where('content_id', '=', contentId)
    .executeTakeFirst();
  if (row === undefined) return null;
  return {
    uploadStatus: row.upload_status,
    playbackId: row.playback_id,
    sourceKey: row.source_key,
    mediaPrefix: row.media_prefix,
  };
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

/** Progress is no change of the item: it moves neither `updatedAt` nor the ETag. */
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

export type ReadyMedia = { mediaPrefix: string; hasThumbnail: boolean; info: MediaInfo };

/** `processing` → `ready`, and `published` where the organization publishes by itself. */
export async function markReady(
  tx: Tx,
  organizationId: string,
  contentId: string,
  { mediaPrefix, hasThumbnail, info }: ReadyMedia,
): Promise<ItemRow | null> {
  const row = await tx
    .updateTable('content')
    .set({
      upload_status: 'ready',
      progress: 1,
      error_code: null,
      error_message: null,
      media_prefix: mediaPrefix,
      has_thumbnail: hasThumbnail,
      duration_seconds: info.durationSeconds,
      width: info.width,
      height: info.height,
      aspect_ratio: info.aspectRatio,
      max_frame_rate: info.maxFrameRate,
      resolution_tier: info.resolutionTier,
      publish_status: sql<'published'>`case
        when (select auto_publish from organization
              where organization.organization_id = content.organization_id)
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

/** `error` → `pending`, for another run over the same bytes. */
export async function markPendingAgain(
  tx: Tx,
  organizationId: string,
  contentId: string,
): Promise<ItemRow> {
  return tx
    .updateTable('content')
    .set({
      upload_status: 'pending',
      progress: 0,
      error_code: null,
      error_message: null,
      ...touched(),
    })
    .where('organization_id', '=', organizationId)
    .where('content_id', '=', contentId)
    .returning(itemColumns)
    .executeTakeFirstOrThrow();
}

export type Preparation = { mediaPrefix: string; prepared: PrepareResult };

/** Remembers which renditions are missing after the first one was published. */
export async function storePreparation(
  tx: Tx,
  organizationId: string,
  contentId: string,
  { mediaPrefix, prepared }: Preparation,
): Promise<void> {
  const row = { media_prefix: mediaPrefix, prepared: JSON.stringify(prepared) };
  await tx
    .insertInto('media_preparation')
    .values({ organization_id: organizationId, content_id: contentId, ...row })
    .onConflict((conflict) => conflict.columns(['organization_id', 'content_id']).doUpdateSet(row))
    .execute();
}

export async function findPreparation(
  db: Db,
  organizationId: string,
  contentId: string,
): Promise<Preparation | null> {
  const row = await db
    .selectFrom('media_preparation')
    .select(['media_prefix', 'prepared'])
    .where('organization_id', '=', organizationId)
    .where('content_id', '=', contentId)
    .executeTakeFirst();
  if (row === undefined) return null;
  return { mediaPrefix: row.media_prefix, prepared: row.prepared as PrepareResult };
}

export async function removePreparation(
  tx: Tx,
  organizationId: string,
  contentId: string,
): Promise<void> {
  await tx
    .deleteFrom('media_preparation')
    .where('organization_id', '=', organizationId)
    .where('content_id', '=', contentId)
    .execute();
}
