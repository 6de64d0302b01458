/** The SQL by which senders know of each other. */
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
 * Removes senders that have not beaten since they were seen with these numbers. Waits for a claim of
 * theirs that is just being committed; after that they can make none.
 *
 * @returns how many were removed
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
 * Makes ready again what senders that are gone were sending. A statement of its own behind their
 * removal, because it must see what they claimed last. It reads all pending deliveries.
 *
 * @returns how many deliveries there were
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
 * Makes ready again what this sender has claimed without knowing it: the answer to a claim can get
 * lost after its commit. No claim of the same sender may be under way.
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
