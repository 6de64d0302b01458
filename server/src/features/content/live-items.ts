/** What a live stream does to its item: it plays while it is broadcast, then becomes a video. */
import { sql } from 'kysely';
import type { Tx } from '../../platform/database/database.ts';
import { organizationSetting } from '../organizations/organizations.ts';
import type { ItemName, Source } from './sources.ts';
import { touched } from './touched.ts';

/** The folder below `media/` that a stream plays from while it is live, and until it is processed. */
export function liveFolderOf(playbackId: string): string {
  return `${playbackId}/live`;
}

/** The size of the picture; null for sound alone. */
export type LiveMedia = { width: number | null; height: number | null };

/** `pending` → `ready`, and `published` where the organization publishes by itself. */
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

/** The files of a thumbnail are there, below the item's live folder. */
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
 * `ready` → `pending`, with the recording as its original bytes, for the same processing as of an
 * upload. What has been broadcast stays playable. Archived items as well, since they can be restored.
 *
 * @returns false when the item is gone
 */
export async function markRecorded(
  tx: Tx,
  { organizationId, contentId }: ItemName,
  source: Source,
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
