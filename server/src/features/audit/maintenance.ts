import { inTransaction, type Db } from '../../platform/database/database.ts';
import { deleteOldEntries } from './queries.ts';

const deletedAtOnce = 2_000;

/** Drops entries older than `retentionMs`, some at a time. */
export async function pruneAudit(db: Db, retentionMs: number, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const deleted = await inTransaction(db, (tx) =>
      deleteOldEntries(tx, retentionMs, deletedAtOnce),
    );
    if (deleted < deletedAtOnce) return;
  }
}
