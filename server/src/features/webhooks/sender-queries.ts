/** The SQL by which senders know of each other. */
import { sql } from 'kysely';
import type { Db } from '../../platform/database/database.ts';

/** Says that the sender lives. False when it was declared dead meanwhile. */
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
 * Removes senders that have not beaten since they were seen with these numbers, and makes what they
 * were sending ready again; so too what is left of a sender that claimed after it had been removed.
 *
 * @returns how many deliveries were taken back
 */
export async function takeBackDeliveries(db: Db, dead: readonly SenderRow[]): Promise<number> {
  const { rows } = await sql`
    with removed as (
      delete from webhook_sender sender
      using unnest(
        ${dead.map((sender) => sender.sender_id)}::uuid[], ${dead.map((sender) => sender.beats)}::bigint[]
      ) as seen (sender_id, beats)
      where sender.sender_id = seen.sender_id and sender.beats = seen.beats
      returning sender.sender_id
    )
    update webhook_delivery delivery set state = 'ready', sender_id = null
    where state = 'sending'
      and (sender_id in (select sender_id from removed)
        or not exists (select from webhook_sender alive where alive.sender_id = delivery.sender_id))
    returning delivery_id`.execute(db);
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
    update webhook_delivery set state = 'ready', sender_id = null
    where state = 'sending' and sender_id = ${senderId}
      and not (delivery_id = any(${knownDeliveryIds}::text[]))
    returning delivery_id`.execute(db);
  return rows.length;
}
