/**
 * Purges: removes what is left of content items after they were deleted permanently.
 *
 *   (row of `content` deleted) → pending → complete → (forgotten after 30 days)
 *
 * The row goes in the transaction that deletes; a trigger leaves one of `deleted_content`, so a
 * deletion without a purge cannot be. The rest goes here, in the background, well within 24 hours.
 *
 * 1. Removing is idempotent: a kill leaves items pending, and the next run removes them again.
 * 2. An item waits while a job may still write files for it, so that none appear after its purge.
 * 3. The event log goes before what was made of it, so that nothing is made of it once more. An item
 *    waits until every process refuses events of it; those that came until then go from the log last.
 * 4. An item that fails is logged and left for the next run; it holds up no other.
 */
import type { Logger } from 'pino';
import { inTransaction, type Db } from '../../platform/database/database.ts';
import { inBatches } from '../../platform/database/batches.ts';
import type { FileWriter, PurgeItems } from '../../platform/feature.ts';
import type { Storage } from '../../platform/storage/storage.ts';
import {
  findPending,
  forgetPurged,
  markPurged,
  type DeletedItem,
  type PendingPosition,
} from '../content/content.ts';

/** The part of the storage that removing files needs. */
export type FileRemover = Pick<Storage, 'remove' | 'removePrefix'>;

export type PurgeParts = {
  db: Db;
  storage: FileRemover;
  /** The jobs that write files of items. */
  writers: () => readonly FileWriter[];
  /** How long ago items must have been deleted. */
  minAgeMs: number;
  /** In their order. */
  steps: readonly PurgeItems[];
  log: Logger;
};

/**
 * A large batch, because the event log and the viewers of an organization are read once per batch.
 */
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
        'the files of a deleted item could not be removed, trying again later',
      );
    }
  }
  if (removed.length === 0) return;
  for (const step of steps) await step(removed, signal);
  await inTransaction(db, (tx) => markPurged(tx, removed));
}

/**
 * Removes the renditions, thumbnails and captions, and the original from both places where it may
 * be.
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
