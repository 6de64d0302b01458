import type { Db } from '../../platform/database/database.ts';
import type { Visibility } from '../../platform/database/tables.ts';

export type PlaybackRules = { visibility: Visibility; isProtected: boolean };

/** Who may play the files of a playback id; null when the item is gone or archived. */
export async function findPlaybackRules(db: Db, playbackId: string): Promise<PlaybackRules | null> {
  const row = await db
    .selectFrom('content')
    .select(['visibility', 'protected'])
    .where('playback_id', '=', playbackId)
    .where('archived_at', 'is', null)
    .executeTakeFirst();
  return row === undefined ? null : { visibility: row.visibility, isProtected: row.protected };
}
