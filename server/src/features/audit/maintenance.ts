import type { Db } from '../../platform/database/database.ts';
import { inBatches } from '../../platform/database/batches.ts';
import { deleteOldEntries } from './queries.ts';

const deletedAtOnce = 2_000;

/** Deletes entries older than `retentionMs` in batches. */
export async function pruneAudit(db: Db, retentionMs: number, signal: AbortSignal): Promise<void> {
  await inBatches(db, deletedAtOnce, signal, (tx) =>
    deleteOldEntries(tx, retentionMs, deletedAtOnce),
  );
}
