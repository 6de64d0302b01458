import { inTransaction, type Db } from '../../../platform/database/database.ts';
import { inBatches } from '../../../platform/database/batches.ts';
import {
  dropOldDays,
  prepareDayPartitions,
  wholeDays,
  type DailyTable,
} from '../../../platform/database/day-partitions.ts';
import {
  countArrivals,
  deleteForsaken,
  deleteForsakenCounts,
  foldCounts,
  listOldCountDays,
} from './retention-queries.ts';
import { deleteExpiredPortalLinks } from '../portal/link-queries.ts';
import { deleteEndedTurns } from '../sending/turn-queries.ts';

const events: DailyTable = { name: 'webhook_event', column: 'occurred_at' };
const deliveries: DailyTable = { name: 'webhook_delivery_log', column: 'created_at' };
const deletedAtOnce = 5_000;
const countedAtOnce = 10_000;

/** Creates the partitions for the coming week. Cheap if they already exist. */
export function prepareWebhookPartitions(db: Db): Promise<void> {
  return prepareDayPartitions(db, [events, deliveries]);
}

/** Folds arrivals into the counts, so that reading the statistics stays cheap. */
export async function countWebhookArrivals(db: Db, signal: AbortSignal): Promise<void> {
  await inBatches(db, countedAtOnce, signal, (tx) => countArrivals(tx, countedAtOnce));
}

/** Drops expired events and deliveries, and deliveries that can never be sent. */
export async function expireWebhookData(
  db: Db,
  retentionMs: number,
  signal: AbortSignal,
): Promise<void> {
  const retentionDays = wholeDays(retentionMs);
  await dropOldDays(db, deliveries, retentionDays, signal, (tx, { day }) => foldCounts(tx, day));
  await dropOldDays(db, events, retentionDays, signal);
  for (const day of await listOldCountDays(db, retentionDays)) {
    await inTransaction(db, (tx) => foldCounts(tx, day));
  }
  await inBatches(db, deletedAtOnce, signal, (tx) =>
    deleteForsaken(tx, retentionDays, deletedAtOnce),
  );
  await inTransaction(db, deleteForsakenCounts);
  await deleteEndedTurns(db);
  await deleteExpiredPortalLinks(db);
}
