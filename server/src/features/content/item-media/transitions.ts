/**
 * The states of an item and what changes them.
 *
 *   uploadStatus: pending → processing → ready | error; error → pending by a retry. Set by
 *     processing; an expired upload or a failed import moves pending → error. A ready item whose
 *     remaining renditions failed stays ready, with an errorReason, and can be retried.
 *   publishStatus: unpublished → published by a change, or when the item becomes ready and its
 *     organization publishes automatically; back by a change, a failure or a restore.
 *   A `processing` item may already play, from a folder that grows (`markPlayable`).
 *   archived: see `archive.ts`.
 *
 * Changes that clients make to metadata and `publishStatus` are in `change-parts.ts`.
 */
import { sql } from 'kysely';
import type { Tx } from '../../../platform/database/database.ts';
import type { MediaInfo, SourceTrack, SourceWarning } from '../../media/media.ts';
import { organizationSetting } from '../../organizations/organizations.ts';
import { itemColumns, type ItemRow } from '../item.ts';
import { withLanguage } from './language.ts';
import type { ItemName } from './sources.ts';
import { touched } from '../touched.ts';

/** `pending` → `processing`; an item in any other state is unchanged. */
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

/**
 * Lets a `processing` item play from this growing folder if its organization allows it. A recorded
 * stream plays from its broadcast instead.
 * @returns whether it plays from the folder
 */
export async function markPlayable(
  tx: Tx,
  organizationId: string,
  contentId: string,
  mediaPrefix: string,
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('content')
    .set({ media_prefix: mediaPrefix, ...touched() })
    .where('organization_id', '=', organizationId)
    .where('content_id', '=', contentId)
    .where('content_type', '=', 'video')
    .where('upload_status', '=', 'processing')
    .where(organizationSetting('early_playback', sql.ref('content.organization_id')))
    .executeTakeFirst();
  return numUpdatedRows === 1n;
}

/** Progress is not a change to the item: neither `updatedAt` nor the ETag changes. */
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
  /** Null without a thumbnail. */
  thumbnailHash: string | null;
  info: MediaInfo;
  /** BCP 47; `und` means no speech, null means unknown. */
  language: string | null;
  report: { sourceTracks: readonly SourceTrack[]; warnings: readonly SourceWarning[] };
};

const publishedByItself = sql<'published'>`case
  when ${organizationSetting('auto_publish', sql.ref('content.organization_id'))}
  then 'published' else publish_status end`;

/** `processing` → `ready`, and `published` if the organization publishes automatically. */
export async function markReady(
  tx: Tx,
  organizationId: string,
  contentId: string,
  { mediaPrefix, thumbnailHash, info, language, report }: ReadyMedia,
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
      source_tracks: JSON.stringify(report.sourceTracks),
      source_warnings: JSON.stringify(report.warnings),
      custom_metadata: withLanguage(language),
      publish_status: publishedByItself,
      ...touched(),
    })
    .where('organization_id', '=', organizationId)
    .where('content_id', '=', contentId)
    .where('upload_status', 'in', ['pending', 'processing'])
    .returning(itemColumns)
    .executeTakeFirst();
  return row ?? null;
}

/** `pending` → `ready` for a carousel whose images have arrived. Otherwise returns null. */
export async function markComplete(
  tx: Tx,
  organizationId: string,
  contentId: string,
): Promise<ItemRow | null> {
  const row = await tx
    .updateTable('content')
    .set({
      upload_status: 'ready',
      progress: 1,
      publish_status: publishedByItself,
      ...touched(),
    })
    .where('organization_id', '=', organizationId)
    .where('content_id', '=', contentId)
    .where('upload_status', '=', 'pending')
    .returning(itemColumns)
    .executeTakeFirst();
  return row ?? null;
}

/** `pending` or `processing` → `error`. Returns null in any other state. */
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
      // Files played during processing are dropped; a broadcast is kept.
      media_prefix: sql`case when content_type = 'video' then null else media_prefix end`,
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

/** Records on a `ready` item why renditions are missing. Other states are unchanged. */
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

/** `error` → `pending`, to process the same bytes again. A `ready` item stays playable. */
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

export type FailedItem = ItemName & { title: string };

/** `pending` → `error` for items whose bytes have not arrived. Returns those that failed. */
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
