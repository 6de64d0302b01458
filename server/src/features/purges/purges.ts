/**
 * Purges: removes what is left of permanently deleted content items.
 *
 *   (row of `content` deleted) → pending → complete → (forgotten after 30 days)
 *
 * The deleting transaction removes the row; a trigger adds one to `deleted_content`, so no deletion
 * goes without a purge. The rest is removed here in the background, well within 24 hours.
 *
 * 1. Removal is idempotent: a crash leaves items pending, and the next run removes them again.
 * 2. An item waits while a job may still write files for it, so that none appear after its purge.
 * 3. The event log is purged before the data derived from it, so that nothing is derived again. An
 *    item waits until every process rejects its events; those that arrived until then are removed
 *    from the log last.
 * 4. An item that fails is logged and left for the next run; it delays no other.
 */
import type { Logger } from 'pino';
import { inTransaction, type Db } from '../../platform/database/database.ts';
import { inBatches } from '../../platform/database/batches.ts';
import type { FileWriter, PurgeItems } from '../../platform/feature/feature.ts';
import type { Storage } from '../../platform/storage/storage.ts';
import {
  findPending,
  forgetPurged,
  markPurged,
  type DeletedItem,
  type PendingPosition,
} from '../content/item-sets/item-sets.ts';

/** The part of the storage interface needed to remove files. */
export type FileRemover = Pick<Storage, 'remove' | 'removePrefix'>;

export type PurgeParts = {
  db: Db;
  storage: FileRemover;
  /** The jobs that write files of items. */
  writers: () => readonly FileWriter[];
  /** Minimum time since the deletion. */
  minAgeMs: number;
  /** Run in this order. */
  steps: readonly PurgeItems[];
  log: Logger;
};

/** A large batch, because the event log and an organization's viewers are read once per batch. */
const itemsAtOnce = 5_000;
const forgottenAtOnce = 100;

/** Purges everything that is pending. */
export async function purgeDeleted(parts: PurgeParts, signal: AbortSignal): Promise<void> {
  let after: PendingPosition | null = null;
  while (!signal.aborted) {
    const query = { writers: parts.writers(), minAgeMs: parts.minAgeMs, after };
    const items = await findPending(parts.db, query, itemsAtOnce);
    await purgeBatch(parts, items, signal);
    const last = items.at(-1);
    if (last === undefined || items.length < itemsAtOnce) break;
    after = last;
  }
  await inBatches(parts.db, forgottenAtOnce, signal, (tx) => forgetPurged(tx, forgottenAtOnce));
}

async function purgeBatch(
  { db, storage, steps, log }: PurgeParts,
  items: readonly DeletedItem[],
  signal: AbortSignal,
): Promise<void> {
  const removed: DeletedItem[] = [];
  for (const item of items) {
    signal.throwIfAborted();
    try {
      await removeFiles(storage, item, signal);
      removed.push(item);
    } catch (error) {
      if (signal.aborted) throw error;
      log.warn(
        { err: error, contentId: item.contentId },
        'could not remove the files of a deleted item; will retry later',
      );
    }
  }
  if (removed.length === 0) return;
  for (const step of steps) await step(removed, signal);
  await inTransaction(db, (tx) => markPurged(tx, removed));
}

/**
 * Removes the renditions, thumbnails and captions, and the original from both of its possible
 * places.
 */
async function removeFiles(
  storage: FileRemover,
  { contentId, playbackId, sourceKey }: DeletedItem,
  signal: AbortSignal,
): Promise<void> {
  if (playbackId !== null) await storage.removePrefix(`media/${playbackId}`, signal);
  if (sourceKey !== null) await storage.remove(sourceKey, signal);
  await storage.removePrefix(`sources/${contentId}`, signal);
}
