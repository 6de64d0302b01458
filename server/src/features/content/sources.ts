/** The original bytes of items, and what background work on them reads and locks. */
import { sql } from 'kysely';
import type { Db, Tx } from '../../platform/database/database.ts';
import type { OrganizationId } from '../../platform/ids.ts';
import { organizationSetting } from '../organizations/organizations.ts';
import { itemColumns, type ItemRow } from './item.ts';
import { touched } from './touched.ts';

export type ItemName = { organizationId: string; contentId: string };

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

export type MediaSource = {
  isVideo: boolean;
  /** Whether its organization lets it play while it is processed. */
  playsEarly: boolean;
  uploadStatus: ItemRow['upload_status'];
  playbackId: string;
  sourceKey: string | null;
  quality: 'basic' | 'plus';
  /** The folder that the item plays from; null before it does. */
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
    .select('content_type')
    .select(
      organizationSetting('early_playback', sql.ref('content.organization_id')).as('plays_early'),
    )
    .where('organization_id', '=', organizationId)
    .where('content_id', '=', contentId)
    .executeTakeFirst();
  if (row === undefined) return null;
  return {
    isVideo: row.content_type === 'video',
    playsEarly: row.plays_early,
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

/** Locks an item for background work, which continues while it is archived; null when it is gone. */
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

/** Which of the given storage keys no item names as its original. */
export async function findUnnamedSources(db: Db, keys: readonly string[]): Promise<string[]> {
  const { rows } = await sql<{ key: string }>`
    select candidate.key from unnest(${keys}::text[]) as candidate (key)
    where not exists (select from content where content.source_key = candidate.key)
  `.execute(db);
  return rows.map((row) => row.key);
}
