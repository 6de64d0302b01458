import { inTransaction, type Db } from '../../platform/database/database.ts';
import type { Storage } from '../../platform/storage/storage.ts';
import { findExpiredArchived, forgetMedia } from './queries.ts';

const itemsAtOnce = 50;

/**
 * Removes the files of archived items that can no longer be restored. The row stays, so that
 * statistics keep their titles; a crash in between leaves work for the next call.
 */
export async function cleanUpArchived(
  db: Db,
  storage: Storage,
  retentionMs: number,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    const items = await findExpiredArchived(db, retentionMs, itemsAtOnce);
    for (const item of items) {
      signal.throwIfAborted();
      await storage.removePrefix(`media/${item.playback_id}`, signal);
      if (item.source_key !== null) await storage.remove(item.source_key, signal);
      await inTransaction(db, (tx) => forgetMedia(tx, item));
    }
    if (items.length < itemsAtOnce) return;
  }
}
