/** The original files of items, and what background work reads and locks. */
import { sql } from 'kysely';
import type { Db, Tx } from '../../../platform/database/database.ts';
import type { OrganizationId } from '../../../platform/values/ids.ts';
import { organizationSetting } from '../../organizations/organizations.ts';
import { itemColumns, type ItemRow } from '../item.ts';
import { touched } from '../touched.ts';

export type ItemName = { organizationId: string; contentId: string };

export type OriginalFile = { key: string; mediaType: string };

/** Records where an item's original is stored. Returns null if the item is gone or archived. */
export async function setSource(
  tx: Tx,
  organizationId: OrganizationId,
  contentId: string,
  source: OriginalFile,
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
  /** Whether the organization allows playback during processing. */
  playsEarly: boolean;
  uploadStatus: ItemRow['upload_status'];
  playbackId: string;
  sourceKey: string | null;
  quality: 'basic' | 'plus';
  /** The folder that the item plays from, or null. */
  mediaPrefix: string | null;
};

/**
 * The media of an item, or null if it no longer exists. Archived items are processed too, so that
 * they are complete if restored later.
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

/** Locks an item that plays from this folder. Returns false if there is none. */
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

/**
 * Locks an item for background work, which continues while it is archived. Returns null if it no
 * longer exists.
 */
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

/** The given storage keys that no item references as its original. */
export async function findUnnamedSources(db: Db, keys: readonly string[]): Promise<string[]> {
  const { rows } = await sql<{ key: string }>`
    select candidate.key from unnest(${keys}::text[]) as candidate (key)
    where not exists (select from content where content.source_key = candidate.key)
  `.execute(db);
  return rows.map((row) => row.key);
}
