/**
 * Partitions are made a week ahead and dropped when their time is over: the age of the system costs
 * nothing. What has no partition, because nothing ran for a week, goes to a default partition and
 * moves over when its day is made.
 */
import { inTransaction, type Db } from '../../platform/database/database.ts';
import {
  countArrivals,
  createPartitions,
  deleteForsaken,
  deleteForsakenCounts,
  deleteStrays,
  dropPartition,
  foldCounts,
  listExpiredPartitions,
  listOldCountDays,
  waitBriefly,
  type DailyTable,
} from './retention-queries.ts';

const events: DailyTable = { name: 'webhook_event', column: 'occurred_at' };
const deliveries: DailyTable = { name: 'webhook_delivery_log', column: 'created_at' };
const daysAhead = 7;
const dayMs = 86_400_000;
const deletedAtOnce = 5_000;
const countedAtOnce = 10_000;

/** Makes the partitions that the coming week needs. Cheap when they are there. */
export async function prepareWebhookPartitions(db: Db): Promise<void> {
  for (const table of [events, deliveries]) {
    await inTransaction(db, async (tx) => {
      await waitBriefly(tx);
      await createPartitions(tx, table, daysAhead);
    });
  }
}

/** Brings the counts up to date, so that reading the statistics stays cheap. */
export async function countWebhookArrivals(db: Db, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const moved = await inTransaction(db, (tx) => countArrivals(tx, countedAtOnce));
    if (moved < countedAtOnce) return;
  }
}

/** Drops events and deliveries whose time is over, and what no webhook will ever get. */
export async function expireWebhookData(
  db: Db,
  retentionMs: number,
  signal: AbortSignal,
): Promise<void> {
  const retentionDays = Math.max(1, Math.ceil(retentionMs / dayMs));
  for (const table of [deliveries, events]) {
    for (const partition of await listExpiredPartitions(db, table, retentionDays)) {
      signal.throwIfAborted();
      await inTransaction(db, async (tx) => {
        await waitBriefly(tx);
        await dropPartition(tx, partition);
        if (table === deliveries) await foldCounts(tx, partition.day);
      });
    }
    await inTransaction(db, (tx) => deleteStrays(tx, table, retentionDays));
  }
  for (const day of await listOldCountDays(db, retentionDays)) {
    await inTransaction(db, (tx) => foldCounts(tx, day));
  }
  while (!signal.aborted) {
    const deleted = await inTransaction(db, (tx) =>
      deleteForsaken(tx, retentionDays, deletedAtOnce),
    );
    if (deleted < deletedAtOnce) break;
  }
  await inTransaction(db, deleteForsakenCounts);
}
