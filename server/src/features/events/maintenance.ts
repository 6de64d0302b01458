import { inTransaction, type Db } from '../../platform/database/database.ts';
import { forgetAnswer } from '../../platform/idempotency/queries.ts';
import type { EngagementLog } from './engagement-log.ts';
import { deleteOldRejections, deleteRejectionsOf } from './live-tail/rejection-queries.ts';

const rejectionsKeptMinutes = 10;

export async function expireRejections(db: Db): Promise<void> {
  await inTransaction(db, (tx) => deleteOldRejections(tx, rejectionsKeptMinutes));
}

/**
 * Removes references to a viewer outside the log: rejected events, and event keys that equal the
 * viewer's id.
 */
export async function forgetViewerBesideLog(
  { db, eventLog }: { readonly db: Db; readonly eventLog: Pick<EngagementLog, 'forgetId'> },
  { organizationId, userId }: { readonly organizationId: string; readonly userId: string },
): Promise<void> {
  await inTransaction(db, async (tx) => {
    await deleteRejectionsOf(tx, organizationId, userId);
    await eventLog.forgetId(tx, organizationId, userId);
    await forgetAnswer(tx, organizationId, userId);
  });
}
