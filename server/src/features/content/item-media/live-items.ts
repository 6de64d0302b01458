/** A live stream's item: it plays during the broadcast, then becomes a video. */
import { sql } from 'kysely';
import type { Tx } from '../../../platform/database/database.ts';
import { organizationSetting } from '../../organizations/organizations.ts';
import type { ItemName, OriginalFile } from './sources.ts';
import { touched } from '../touched.ts';

/** The folder below `media/` from which a stream plays until it is processed. */
export function liveFolderOf(playbackId: string): string {
  return `${playbackId}/live`;
}

/** Picture size, or null for audio only. */
export type LiveMedia = { width: number | null; height: number | null };

/** `pending` → `ready`, and `published` if the organization publishes automatically. */
export async function markLive(
  tx: Tx,
  { organizationId, contentId }: ItemName,
  { width, height }: LiveMedia,
): Promise<void> {
  await tx
    .updateTable('content')
    .set({
      upload_status: 'ready',
      progress: 1,
      media_prefix: sql<string>`playback_id || ${liveFolderOf('')}::text`,
      width,
      height,
      publish_status: sql<'published'>`case
        when ${organizationSetting('auto_publish', sql.ref('content.organization_id'))}
        then 'published' else publish_status end`,
      ...touched(),
    })
    .where('organization_id', '=', organizationId)
    .where('content_id', '=', contentId)
    .where('upload_status', '=', 'pending')
    .execute();
}

/** Records that the thumbnail files exist in the item's live folder. */
export async function markLiveThumbnail(
  tx: Tx,
  { organizationId, contentId }: ItemName,
  hash: string,
): Promise<void> {
  await tx
    .updateTable('content')
    .set({ has_thumbnail: true, thumbnail_hash: hash, ...touched() })
    .where('organization_id', '=', organizationId)
    .where('content_id', '=', contentId)
    .where('media_prefix', '=', sql<string>`playback_id || ${liveFolderOf('')}::text`)
    .execute();
}

/**
 * `ready` → `pending`, with the recording as its original, to be processed like an upload. The
 * broadcast stays playable. Includes archived items, since they can be restored.
 * @returns false if the item no longer exists
 */
export async function markRecorded(
  tx: Tx,
  { organizationId, contentId }: ItemName,
  source: OriginalFile,
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('content')
    .set({
      upload_status: 'pending',
      progress: 0,
      source_key: source.key,
      source_format: source.mediaType,
      ...touched(),
    })
    .where('organization_id', '=', organizationId)
    .where('content_id', '=', contentId)
    .where('upload_status', '=', 'ready')
    .executeTakeFirst();
  return numUpdatedRows === 1n;
}
