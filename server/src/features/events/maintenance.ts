import { inTransaction, type Db } from '../../platform/database/database.ts';
import { forgetAnswer } from '../../platform/idempotency/queries.ts';
import {
  dropOldDays,
  prepareDayPartitions,
  wholeDays,
  type DailyTable,
} from '../../platform/database/day-partitions.ts';
import { forgetEventKey, rotateKeys } from './ledger/ledger-queries.ts';
import { deleteOldRejections, deleteRejectionsOf } from './live-tail/rejection-queries.ts';

const log: DailyTable = { name: 'event_block', column: 'received_at' };
/** An event sent again within this time counts once. */
const leastKeyAgeHours = 72;
const rejectionsKeptMinutes = 10;

/** Makes the partitions that the coming week needs. Cheap when they are there. */
export function prepareEventPartitions(db: Db): Promise<void> {
  return prepareDayPartitions(db, [log]);
}

/** Forgets keys, rejected events and days of the log whose time is over. */
export async function expireEvents(
  db: Db,
  retentionMs: number,
  signal: AbortSignal,
): Promise<void> {
  await inTransaction(db, (tx) => rotateKeys(tx, leastKeyAgeHours));
  await dropOldDays(db, log, wholeDays(retentionMs), signal);
}

export async function expireRejections(db: Db): Promise<void> {
  await inTransaction(db, (tx) => deleteOldRejections(tx, rejectionsKeptMinutes));
}

/** Removes what names a viewer beside the log: rejected events, and keys that are the id. */
export async function forgetViewerBesideLog(
  db: Db,
  { organizationId, userId }: { readonly organizationId: string; readonly userId: string },
): Promise<void> {
  await inTransaction(db, async (tx) => {
    await deleteRejectionsOf(tx, organizationId, userId);
    await forgetEventKey(tx, organizationId, userId);
    await forgetAnswer(tx, organizationId, userId);
  });
}
