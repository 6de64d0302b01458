import type { Db } from '../../../platform/database/database.ts';
import type { StoredAsset, Visibility } from '../tables.ts';
import { liveFolderOf } from './live-items.ts';

export type PlaybackRules = {
  visibility: Visibility;
  isProtected: boolean;
  /** Only ready captions. */
  captions: StoredAsset[];
  /** Storage prefix from which the item plays, or null if it cannot be played yet. */
  mediaPrefix: string | null;
  /** Whether the files are still being added to. */
  isGrowing: boolean;
  /** The item's folders below `media/`; files in other folders are not served. */
  folders: ReadonlySet<string>;
};

/** Access rules for the files of a playback id, or null if the item is gone or archived. */
export async function findPlaybackRules(db: Db, playbackId: string): Promise<PlaybackRules | null> {
  const row = await db
    .selectFrom('content')
    .select(['visibility', 'protected', 'content_type', 'assets', 'media_prefix', 'upload_status'])
    .where('playback_id', '=', playbackId)
    .where('archived_at', 'is', null)
    .executeTakeFirst();
  if (row === undefined) return null;
  const isCaption = ({ kind, state }: StoredAsset) => kind === 'caption' && state === 'ready';
  return {
    visibility: row.visibility,
    isProtected: row.protected,
    captions: row.assets.filter(isCaption),
    mediaPrefix: row.media_prefix,
    isGrowing: row.upload_status === 'processing',
    folders: new Set(
      [
        row.media_prefix,
        row.content_type === 'live_stream' ? liveFolderOf(playbackId) : null,
        ...row.assets.map(({ folder }) => folder),
      ].filter((one) => one !== null),
    ),
  };
}
