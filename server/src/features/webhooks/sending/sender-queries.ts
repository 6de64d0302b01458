/** SQL by which senders track each other. */
import { sql } from 'kysely';
import type { Db, Tx } from '../../../platform/database/database.ts';

/** Renews the sender's heartbeat. Returns false if another sender has already declared it dead. */
export async function beat(db: Db, senderId: string): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('webhook_sender')
    .set({ beats: sql<number>`beats + 1` })
    .where('sender_id', '=', senderId)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

export async function registerSender(db: Db, senderId: string, name: string): Promise<void> {
  await db.insertInto('webhook_sender').values({ sender_id: senderId, name }).execute();
}

export async function removeSender(db: Db, senderId: string): Promise<void> {
  await db.deleteFrom('webhook_sender').where('sender_id', '=', senderId).execute();
}

export type SenderRow = { sender_id: string; beats: number };

export async function listSenders(db: Db): Promise<SenderRow[]> {
  return db.selectFrom('webhook_sender').select(['sender_id', 'beats']).execute();
}

/**
 * Removes senders whose heartbeat has not changed since it was read. Waits for any of their claims
 * that are being committed; after that, they can't claim.
 * @returns the number removed
 */
export async function removeDeadSenders(tx: Tx, dead: readonly SenderRow[]): Promise<number> {
  const { rows } = await sql`
    delete from webhook_sender sender
    using unnest(
      ${dead.map((sender) => sender.sender_id)}::uuid[],
      ${dead.map((sender) => sender.beats)}::bigint[]
    ) as seen (sender_id, beats)
    where sender.sender_id = seen.sender_id and sender.beats = seen.beats
    returning sender.sender_id`.execute(tx);
  return rows.length;
}

/**
 * Requeues deliveries claimed by removed senders. A separate statement after their removal, because
 * it must see their last claims. Reads all pending deliveries.
 * @returns the number of deliveries
 */
export async function takeBackDeliveries(tx: Tx): Promise<number> {
  const { rows } = await sql`
    update webhook_delivery delivery set sender_id = null
    where sender_id is not null
      and not exists (select from webhook_sender alive where alive.sender_id = delivery.sender_id)
    returning delivery_id`.execute(tx);
  return rows.length;
}

/**
 * Requeues deliveries that this sender has claimed without knowing it, because the response to a
 * claim can be lost after its commit. No claim by the same sender may be in progress.
 */
export async function releaseUnknownDeliveries(
  db: Db,
  senderId: string,
  knownDeliveryIds: readonly string[],
): Promise<number> {
  const { rows } = await sql`
    update webhook_delivery set sender_id = null
    where sender_id = ${senderId} and not (delivery_id = any(${knownDeliveryIds}::text[]))
    returning delivery_id`.execute(db);
  return rows.length;
}
